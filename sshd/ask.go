package sshd

import (
	"context"
	"strings"
	"time"
)

// ask writes a line and waits for one of the keys in choices. What was typed before the line was meant for the session
// that has ended, and is no answer: a restart must be asked for. It returns 'q' for Ctrl-C and Ctrl-D, and 0 where no
// person is there: the input has ended, the time for an answer is over, or ctx has ended. With no choices, and for
// keys that are none of them where only one is offered, any key is an answer: it is returned as 'q'.
func (s *session) ask(ctx context.Context, line, choices string) byte {
	s.farewell(line)
	s.in.forget()
	in := s.in.open()
	defer s.in.pause()
	late := time.AfterFunc(s.conn.srv.cfg.Limits.Prompt, in.Interrupt)
	defer late.Stop()
	defer context.AfterFunc(ctx, in.Interrupt)()
	const ctrlC, ctrlD = 0x03, 0x04
	var key [1]byte // one at a time: what follows is for the next stage
	for {
		if _, err := in.Read(key[:]); err != nil {
			return 0
		}
		switch {
		case strings.IndexByte(choices, key[0]) >= 0:
			return key[0]
		case key[0] == ctrlC, key[0] == ctrlD, len(choices) < 2:
			return 'q'
		}
	}
}
