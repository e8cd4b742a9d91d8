package runtime

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/tmux"
	"github.com/hitchpost/hitchpost/store"
)

// Attach opens a view of a live session. It asks tmux, and the store only where memory does not know the session: an
// attach works while the database is away. Whoever gets a View closes it.
func (s *Service) Attach(ctx context.Context, a hitchpost.Actor, r hitchpost.AttachRequest) (*View, error) {
	if err := a.Require(hitchpost.Look); err != nil {
		return nil, err
	}
	session, err := s.resolve(ctx, a, r.Ref)
	if err != nil {
		return nil, err
	}
	if err := s.here(session); err != nil {
		return nil, err
	}
	if err := attachable(session); err != nil {
		return nil, err
	}
	lines := s.ReplayLines
	if r.NoReplay {
		lines = 0
	}
	r.ReadOnly = r.ReadOnly || !a.May(hitchpost.Drive)
	r.Terminal.Size = r.Terminal.Size.Clamp()
	screen, err := s.Tmux.Attach(ctx, tmux.Attach{
		Session: session.ID, Terminal: r.Terminal, Before: s.before(session, lines), ReplayLines: lines, Clear: r.Clear,
		ReadOnly: r.ReadOnly,
	})
	if errors.Is(err, tmux.ErrNoSession) || errors.Is(err, tmux.ErrNoServer) {
		s.Wake()
		return nil, gone(session)
	}
	if err != nil {
		return nil, err
	}
	v := &View{service: s, first: session, screen: screen, done: make(chan struct{})}
	s.noteAttach(a, r, v)
	s.views.add(v)
	s.goDo(v.follow)
	return v, nil
}

// gone tells that tmux no longer runs a session, which the store is about to know too.
func gone(session hitchpost.Session) error {
	return hitchpost.Errorf(hitchpost.ConflictError, "%s is gone, tmux no longer runs it", session.Handle).
		Hinted("look again in a moment, and restart it if it is RECOVERABLE")
}

// here is nil for a session of this node: only the node that runs a session can do anything with its process.
func (s *Service) here(session hitchpost.Session) error {
	if session.Node == s.Node.Name {
		return nil
	}
	return hitchpost.Errorf(hitchpost.ConflictError, "%s runs on node %s", session.Handle, session.Node).
		Hinted("connect to that machine")
}

// attachable is nil for a session that has a process to attach to.
func attachable(session hitchpost.Session) error {
	if session.State.Live() || session.State == hitchpost.Stopping {
		return nil
	}
	e := hitchpost.Errorf(hitchpost.ConflictError, "%s is %s, there is nothing to attach to", session.Handle, session.State)
	if session.State == hitchpost.Starting {
		return e.Hinted("try again in a moment")
	}
	return e.Hinted("restart it for a fresh process")
}

// noteAttach has the ledger write down that the actor attached, and remembers the session as the key's last.
func (s *Service) noteAttach(a hitchpost.Actor, r hitchpost.AttachRequest, v *View) {
	id, err := uuid.NewV7()
	if err != nil {
		s.Log.Error("attach not recorded", "session", v.first.ID, "err", err)
		return
	}
	v.id = id.String()
	s.keys.used(a.Fingerprint, v.first.ID)
	row := store.Attachment{
		ID: v.id, Session: v.first.ID, Fingerprint: a.Fingerprint, Actor: a.Name, Node: s.Node.ID,
		Client: r.Client, ReadOnly: r.ReadOnly,
	}
	s.ledger.add("attach", func(ctx context.Context) error {
		got, err := s.Store.Attach(ctx, row)
		if hitchpost.KindOf(err) == hitchpost.ConflictError {
			return nil // it has ended, or is being stopped: there is no count to keep
		}
		if err == nil {
			s.board.put(got)
		}
		return err
	})
}

// View is one terminal's window on a live session. Read, Write and Resize may each be used by one goroutine, at the
// same time; Close by any.
type View struct {
	service *Service
	id      string // of its row in the store; empty when it has none
	first   hitchpost.Session
	screen  *tmux.View

	once sync.Once
	end  hitchpost.AttachEnd
	done chan struct{}
}

// Session is the session as it was when the view was opened.
func (v *View) Session() hitchpost.Session { return v.first }

// Read gives the replay, then the screen, then what the session prints, as bytes for the terminal. It blocks, and
// returns io.EOF after the last byte of a view that has ended, once it is known why it has.
func (v *View) Read(p []byte) (int, error) {
	n, err := v.screen.Read(p)
	if err != nil && n == 0 {
		<-v.done
		return 0, io.EOF
	}
	return n, nil
}

