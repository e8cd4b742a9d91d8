package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// Change moves the session with that id as t says and returns it as it is then. Where the session is not as t wants
// to find it, nothing changes and the ConflictError names the state found. Of many that ask for one change at the same
// time one succeeds. A session that clients are attached to becomes RUNNING when it comes up.
func (s *Store) Change(ctx context.Context, id string, t Transition) (changed hitchpost.Session, err error) {
	err = s.write(ctx, "change a session", func(ctx context.Context, tx *writing) error {
		found, now, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		changed, err = step(ctx, tx, found, t, now)
		if err != nil {
			return err
		}
		changed, err = settle(ctx, tx, changed, t.By, now)
		if err != nil {
			return err
		}
		tx.notify(Notice{TopicSession, id})
		return nil
	})
	return changed, err
}

// step makes one change to a session that is locked, and tells of it in an event.
func step(ctx context.Context, tx *writing, found hitchpost.Session, t Transition, now time.Time) (hitchpost.Session, error) {
	next, err := after(found, t, now)
	if err != nil {
		return found, err
	}
	if !found.Open() && next.Open() {
		// It gave its handle away when it was closed.
		if next.Handle, err = freeHandle(ctx, tx, next.Handle, next.ID); err != nil {
			return found, err
		}
	}
	if t.Change == hitchpost.ChangeRestartAsked {
		if err := alone(ctx, tx, next.ConversationID, next.ID); err != nil {
			return found, err
		}
	}
	agent, err := agentJSON(next.Agent)
	if err != nil {
		return found, err
	}
	err = tx.QueryRow(ctx, `update terminal_sessions set handle = $5, state = $6, state_reason = $7, state_source = $8,
			state_since = $9, exit_code = $10, exit_signal = $11, restarts = $12, started_at = $13, ended_at = $14,
			closed_at = $15, lease_until = $16, conversation_id = $17, agent = $18
		where id = $1 and state = $2 and restarts = $3 and (closed_at is null) = $4
		returning revision`,
		found.ID, found.State, found.Restarts, found.Open(),
		next.Handle, next.State, next.StateReason, next.StateSource, next.StateSince, next.ExitCode, next.ExitSignal,
		next.Restarts, orNull(next.StartedAt), orNull(next.EndedAt), orNull(next.ClosedAt), orNull(next.LeaseUntil),
		next.ConversationID, agent).
		Scan(&next.Revision)
	if errors.Is(err, pgx.ErrNoRows) {
		return found, fmt.Errorf("session %s changed while it was locked", found.ID)
	}
	if err != nil {
		return found, err
	}
	event := hitchpost.Event{SessionID: found.ID, At: now, Kind: string(t.Change), From: found.State, To: next.State,
		Reason: t.By.Reason}
	tx.append(&event, t.By)
	return next, nil
}

// settle lets RUNNING and DETACHED follow from whether anybody is attached.
func settle(ctx context.Context, tx *writing, s hitchpost.Session, by By, now time.Time) (hitchpost.Session, error) {
	switch {
	case s.State == hitchpost.Detached && s.Attached > 0:
		return step(ctx, tx, s, Transition{Change: hitchpost.ChangeAttached, By: by}, now)
	case s.State == hitchpost.Running && s.Attached == 0:
		return step(ctx, tx, s, Transition{Change: hitchpost.ChangeLeft, By: by}, now)
	}
	return s, nil
}

