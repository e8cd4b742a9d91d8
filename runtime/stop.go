package runtime

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/launch"
	"github.com/hitchpost/hitchpost/runtime/tmux"
	"github.com/hitchpost/hitchpost/store"
)

const (
	stopTimeout = 10 * time.Second // until KILL, where the request names no other
	stopLongest = time.Hour
	killTimeout = 5 * time.Second // for the end to be recorded after KILL
)

// Stop ends a live session's process: the signal, and KILL after the timeout. It returns the session as STOPPED. The
// stop is carried out even when ctx ends first.
func (s *Service) Stop(
	ctx context.Context, a hitchpost.Actor, ref string, r hitchpost.StopRequest,
) (hitchpost.Session, error) {
	patience := newPatience()
	session, err := spend(ctx, patience, func(ctx context.Context) (hitchpost.Session, error) {
		return s.toDrive(ctx, a, ref)
	})
	if err != nil {
		return hitchpost.Session{}, err
	}
	signal, err := stopSignal(session.Kind, r.Signal)
	if err != nil {
		return hitchpost.Session{}, err
	}
	switch {
	case r.Timeout <= 0:
		r.Timeout = stopTimeout
	case r.Timeout > stopLongest:
		return hitchpost.Session{}, hitchpost.Errorf(hitchpost.UsageError, "a stop may take %v at most", stopLongest).
			For("timeout").Hinted("give less time")
	}
	if !session.State.Live() && session.State != hitchpost.Stopping {
		return hitchpost.Session{}, hitchpost.Errorf(hitchpost.ConflictError, "%s is %s", session.Handle, session.State).
			Hinted("only a live session can be stopped")
	}
	pane, err := s.pane(ctx, session.ID)
	if errors.Is(err, tmux.ErrNoSession) {
		s.Wake()
		return hitchpost.Session{}, gone(session)
	}
	if err != nil {
		return hitchpost.Session{}, err
	}
	end := s.underway.begin(session.ID)
	if session.State != hitchpost.Stopping { // a second stop only makes the first one quicker
		session, err = spend(ctx, patience, func(ctx context.Context) (hitchpost.Session, error) {
			return s.change(ctx, session, store.Transition{
				Change: hitchpost.ChangeStopAsked, By: as(a, hitchpost.FromPerson, "stop asked"),
				Lease: r.Timeout + 2*killTimeout,
			})
		})
		if err != nil {
			end()
			return hitchpost.Session{}, err
		}
	}
	s.goDo(func() {
		defer end()
		s.carryOutStop(session, pane, signal, r.Timeout)
	})
	return s.awaitStopped(ctx, session, r.Timeout+killTimeout)
}

// stopSignal is the signal that ends a kind of session politely. An interactive shell ignores TERM (bash(1),
// SIGNALS), and takes HUP for the end of its terminal.
func stopSignal(kind hitchpost.Kind, name string) (syscall.Signal, error) {
	switch {
	case name != "":
		return launch.ParseSignal(name)
	case kind == hitchpost.Shell:
		return syscall.SIGHUP, nil
	default:
		return syscall.SIGTERM, nil
	}
}

// pane is what tmux runs of a session; tmux.ErrNoSession where that is nothing.
func (s *Service) pane(ctx context.Context, id string) (tmux.Pane, error) {
	panes, err := s.Tmux.Panes(ctx)
	if err != nil {
		return tmux.Pane{}, err
	}
	i := slices.IndexFunc(panes, func(p tmux.Pane) bool { return p.Session == id })
	if i < 0 {
		return tmux.Pane{}, tmux.ErrNoSession
	}
	return panes[i], nil
}

// carryOutStop sends the signal, and KILL to what is left after the timeout.
func (s *Service) carryOutStop(session hitchpost.Session, pane tmux.Pane, signal syscall.Signal, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(s.background, timeout)
	defer cancel()
	again := timeout
	if signal == syscall.SIGHUP {
		again = hangUpAgain
	}
	for ctx.Err() == nil {
		if err := s.signal(ctx, session, pane, signal); err != nil {
			s.Log.Warn("signal not sent", "session", session.ID, "err", err)
		}
		pause, cancel := context.WithTimeout(ctx, again)
		_, err := s.await(pause, session, ended)
		cancel()
		if err == nil || s.background.Err() != nil {
			return // over, or the reconciler of the next service finishes it by the lease
		}
	}
	s.finishStop(session, pane)
}

// hangUpAgain is the pause before HUP is sent again. A shell that gets it just before it waits for a key acts on it
// only at the next key; other signals are sent once, since a second TERM often means more than the first.
const hangUpAgain = time.Second

// signalAgain is the pause before another try to signal a program that is not up yet.
const signalAgain = 20 * time.Millisecond

// signal sends a signal to the program of a pane, which may just be coming up.
func (s *Service) signal(ctx context.Context, session hitchpost.Session, pane tmux.Pane, signal syscall.Signal) error {
	for {
		err := launch.Signal(pane.Pid, signal)
		if !errors.Is(err, launch.ErrNoProgram) {
			return err
		}
		pause, cancel := context.WithTimeout(ctx, signalAgain)
		_, over := s.await(pause, session, ended)
		cancel()
		if over == nil || ctx.Err() != nil {
			return nil
		}
	}
}

// finishStop kills what a stop has left running. The pane is looked at again: its process may have ended long ago
// without anybody to record it, and its number belong to another by now.
func (s *Service) finishStop(session hitchpost.Session, pane tmux.Pane) {
	ctx, cancel := context.WithTimeout(s.background, callLimit)
	defer cancel()
	now, err := s.pane(ctx, session.ID)
	if errors.Is(err, tmux.ErrNoSession) || err == nil && (now.PaneID != pane.PaneID || now.Dead) {
		return
	}
	if err == nil {
		err = launch.Kill(now.Pid)
	}
	if err != nil && !errors.Is(err, launch.ErrNoWrapper) {
		s.Log.Warn("process not killed", "session", session.ID, "err", err)
	}
}

func ended(n hitchpost.Session) bool { return n.State.Ended() }

// awaitStopped returns the session once it is STOPPED. It waits no longer once the database is away: the stop is carried
// out, and only its end cannot be recorded before the database is back.
func (s *Service) awaitStopped(ctx context.Context, session hitchpost.Session, limit time.Duration) (hitchpost.Session, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		now, err := s.await(limited, session, func(n hitchpost.Session) bool { return ended(n) || !s.board.databaseOK() })
		switch {
		case err == nil && (ended(now) || now.Restarts != session.Restarts):
			return now, nil
		case ctx.Err() != nil:
			return now, context.Cause(ctx)
		case !s.board.databaseOK():
			away := hitchpost.Errorf(hitchpost.UnavailableError, "the database is away: the end of %s is not known", now.Handle)
			return now, away.Hinted("look at it again in a moment")
		case err != nil:
			return now, hitchpost.Errorf(hitchpost.FailedError, "%s did not end within %v of KILL", session.Handle, killTimeout).
				Hinted("a process that waits for a device cannot be killed: look for it with ps on %s", session.Node)
		}
		// The database was away for a moment.
	}
}
