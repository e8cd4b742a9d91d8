package tmux

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
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
	_, err := s.call(ctx, false, append([]command{capture}, b.save()...)...)
	text, err := s.collect(ctx, b, err)
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

// buffer is a tmux buffer that comes to us by a file, which the server writes within the same turn: no process is
// started for it and no size is too big.
type buffer struct{ name, path string }

func (s *Server) newBuffer() buffer {
	name := s.bufferStem + strconv.FormatInt(s.buffers.Add(1), 10)
	return buffer{name: name, path: s.program.layout.buffer(name)}
}

// save writes the buffer to its file and removes it. The path is a format to tmux.
func (b buffer) save() []command {
	return []command{{"save-buffer", "-b", b.name, literal(b.path)}, {"delete-buffer", "-b", b.name}}
}

// collect returns the text of the buffer and leaves neither the file nor the buffer behind. No file is no text. The
// error is that of the call that saved it, or its own.
func (s *Server) collect(ctx context.Context, b buffer, called error) ([]byte, error) {
	text, err := os.ReadFile(b.path)
	if rerr := os.Remove(b.path); err == nil {
		err = rerr
	}
	if errors.Is(err, fs.ErrNotExist) {
		text, err = nil, nil
	}
	if called == nil {
		return text, err
	}
	var r refusal
	if errors.As(called, &r) && !r.noTarget() { // such as a full disk: the rest of the turn was not done
		_, _ = s.call(ctx, false, command{"delete-buffer", "-b", b.name}) // the first error is the one to tell
	}
	return nil, called
}
