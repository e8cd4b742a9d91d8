package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
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

// buffer is a tmux buffer that comes to us by a file, which the server writes within the same turn: no process is
// started for it and no size is too big.
type buffer struct{ name, path string }

func (s *Server) newBuffer() buffer {
	name := s.bufferStem + strconv.FormatInt(s.buffers.Add(1), 10)
	return buffer{name: name, path: s.program.layout.buffer(name)}
}

const sizeMark = "buffer-size "

// save tells the size of the buffer, writes it to its file and removes it. The path is a format to tmux.
func (b buffer) save() []command {
	return []command{
		{"list-buffers", "-f", "#{==:#{buffer_name}," + b.name + "}", "-F", sizeMark + "#{buffer_size}"},
		{"save-buffer", "-b", b.name, literal(b.path)},
		{"delete-buffer", "-b", b.name},
	}
}

// collect returns the text of a buffer that was saved, and what else the call said, and leaves neither the file nor
// the buffer behind. No buffer is no text. tmux reports a disk that is full late and elsewhere, so the size is what
// tells whether all came.
func (s *Server) collect(ctx context.Context, b buffer, out string, called error) (text []byte, rest string, err error) {
	text, err = os.ReadFile(b.path)
	if rerr := os.Remove(b.path); err == nil {
		err = rerr
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	size := 0
	for l := range strings.Lines(out) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(l), sizeMark); ok {
			size, _ = strconv.Atoi(n) // 0 where it is no number, which is then not what came
			continue
		}
		rest += l
	}
	switch {
	case called != nil:
		err = called
	case err == nil && len(text) != size:
		err = fmt.Errorf("a buffer of %d bytes came as %d", size, len(text))
	}
	if err == nil {
		return text, rest, nil
	}
	// tmux stops at the first command that fails. A call that it did not answer it carries out to the end later.
	if r := refusal(""); errors.As(err, &r) && !r.noTarget() {
		_, _ = s.call(ctx, false, command{"delete-buffer", "-b", b.name}) // the first error is the one to tell
	}
	return nil, rest, err
}
