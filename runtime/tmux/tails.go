package tmux

import (
	"bytes"
	"context"
	"strconv"
	"strings"
)

// Tail is the last that a session shows, with SGR sequences, lines ended by LF.
type Tail struct {
	All    []byte // the newest of the history, wrapped lines joined, and the screen
	Screen []byte // the screen alone
}

// Tails returns the last so many rows of history and the screen of each of the sessions, with one call for all of
// them. ErrNoSession when one of them is gone, and then nothing of the others.
func (s *Server) Tails(ctx context.Context, sessions []string, rows int) (map[string]Tail, error) {
	var cmds []command
	var buffers []buffer
	for _, id := range sessions {
		at := target(id)
		if at == "" {
			return nil, ErrNoSession
		}
		all, screen := s.newBuffer(), s.newBuffer()
		cmds = append(cmds, command{"capture-pane", "-e", "-J", "-S", "-" + strconv.Itoa(rows), "-b", all.name, "-t", at})
		cmds = append(cmds, all.save()...)
		cmds = append(cmds, command{"capture-pane", "-e", "-b", screen.name, "-t", at})
		cmds = append(cmds, screen.save()...)
		buffers = append(buffers, all, screen)
	}
	out, called := s.call(ctx, false, cmds...)
	said := strings.SplitAfter(out, "\n") // one line for each buffer: its size
	texts := make([][]byte, len(buffers))
	var failed error
	for i, b := range buffers {
		size := ""
		if i < len(said) {
			size = said[i]
		}
		text, _, err := s.collect(ctx, b, size, called)
		if failed == nil {
			failed = err
		}
		if text = bytes.TrimRight(text, "\n"); len(text) > 0 {
			texts[i] = append(text, '\n')
		}
	}
	if failed != nil {
		return nil, told("capture screens", gone(failed))
	}
	tails := make(map[string]Tail, len(sessions))
	for i, id := range sessions {
		tails[id] = Tail{All: texts[2*i], Screen: texts[2*i+1]}
	}
	return tails, nil
}
