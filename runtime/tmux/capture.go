package tmux

import (
	"bytes"
	"context"
)

// Capture returns text of a session's pane, dead or alive, one line each, ended by LF. Empty lines at the end of the
// screen are left out. ErrNoSession when there is no such session.
func (s *Server) Capture(ctx context.Context, session string, c Capture) ([]byte, error) {
	at := target(session)
	if at == "" {
		return nil, ErrNoSession
	}
	b := s.newBuffer()
	capture := command{"capture-pane", "-b", b.name, "-t", at}
	if c.ANSI {
		capture = append(capture, "-e")
	}
	if c.History {
		capture = append(capture, "-J", "-S", "-")
	}
	out, err := s.call(ctx, false, append([]command{capture}, b.save()...)...)
	text, _, err := s.collect(ctx, b, out, err)
	if err != nil {
		return nil, told("capture the screen", gone(err))
	}
	text = bytes.TrimRight(text, "\n")
	keep := c.MaxLines
	if !c.History && c.Lines > 0 && (keep == 0 || c.Lines < keep) {
		keep = c.Lines
	}
	if keep > 0 {
		text = text[lastLines(text, keep):]
	}
	if len(text) == 0 {
		return nil, nil
	}
	return append(text, '\n'), nil
}

// lastLines is where the last n lines of text begin. A line end at the very end of text ends the last one.
func lastLines(text []byte, n int) int {
	if n <= 0 {
		return len(text)
	}
	end := len(text)
	if end > 0 && text[end-1] == '\n' {
		end--
	}
	for ; n > 0 && end >= 0; n-- {
		end = bytes.LastIndexByte(text[:end], '\n')
	}
	return end + 1
}