// after is what becomes of the session s by t at the time now, or why t does not apply to it. It is pure.
func after(s hitchpost.Session, t Transition, now time.Time) (hitchpost.Session, error) {
	to, ok := hitchpost.Next(s.State, t.Change)
	if !s.Open() && t.Change != hitchpost.ChangeFound {
		return s, hitchpost.Errorf(hitchpost.ConflictError, "session %s is closed", s.Handle).Hinted("start a new one")
	}
	if !ok || len(t.From) > 0 && !slices.Contains(t.From, s.State) {
		return s, refused(s, t.Change)
	}
	if t.Run != nil && *t.Run != s.Restarts {
		return s, hitchpost.Errorf(hitchpost.ConflictError, "session %s is %s in run %d and not in run %d", s.Handle, s.State,
			s.Restarts, *t.Run)
	}
	if t.Change == hitchpost.ChangeClosed {
		s.ClosedAt = now
		if to == s.State {
			return s, nil // closing says nothing new about how it ended
		}
	}
	s.State, s.StateReason, s.StateSource, s.StateSince = to, plain(t.By.Reason), t.By.source(), now
	switch t.Change {
	case hitchpost.ChangeStarted:
		s.StartedAt, s.LeaseUntil = now, time.Time{}
	case hitchpost.ChangeRestartAsked:
		s.Restarts++
		s.StartedAt, s.LeaseUntil = time.Time{}, until(now, t.Lease)
		s = renewed(unended(s), t, now)
	case hitchpost.ChangeWaits:
		s.StateSince = sinceOr(s, t.Since, now)
	case hitchpost.ChangeStopAsked:
		s.LeaseUntil = until(now, t.Lease)
	case hitchpost.ChangeFound:
		if t.SetRun != nil && *t.SetRun != s.Restarts {
			s = reborn(s)
			s.Restarts = *t.SetRun
		}
		if s.StartedAt.IsZero() {
			s.StartedAt = now
		}
		s.ClosedAt, s.LeaseUntil = time.Time{}, time.Time{}
		s = unended(s)
	case hitchpost.ChangeStartFailed, hitchpost.ChangeExitedWell, hitchpost.ChangeExitedBadly, hitchpost.ChangeLost:
		s = ended(s, t.Exit, now)
	}
	return s, nil
}

// renewed is s with what t says of the agent of its next process.
func renewed(s hitchpost.Session, t Transition, now time.Time) hitchpost.Session {
	if t.Agent != nil {
		s = known(s, *t.Agent)
	}
	return moved(reborn(s), t.Conversation, "restart", now)
}

// unended forgets how an earlier process ended.
func unended(s hitchpost.Session) hitchpost.Session {
	s.ExitCode, s.ExitSignal, s.EndedAt = nil, "", time.Time{}
	return s
}

// ended notes how the process ended. When is not known of one that was lost while it ran.
func ended(s hitchpost.Session, e *hitchpost.Exit, now time.Time) hitchpost.Session {
	s = unended(s)
	s.LeaseUntil = time.Time{}
	if s.State != hitchpost.Recoverable {
		s.EndedAt = now
	}
	if e == nil {
		return s
	}
	s.ExitCode, s.ExitSignal = e.Code, e.Signal
	if !e.At.IsZero() {
		s.EndedAt = micros(e.At)
	}
	if s.EndedAt.Before(s.StartedAt) {
		// The end was seen by another clock than the start was noted by, or the clock was set back.
		s.EndedAt = s.StartedAt
	}
	return s
}

// until is the end of a lease that begins now; none has no end.
func until(now time.Time, lease time.Duration) time.Time {
	if lease <= 0 {
		return time.Time{}
	}
	return micros(now.Add(lease))
}

// micros is t as the database gives it back.
func micros(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Microsecond)
}

// refused tells that a session in its state cannot make a change.
func refused(s hitchpost.Session, c hitchpost.Change) error {
	e := hitchpost.Errorf(hitchpost.ConflictError, "session %s is %s and cannot %s", s.Handle, s.State, doing(c))
	switch {
	case s.State.Live() && (c == hitchpost.ChangeRestartAsked || c == hitchpost.ChangeClosed):
		return e.Hinted("stop it first")
	case s.State.Ended() && (c == hitchpost.ChangeAttached || c == hitchpost.ChangeStopAsked):
		return e.Hinted("restart it, or close it")
	case s.State == hitchpost.Starting || s.State == hitchpost.Stopping:
		return e.Hinted("wait until it is through")
	}
	return e
}

// doing is a change as the end of "the session cannot".
func doing(c hitchpost.Change) string {
	switch c {
	case hitchpost.ChangeRestartAsked:
		return "be restarted"
	case hitchpost.ChangeClosed:
		return "be closed"
	case hitchpost.ChangeStopAsked:
		return "be stopped"
	case hitchpost.ChangeAttached:
		return "be attached to"
	default:
		return fmt.Sprintf("go through %q", string(c))
	}
}
