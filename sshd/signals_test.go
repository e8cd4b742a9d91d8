package sshd_test

import "testing"

// The signal that ends a command is not lost behind others that mean nothing to it, also where all come before it runs.
func TestNoSignalHidesAnother(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	tm := open(t, s.client("alice"))
	for _, name := range []string{"USR1", "WINCH", "CONT", "TERM"} {
		tm.ask("signal", text(name))
	}
	tm.ask("exec", text("wait"))
	if status := tm.exit(); status != 143 {
		t.Errorf("status %d", status)
	}
}
