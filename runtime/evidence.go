package runtime

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/durable"
)

// evidenceLines is how much of a session's history is kept after its process has ended.
const evidenceLines = 5000

// evidenceBytes bounds each of the texts of evidence: rows can be wide, and each cell of them coloured in a way of its
// own, which makes hundreds of megabytes of the longest history.
const evidenceBytes = 8 << 20

// evidenceLimit bounds what is read back, whatever a damaged file claims to hold.
const evidenceLimit = 64 << 20

// evidence is the last that was seen of a session's terminal: text with SGR sequences, LF line ends.
type evidence struct {
	At     time.Time `json:"at"`
	Run    int       `json:"run"`
	All    []byte    `json:"-"` // the tail of the history, and the screen
	Screen []byte    `json:"-"` // the screen alone
	// AllBytes tells where in the file the screen begins.
	AllBytes int `json:"all_bytes"`
}

// text is the part of it that r asks for.
func (e evidence) text(r hitchpost.CaptureRequest) []byte {
	text := e.Screen
	if r.History || r.Lines > 0 {
		text = e.All
	}
	if r.Lines > 0 {
		return lastLines(text, r.Lines)
	}
	return text
}

// writeEvidence replaces the file at path whole or not at all: a JSON header line, then the texts, gzipped. After a power
// loss it is the old file or the new one; no promise hangs on which, so the directory is not synced.
func writeEvidence(path string, e evidence) error {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	var file []byte
	if err == nil {
		file, err = e.encode()
	}
	name := ""
	if err == nil {
		name, err = durable.Aside(path, file)
	}
	if err == nil {
		if err = os.Rename(name, path); err != nil {
			err = errors.Join(err, os.Remove(name))
		}
	}
	if err != nil {
		return fmt.Errorf("keep the last screen: %w", err)
	}
	return nil
}

func (e evidence) encode() ([]byte, error) {
	e.All = lastBytes(e.All, evidenceBytes)
	e.Screen = lastBytes(e.Screen, evidenceBytes)
	e.AllBytes = len(e.All)
	var file bytes.Buffer
	z, err := gzip.NewWriterLevel(&file, gzip.BestSpeed) // it is written over and over, and a third of the text either way
	if err != nil {
		return nil, err
	}
	err = json.NewEncoder(z).Encode(e)
	for _, part := range [][]byte{e.All, e.Screen} {
		if err == nil {
			_, err = z.Write(part)
		}
	}
	if err == nil {
		err = z.Close()
	}
	return file.Bytes(), err
}

// lastBytes is the end of text, whole lines of at most limit bytes together. Of a single longer line it is the end, which
// may begin within a character or a sequence: both are harmless where it is shown, as text or by a terminal.
func lastBytes(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	text = text[len(text)-limit:]
	if i := bytes.IndexByte(text, '\n'); i >= 0 && i < len(text)-1 {
		return text[i+1:]
	}
	return text
}

// readEvidence is os.ErrNotExist where nothing was kept.
func readEvidence(path string) (evidence, error) {
	f, err := os.Open(path)
	if err != nil {
		return evidence{}, err
	}
	defer func() { _ = f.Close() }() // only read
	z, err := gzip.NewReader(f)
	if err != nil {
		return evidence{}, fmt.Errorf("read the last screen: %w", err)
	}
	r := bufio.NewReader(io.LimitReader(z, evidenceLimit))
	head, err := r.ReadBytes('\n')
	if err != nil {
		return evidence{}, fmt.Errorf("read the last screen: %w", err)
	}
	var e evidence
	if err := json.Unmarshal(head, &e); err != nil {
		return evidence{}, fmt.Errorf("read the last screen: %w", err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return evidence{}, fmt.Errorf("read the last screen: %w", err)
	}
	if e.AllBytes < 0 || e.AllBytes > len(text) {
		return evidence{}, errors.New("read the last screen: its header does not fit its text")
	}
	e.All, e.Screen = text[:e.AllBytes], text[e.AllBytes:]
	return e, nil
}

// lastLines is the end of text, n lines of it, without the blank lines that a half-empty screen ends in.
func lastLines(text []byte, n int) []byte {
	text = bytes.TrimRight(text, "\n")
	if len(text) == 0 {
		return nil
	}
	at := len(text)
	for range n {
		i := bytes.LastIndexByte(text[:at], '\n')
		if i < 0 {
			return append(bytes.Clone(text), '\n')
		}
		at = i
	}
	return append(bytes.Clone(text[at+1:]), '\n')
}

// firstLines is the beginning of text: at most n lines, without trailing blanks.
func firstLines(text []byte, n int) []string {
	var out []string
	for line := range strings.Lines(ansi.Strip(string(text))) {
		if line = strings.TrimRight(line, " \r\n"); line != "" || len(out) > 0 {
			out = append(out, line)
		}
		if len(out) == n {
			break
		}
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}
