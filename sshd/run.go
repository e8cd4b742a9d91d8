package sshd

import (
	"context"
	"errors"
	"io"

	charm "charm.land/ssh"
	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd/command"
)

// signalled ends a command because the client sent a signal.
type signalled struct{ number unix.Signal }

func (s signalled) Error() string { return "interrupted by " + unix.SignalName(s.number) }

// runPlain runs a command without a terminal: its streams are the client's, untouched.
func (s *session) runPlain(words []string) int {
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	in := s.in.open()
	defer context.AfterFunc(ctx, in.Interrupt)()
	last := s.words(ctx)
	return s.runCommand(ctx, cancel, last, command.Invocation{
		Words: words, Stdin: piped{in, ctx, s.ssh}, Stdout: s.until(ctx, s.out), Stderr: last,
	})
}

// runTyped runs a command with a terminal. There is no kernel behind it, so what a terminal's line discipline does is
// done here: CR LF on the way out; on the way in the echo, the end of file and the interrupt.
func (s *session) runTyped(words []string) int {
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	screen := &cooked{w: s.until(ctx, s.out)}
	typed := newTypist(screen, func() { cancel(signalled{unix.SIGINT}) })
	defer typed.end()
	defer context.AfterFunc(ctx, typed.end)()
	s.start("line discipline", typed.show)
	s.in.push(typed.take)
	defer s.in.pause()
	now := s.terminalNow()
	last := s.words(ctx)
	return s.runCommand(ctx, cancel, last, command.Invocation{
		Words: words, Terminal: &now, Stdin: typed, Stdout: screen, Stderr: &cooked{w: last},
		Attach: func(ctx context.Context, req hitchpost.AttachRequest) int {
			s.in.open().Unread(typed.ahead())
			typed.end()
			return s.direct(ctx, req)
		},
	})
}

// runCommand runs one command and turns its end into an exit status. Where the server ends it and the command has not
// said why, that is said here.
func (s *session) runCommand(
	ctx context.Context, cancel context.CancelCauseFunc, last *lastWords, inv command.Invocation,
) int {
	limit := s.conn.srv.cfg.Limits.Stall
	stalled := make(chan struct{}, 1)
	stall := newStallWatch(limit, s.conn.net.sending, stalled)
	defer stall.stop()
	inv.Stream = watched{inv.Stdout, stall}
	got := make(chan charm.Signal, maxSignals) // what does not fit is dropped, and may be the one that counts
	s.signals.register(got)
	defer s.signals.register(nil)
	s.start("what ends a command", func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-stalled:
				cancel(tookNothing(limit))
			case name := <-got:
				if number := unix.SignalNum("SIG" + string(name)); number != 0 && deadly(number) {
					cancel(signalled{number})
				}
			}
		}
	})
	inv.Actor, inv.Version, inv.ParseKey = s.id.actor, s.conn.srv.cfg.Version, ParseKey
	status := s.conn.srv.cfg.Command(ctx, inv)
	var sig signalled
	switch {
	case errors.As(context.Cause(ctx), &sig):
		return 128 + int(sig.number)
	case s.ctx.Err() != nil && reason(s.ctx) != nil && status != 0 && !s.tookLeave && !last.said.Load():
		return s.ended(s.ctx)
	}
	return status
}

// watched is an output that a client must go on taking.
type watched struct {
	w     io.Writer
	stall *stallWatch
}

func (w watched) Write(p []byte) (int, error) {
	w.stall.begin()
	defer w.stall.end()
	return w.w.Write(p)
}

// deadly tells whether a signal ends a command.
func deadly(n unix.Signal) bool {
	switch n {
	case unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGKILL, unix.SIGABRT:
		return true
	}
	return false
}
