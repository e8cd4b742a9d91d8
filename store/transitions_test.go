package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

// The CHECK of the events and hitchpost.Next are one table: every state, every change, every state after it.
func TestTransitionTableIsTheSameInTheDatabase(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	session := b.create(t, "walker")
	c := conn(t, b.url)
	states := append([]hitchpost.State{""}, hitchpost.States()...)
	for _, from := range states {
		for _, change := range hitchpost.Changes() {
			want, allowed := hitchpost.Next(from, change)
			for _, to := range states {
				_, err := c.Exec(t.Context(), `insert into terminal_events (session_id, change, from_state, to_state, source)
					values ($1, $2, $3, $4, 'person')`, session.ID, change, from, to)
				if good := allowed && to == want; good != (err == nil) {
					t.Errorf("%s from %q to %q: the table says %v, the database %v", change, from, to, good, err)
				}
			}
		}
	}
	for _, states := range [][2]string{{"RUNNING", "STOPPED"}, {"", "STOPPED"}, {"RUNNING", ""}} {
		_, err := c.Exec(t.Context(), `insert into terminal_events (session_id, change, from_state, to_state, source)
			values ($1, 'renamed', $2, $3, 'person')`, session.ID, states[0], states[1])
		if err == nil {
			t.Errorf("an event that is no change carries the states %q", states)
		}
	}
}

// Every pair of state and change through Change: it goes where the table says, with one event, or leaves no trace.
func TestChangeWalksTheTable(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := conn(t, b.url)
	session := b.create(t, "walker")
	for _, from := range hitchpost.States() {
		for _, change := range hitchpost.Changes() {
			run(t, c, `update terminal_sessions set state = $2, closed_at = null, exit_code = null, exit_signal = '',
				lease_until = now() where id = $1`, session.ID, from)
			before := len(b.events(t, session.ID))
			got, err := b.Change(t.Context(), session.ID, store.Transition{Change: change, Lease: time.Minute})
			events := b.events(t, session.ID)[before:]
			// An attached one is RUNNING only while somebody is attached, and nobody is.
			settled := func(s hitchpost.State) hitchpost.State {
				if s == hitchpost.Running {
					return hitchpost.Detached
				}
				return s
			}
			want, allowed := hitchpost.Next(from, change)
			if !allowed {
				wantKind(t, err, hitchpost.ConflictError)
				if len(events) != 0 {
					t.Errorf("%s in %s left %d events", change, from, len(events))
				}
				continue
			}
			if err != nil || got.State != settled(want) {
				t.Errorf("%s in %s: %s, %v; want %s", change, from, got.State, err, want)
				continue
			}
			if len(events) == 0 || events[0].Kind != string(change) || events[0].From != from || events[0].To != want {
				t.Errorf("%s in %s is told by %+v", change, from, events)
			}
			stored, err := b.Session(t.Context(), session.ID)
			if err != nil || fmt.Sprintf("%+v", pointless(stored)) != fmt.Sprintf("%+v", pointless(got)) {
				t.Errorf("%s in %s returned\n%+v and stored\n%+v (%v)", change, from, got, stored, err)
			}
		}
	}
}

// pointless is s with its exit code as a value.
func pointless(s hitchpost.Session) any {
	code := -1
	if s.ExitCode != nil {
		code = *s.ExitCode
	}
	s.ExitCode = nil
	return struct {
		hitchpost.Session
		code int
	}{s, code}
}

