package runtime

import (
	"context"
	"slices"
	"time"

	"github.com/hitchpost/hitchpost"
)

// Wait returns the session once it is in one of the states, as it was then: at once where it is already, and also where
// it was for a moment only. TimeoutError when r.Timeout ran out first, ConflictError when the session was closed in
// another state. A database that is away meanwhile holds the answer up: what nobody sees is not told.
func (s *Service) Wait(ctx context.Context, a hitchpost.Actor, ref string, r hitchpost.WaitRequest) (hitchpost.Session, error) {
	if err := a.Require(hitchpost.Look); err != nil {
		return hitchpost.Session{}, err
	}
	if len(r.States) == 0 {
		r.States = wantsPerson()
	}
	named, err := s.resolve(ctx, a, ref)
	if err != nil {
		return hitchpost.Session{}, err
	}
	f := s.board.trail(named.ID)
	defer f.stop()
	session, err := s.Store.Session(ctx, named.ID) // after trail, so that no change falls between the two
	if err != nil {
		return session, err
	}
	var timeout <-chan time.Time
	if r.Timeout > 0 {
		t := time.NewTimer(r.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	for first := session.Revision; ; {
		if slices.Contains(r.States, session.State) {
			return session, nil
		}
		if !session.Open() {
			return session, hitchpost.Errorf(hitchpost.ConflictError, "%s is %s and closed", session.Handle, session.State).
				Hinted("a closed session keeps its state: start a new one")
		}
		select {
		case <-f.wake:
			if session, err = s.newest(ctx, f, first, session, r.States); err != nil {
				return session, err
			}
		case <-timeout:
			return session, s.timedOut(session, r.Timeout)
		case <-ctx.Done():
			return session, context.Cause(ctx)
		case <-s.background.Done():
			return session, context.Cause(s.background)
		}
	}
}

// wantsPerson are the states in which a session goes on only when a person does something.
func wantsPerson() []hitchpost.State {
	return []hitchpost.State{hitchpost.WaitingForInput, hitchpost.Stopped, hitchpost.Failed, hitchpost.Recoverable}
}

// newest is the first of the new readings that is in one of the states, else the last; old where there is none. What is
// of before the first reading is passed over.
func (s *Service) newest(
	ctx context.Context, f *trail, first int64, old hitchpost.Session, states []hitchpost.State,
) (hitchpost.Session, error) {
	seen, left := f.take()
	for _, now := range seen {
		if now.Revision < first {
			continue
		}
		if old = now; slices.Contains(states, now.State) || !now.Open() {
			return now, nil
		}
	}
	if !left {
		return old, nil
	}
	now, err := s.Store.Session(ctx, old.ID)
	switch {
	case err == nil:
		return now, nil
	case hitchpost.KindOf(err) == hitchpost.UnavailableError && ctx.Err() == nil:
		return old, nil // the board is read again once the database is back, and tells once more
	}
	return old, err
}

func (s *Service) timedOut(session hitchpost.Session, after time.Duration) error {
	e := hitchpost.Errorf(hitchpost.TimeoutError, "%s is still %s after %v", session.Handle, session.State,
		after.Round(time.Millisecond))
	if !s.board.databaseOK() {
		e = hitchpost.Errorf(hitchpost.TimeoutError, "%s was %s when last seen, and the database is away", session.Handle,
			session.State)
	}
	return e.Hinted("wait again, or look at it with show").For("timeout")
}
