package sshd

import (
	"context"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
)

// direct attaches to one session and nothing else: leaving it ends the connection. It returns the exit status: 0 when
// the person left, the session's own when it ended meanwhile.
func (s *session) direct(ctx context.Context, req hitchpost.AttachRequest) int {
	if dumb(s.term) {
		return s.fail(needsTerminal(s.term))
	}
	for {
		end, err := s.view(ctx, req)
		if err != nil {
			if ctx.Err() != nil {
				return s.ended(ctx)
			}
			return s.fail(err)
		}
		if status, over := s.leave(ctx, end); over {
			return status
		}
		line, choices := endedDirectLine, "r"
		if !s.id.actor.May(hitchpost.Drive) {
			line, choices = viewerDirect, ""
		}
		if s.ask(ctx, line, choices) != 'r' {
			return exitStatus(end)
		}
		if err := s.restart(ctx, end.Session.ID); err != nil {
			return s.fail(err)
		}
		// Another session may have the handle by now, and "last" may mean another.
		req.Ref = end.Session.ID
	}
}

// leave resets the terminal after a view and says how it ended. The second value is true where that is also the end of
// the connection.
func (s *session) leave(ctx context.Context, end hitchpost.AttachEnd) (int, bool) {
	s.farewell(terminalReset + endLine(end))
	switch end.Reason {
	case hitchpost.EndDetached:
		return 0, true
	case hitchpost.EndCut:
		if why := reason(ctx); why != nil {
			return why.Kind.ExitStatus(), true
		}
		return hitchpost.UnavailableError.ExitStatus(), true
	}
	return 0, false
}

// restart starts a fresh process for a session whose end is on the screen. Should that process end at once, the attach
// that follows tells.
func (s *session) restart(ctx context.Context, id string) error {
	s.farewell(restarting)
	_, err := s.conn.srv.cfg.Service.Restart(ctx, s.id.actor, id, hitchpost.RestartRequest{Size: s.sizes.latest()})
	return err
}

// exitStatus is what a direct attach returns for a session that has ended.
func exitStatus(end hitchpost.AttachEnd) int {
	if end.Exit == nil {
		return hitchpost.FailedError.ExitStatus()
	}
	return end.Exit.Status(func(name string) int { return int(unix.SignalNum("SIG" + name)) })
}
