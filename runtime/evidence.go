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
)

// evidenceLines is how much of a session's history is kept after its process has ended.
const evidenceLines = 5000

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

// writeEvidence replaces the file at path whole or not at all: a JSON header line, then the texts, gzipped.
func writeEvidence(path string, e evidence) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("keep the last screen: %w", err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".screen-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	e.AllBytes = len(e.All)
	z := gzip.NewWriter(f)
	if err := json.NewEncoder(z).Encode(e); err != nil {
		return err
	}
	for _, part := range [][]byte{e.All, e.Screen} {
		if _, err := z.Write(part); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
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
