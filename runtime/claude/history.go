package claude

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/hitchpost/hitchpost"
)

const (
	// historyRead is how much of a transcript's end is read for a history, and historyBytes how much text is made of it.
	historyRead  = 16 << 20
	historyBytes = 1 << 20
)

// History is a conversation as plain text, from the end of its transcript: what the person typed behind "> ", what was
// answered, and the names of the tools that were used. It holds the last 1 MiB of that, in whole lines, each fit to be
// shown. Turns are in the order of the transcript, those that were taken back since included; what subagents said is left
// out. It is for a session whose program draws on the alternate screen, of which no terminal keeps a history.
func History(ctx context.Context, path string) ([]byte, error) {
	f, about, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	size := min(about.Size(), historyRead)
	var h history
	if _, err := eachLine(ctx, io.NewSectionReader(f, about.Size()-size, size), h.take); err != nil {
		return nil, err
	}
	return h.last(historyBytes), nil
}

// history is text that forgets its beginning as it grows.
type history struct {
	text bytes.Buffer
	tool bool // the last line names a tool
}

func (h *history) take(line []byte) bool {
	l, ok := parseLine(line)
	if !ok || l.Sidechain {
		return true
	}
	switch l.Type {
	case "user":
		if prompt := l.prompt(); prompt != "" {
			h.turn("> ", prompt)
		}
	case "assistant":
		for _, p := range l.Message.Content {
			switch {
			case p.Type == "text" && strings.TrimSpace(p.Text) != "":
				h.turn("", strings.TrimSpace(p.Text))
			case p.Type == "tool_use":
				if !h.tool {
					h.text.WriteByte('\n')
				}
				h.text.WriteString("* " + oneWord(p.Name) + "\n")
				h.tool = true
			}
		}
	}
	if h.text.Len() > 4*historyBytes {
		kept := h.last(historyBytes)
		h.text.Reset()
		h.text.Write(kept)
	}
	return true
}

// turn adds what somebody said, its first line behind a mark and the others below that.
func (h *history) turn(mark, said string) {
	if h.text.Len() > 0 {
		h.text.WriteByte('\n')
	}
	for line := range strings.Lines(said) {
		line = strings.TrimRight(hitchpost.OneLine(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")), " ")
		h.text.WriteString(strings.TrimRight(mark+line, " ") + "\n")
		mark = strings.Repeat(" ", len(mark))
	}
	h.tool = false
}

// last is a copy of the end of the text, whole lines of at most limit bytes together.
func (h *history) last(limit int) []byte {
	text := h.text.Bytes()
	if len(text) > limit {
		text = text[len(text)-limit:]
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	return bytes.Clone(text)
}