// ReadReady is Read, but returns 0 and no error where Read would wait.
func (v *View) ReadReady(p []byte) (int, error) {
	n, err := v.screen.ReadReady(p)
	if err != nil && n == 0 {
		<-v.done
		return 0, io.EOF
	}
	return n, nil
}

// Write types p into the session; a read-only view drops it.
func (v *View) Write(p []byte) (int, error) { return v.screen.Write(p) }

// Resize tells the session the terminal's new size. It never blocks.
func (v *View) Resize(size hitchpost.Size) error { return v.screen.Resize(size.Clamp()) }

// Done is closed once the view has ended, for whatever reason.
func (v *View) Done() <-chan struct{} { return v.done }

// End tells why the view ended. It blocks until it has.
func (v *View) End() hitchpost.AttachEnd {
	<-v.done
	return v.end
}

// Close ends the view and returns why it ended, which is an earlier reason if there was one. The message is for
// people and is used with EndCut.
func (v *View) Close(reason hitchpost.EndReason, message string) hitchpost.AttachEnd {
	v.finishAs(func() hitchpost.AttachEnd {
		now, ok := v.service.board.get(v.first.ID)
		if !ok {
			now = v.first
		}
		return hitchpost.AttachEnd{Reason: reason, Session: now, Message: message}
	})
	return v.End()
}

// finishAs ends the view once; why is asked by the call that does it.
func (v *View) finishAs(why func() hitchpost.AttachEnd) {
	v.once.Do(func() {
		v.end = why()
		if err := v.screen.Close(); err != nil {
			v.service.Log.Warn("view not closed cleanly", "session", v.first.ID, "err", err)
		}
		v.service.views.remove(v)
		if v.id != "" {
			v.service.ledger.add("detach", func(ctx context.Context) error {
				got, err := v.service.Store.Detach(ctx, v.id, cmp.Or(v.end.Message, string(v.end.Reason)))
				if hitchpost.KindOf(err) == hitchpost.NotFoundError {
					return nil // the attach was not recorded either
				}
				if err == nil {
					v.service.board.put(got)
				}
				return err
			})
		}
		close(v.done)
	})
}

// follow ends the view when its session has ended or its tmux client has gone.
func (v *View) follow() {
	for {
		changed := v.service.board.next()
		if now, ok := v.service.board.get(v.first.ID); v.over(now, ok) {
			return // letGo drains this view
		}
		select {
		case <-changed:
		case <-v.done:
			return
		case <-v.screen.Done():
			v.clientGone()
			return
		}
	}
}

// over reports whether the session's run that the view shows has ended; if nobody drains the view it is ended here.
func (v *View) over(now hitchpost.Session, open bool) bool {
	if open && now.Restarts == v.first.Restarts && !now.State.Ended() {
		return false
	}
	ctx, cancel := context.WithTimeout(v.service.background, drainLimit)
	defer cancel()
	v.finish(ctx)
	return true
}

// finish ends the view of an ended session after it has taken in the last output, or when ctx ends.
func (v *View) finish(ctx context.Context) {
	if err := v.screen.Tail(ctx); err != nil && ctx.Err() == nil {
		v.service.Log.Warn("last output not awaited", "session", v.first.ID, "err", err)
	}
	v.finishAs(v.endOfSession)
}

// clientGone finds out why the tmux client ended: mostly the session ended, which the reconciler is about to see.
func (v *View) clientGone() {
	v.service.Wake()
	ctx, cancel := context.WithTimeout(v.service.background, 2*time.Second)
	defer cancel()
	_, err := v.service.await(ctx, v.first, ended)
	if err == nil {
		v.finishAs(v.endOfSession)
		return
	}
	v.finishAs(func() hitchpost.AttachEnd {
		return hitchpost.AttachEnd{
			Reason: hitchpost.EndCut, Session: v.first, Message: "the session's terminal went away: connect again",
		}
	})
}

// endOfSession tells how the session ended, from the board.
func (v *View) endOfSession() hitchpost.AttachEnd {
	now, ok := v.service.board.get(v.first.ID)
	switch {
	case !ok || now.Restarts != v.first.Restarts:
		return hitchpost.AttachEnd{Reason: hitchpost.EndLost, Session: v.first}
	case now.State == hitchpost.Recoverable:
		return hitchpost.AttachEnd{Reason: hitchpost.EndLost, Session: now}
	}
	exit := hitchpost.Exit{Code: now.ExitCode, Signal: now.ExitSignal, At: now.EndedAt}
	return hitchpost.AttachEnd{Reason: hitchpost.EndExited, Session: now, Exit: &exit}
}
