package main

import (
	"syscall"
	"testing"
)

func TestServeStopsWithItsTerminal(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	term := s.open(80, 24, "attach", "job")
	term.sees("row 500")
	s.down(syscall.SIGHUP)
	s.saidGoodbye(term)
}

// As in "make run 2>&1 | tee log", where Ctrl-C ends the tee too.
func TestServeStopsWithoutAReaderOfItsLog(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	term := s.open(80, 24, "attach", "job")
	term.sees("row 500")
	s.log.mu.Lock()
	s.log.closed = true // os/exec closes the pipe at the next line
	s.log.mu.Unlock()
	s.ok("whoami")
	s.ok("whoami")
	s.down(syscall.SIGTERM)
	s.saidGoodbye(term)
}

// saidGoodbye holds that serve has stopped in order, and that the client in term knows why.
func (s *stack) saidGoodbye(term *terminal) {
	s.t.Helper()
	if code := term.left(); code != 75 {
		s.t.Errorf("exit status %d, want 75\n%s", code, term.screen())
	}
	term.sees("the service is stopping")
	if code := s.serve.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("serve: %v", s.serve.ProcessState)
	}
}
