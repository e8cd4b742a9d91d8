package sshd

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
)

// direct attaches to one session and nothing else: leaving it ends the connection. It returns the exit status: 0 when
// the person left, the session's own when it ended meanwhile.
func (s *session) direct(ctx context.Context, req hitchpost.AttachRequest) int {
	if err := s.terminalNow().CheckDrawing(); err != nil {
		return s.fail(err)
	}
	status, err := s.straight(ctx, req)
	switch {
	case err == nil:
		return status
	case ctx.Err() != nil:
		return s.ended(ctx)
	}
	return s.fail(err)
}

// straight is direct with the error of a view that could not begin for the caller to tell.
func (s *session) straight(ctx context.Context, req hitchpost.AttachRequest) (int, error) {
	for {
		end, err := s.view(ctx, req)
		if err != nil {
			return 0, err
		}
		if status, over := s.leave(ctx, end); over {
			return status, nil
		}
		line, choices := endedDirectLine, "r"
		if !s.id.actor.May(hitchpost.Drive) {
			line, choices = viewerDirect, ""
		}
		if s.ask(ctx, line, choices) != 'r' {
			return exitStatus(end), nil
		}
		if err := s.restart(ctx, end.Session.ID); err != nil {
			return 0, err
		}
		// Another session may have the handle by now, and "last" may mean another.
		req.Ref = end.Session.ID
	}
}

// lastOfLimit bounds the question for a client's last session: the picker is there without an answer.
const lastOfLimit = 3 * time.Second

// resume goes straight back into the session that a reconnecting client was in. Where there is none, or it cannot be
// attached to any more, the picker says so. What may pass by itself ends the connection instead, for the client to come
// once more.
func (s *session) resume(ctx context.Context) int {
	id := ""
	if client := s.clientID(); client != "" {
		asking, cancel := context.WithTimeout(ctx, lastOfLimit)
		id = s.conn.srv.cfg.Service.LastOf(asking, client)
		cancel()
	}
	if id == "" {
		return s.pick(ctx, noSessionToResume)
	}
	status, err := s.straight(ctx, hitchpost.AttachRequest{Ref: id})
	switch {
	case err == nil:
		return status
	case ctx.Err() != nil:
		return s.ended(ctx)
	case hitchpost.KindOf(err) == hitchpost.UnavailableError:
		return s.fail(err)
	case hitchpost.KindOf(err) == hitchpost.NotFoundError: // the id would tell a person nothing
		return s.pick(ctx, sessionToResumeGone)
	}
	return s.pick(ctx, noticeLine(err))
}

// leave resets the terminal after a view and says how it ended. The second value is true where that is also the end of
// the connection.
func (s *session) leave(ctx context.Context, end hitchpost.AttachEnd) (int, bool) {
	s.farewell(TerminalReset + endLine(end))
	s.tookLeave = end.Reason == hitchpost.EndCut
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

// restart starts a fresh process for a session whose end is on the screen; beside what the last one left running only
// where the person says so. Should that process end at once, the attach that follows tells.
func (s *session) restart(ctx context.Context, id string) error {
	s.farewell(restarting)
	r := hitchpost.RestartRequest{Size: s.sizes.latest()}
	_, err := s.conn.srv.cfg.Service.Restart(ctx, s.id.actor, id, r)
	if !hitchpost.Forcible(err) {
		return err
	}
	if s.ask(ctx, besideLine(err), "f") != 'f' {
		return notRestarted()
	}
	s.farewell(restarting)
	r = hitchpost.RestartRequest{Size: s.sizes.latest(), Force: true}
	_, err = s.conn.srv.cfg.Service.Restart(ctx, s.id.actor, id, r)
	return err
}

// exitStatus is what a direct attach returns for a session that has ended.
func exitStatus(end hitchpost.AttachEnd) int {
	if end.Exit == nil {
		return hitchpost.FailedError.ExitStatus()
	}
	return end.Exit.Status(func(name string) int { return int(unix.SignalNum("SIG" + name)) })
}