func (b *box) events(t *testing.T, session string) []hitchpost.Event {
	t.Helper()
	list, err := b.Events(t.Context(), hitchpost.EventRequest{Session: session})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// What a change means for the other fields, from the pure function.
func TestAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	earlier := now.Add(-time.Hour)
	three := 3
	live := hitchpost.Session{State: hitchpost.Detached, StateSince: earlier, StartedAt: earlier}
	failed := hitchpost.Session{State: hitchpost.Failed, StateReason: "exit 3", StateSince: earlier, ExitCode: &three,
		StartedAt: earlier, EndedAt: earlier, Restarts: 4}
	closed := failed
	closed.ClosedAt = earlier
	starting := hitchpost.Session{State: hitchpost.Starting, LeaseUntil: now.Add(time.Minute)}

	t.Run("exit", func(t *testing.T) {
		s, err := store.After(live, store.Transition{Change: hitchpost.ChangeExitedBadly,
			Exit: &hitchpost.Exit{Code: &three, At: earlier.Add(1500 * time.Nanosecond)}}, now)
		if err != nil || s.State != hitchpost.Failed || *s.ExitCode != 3 || !s.EndedAt.Equal(earlier.Add(time.Microsecond)) ||
			!s.StateSince.Equal(now) {
			t.Errorf("%+v, %v", s, err)
		}
	})
	t.Run("exit before the start", func(t *testing.T) { // by another clock
		s, err := store.After(live, store.Transition{Change: hitchpost.ChangeExitedWell,
			Exit: &hitchpost.Exit{Code: new(int), At: earlier.Add(-8 * time.Hour)}}, now)
		if err != nil || !s.EndedAt.Equal(s.StartedAt) {
			t.Errorf("%+v, %v", s, err)
		}
	})
	t.Run("lost", func(t *testing.T) {
		s, err := store.After(live, store.Transition{Change: hitchpost.ChangeLost}, now)
		if err != nil || s.State != hitchpost.Recoverable || !s.EndedAt.IsZero() {
			t.Errorf("%+v, %v", s, err)
		}
	})
	t.Run("restart", func(t *testing.T) {
		s, err := store.After(failed, store.Transition{Change: hitchpost.ChangeRestartAsked, Lease: time.Minute}, now)
		if err != nil || s.Restarts != 5 || s.ExitCode != nil || !s.EndedAt.IsZero() || !s.StartedAt.IsZero() ||
			!s.LeaseUntil.Equal(now.Add(time.Minute)) {
			t.Errorf("%+v, %v", s, err)
		}
	})
	t.Run("started", func(t *testing.T) {
		s, err := store.After(starting, store.Transition{Change: hitchpost.ChangeStarted}, now)
		if err != nil || !s.StartedAt.Equal(now) || !s.LeaseUntil.IsZero() {
			t.Errorf("%+v, %v", s, err)
		}
	})
	t.Run("close keeps how it ended", func(t *testing.T) {
		s, err := store.After(failed, store.Transition{Change: hitchpost.ChangeClosed, By: store.By{Reason: "done"}}, now)
		if err != nil || s.StateReason != "exit 3" || !s.StateSince.Equal(earlier) || !s.ClosedAt.Equal(now) {
			t.Errorf("%+v, %v", s, err)
		}
	})
	t.Run("found again", func(t *testing.T) {
		s, err := store.After(closed, store.Transition{Change: hitchpost.ChangeFound}, now)
		if err != nil || !s.Open() || s.ExitCode != nil || !s.StartedAt.Equal(earlier) || s.Restarts != 4 {
			t.Errorf("%+v, %v", s, err)
		}
		run := 7
		s, err = store.After(starting, store.Transition{Change: hitchpost.ChangeFound, SetRun: &run}, now)
		if err != nil || s.Restarts != 7 || !s.LeaseUntil.IsZero() || !s.StartedAt.Equal(now) {
			t.Errorf("%+v, %v", s, err)
		}
	})
	run := 3
	for name, refused := range map[string]struct {
		s hitchpost.Session
		t store.Transition
	}{
		"closed":      {closed, store.Transition{Change: hitchpost.ChangeRestartAsked}},
		"other state": {live, store.Transition{Change: hitchpost.ChangeLost, From: []hitchpost.State{hitchpost.Running}}},
		"other run":   {failed, store.Transition{Change: hitchpost.ChangeRestartAsked, Run: &run}},
		"impossible":  {live, store.Transition{Change: hitchpost.ChangeClosed}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := store.After(refused.s, refused.t, now)
			wantKind(t, err, hitchpost.ConflictError)
			if !slices.Equal(s.Args, refused.s.Args) || s.State != refused.s.State || s.Restarts != refused.s.Restarts {
				t.Errorf("changed to %+v", s)
			}
		})
	}
}
