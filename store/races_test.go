package store_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

// at runs f many times at once and returns what each gave.
func at[T any](n int, f func(i int) (T, error)) (values []T, errs []error) {
	values, errs = make([]T, n), make([]error, n)
	gate := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-gate
			values[i], errs[i] = f(i)
		})
	}
	close(gate)
	all.Wait()
	return values, errs
}

// Two restarts, or fifty, of one session at the same time give one new run.
func TestOfFiftyRestartsOneWins(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.live(t, "contested")
	b.change(t, s.ID, hitchpost.ChangeLost)
	other := open(t, b.url) // another service on the same database
	run := 0
	_, errs := at(50, func(i int) (hitchpost.Session, error) {
		from := []*store.Store{b.Store, other}[i%2]
		return from.Change(t.Context(), s.ID, store.Transition{Change: hitchpost.ChangeRestartAsked, Run: &run,
			From: []hitchpost.State{hitchpost.Recoverable}, Lease: time.Minute})
	})
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		wantKind(t, err, hitchpost.ConflictError)
	}
	if won != 1 {
		t.Errorf("%d of 50 restarts won", won)
	}
	after, err := b.Session(t.Context(), s.ID)
	if err != nil || after.Restarts != 1 || after.State != hitchpost.Starting {
		t.Errorf("%+v, %v", after, err)
	}
	if got, want := b.kinds(t, s.ID), "created started lost restart_asked"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
}

// A late exit of an older run changes nothing.
func TestNewsOfAnOlderRunIsRefused(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.live(t, "twice")
	b.change(t, s.ID, hitchpost.ChangeExitedWell)
	b.change(t, s.ID, hitchpost.ChangeRestartAsked)
	b.change(t, s.ID, hitchpost.ChangeStarted)
	_, err := b.Change(t.Context(), s.ID, store.Transition{Change: hitchpost.ChangeExitedBadly, Run: new(int)})
	wantKind(t, err, hitchpost.ConflictError)
	if now, err := b.Session(t.Context(), s.ID); err != nil || now.State != hitchpost.Detached || now.Restarts != 1 {
		t.Errorf("%+v, %v", now, err)
	}
}

// Handles are unique among open sessions, whoever asks at the same time, and a title that ends like a number does not
// confuse the numbering.
func TestHandlesOfManyAtOnce(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	titles := []string{"Fix it", "fix-it", "fix it 2"}
	made, errs := at(30, func(i int) (hitchpost.Session, error) {
		return b.Create(t.Context(), b.fresh(titles[i%3]), time.Minute, store.By{Actor: "ann"})
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	var handles []string
	for _, s := range made {
		handles = append(handles, s.Handle)
	}
	slices.Sort(handles)
	if distinct := slices.Compact(slices.Clone(handles)); len(distinct) != 30 {
		t.Errorf("30 open sessions have the handles %v", handles)
	}
	if !slices.Contains(handles, "fix-it") || !slices.Contains(handles, "fix-it-2") {
		t.Errorf("handles %v", handles)
	}
}

// Clients that come and go all at once leave the state that the number of the attached says, and one event each.
func TestAttachAndDetachOfManyAtOnce(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.live(t, "busy")
	const clients = 20
	ids := make([]string, clients)
	for i := range ids {
		ids[i] = newID()
	}
	_, errs := at(clients, func(i int) (hitchpost.Session, error) {
		_, err := b.Attach(t.Context(), store.Attachment{ID: ids[i], Session: s.ID, Node: b.node.ID, Actor: "ann",
			Fingerprint: b.key.Fingerprint})
		if err != nil {
			return hitchpost.Session{}, err
		}
		if i%2 == 0 {
			return hitchpost.Session{}, nil
		}
		return b.Detach(t.Context(), ids[i], "left")
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if now, err := b.Session(t.Context(), s.ID); err != nil || now.Attached != clients/2 || now.State != hitchpost.Running {
		t.Fatalf("%d attached and %s, %v", now.Attached, now.State, err)
	}
	for i := 0; i < clients; i += 2 {
		if _, err := b.Detach(t.Context(), ids[i], "left"); err != nil {
			t.Fatal(err)
		}
	}
	if now, err := b.Session(t.Context(), s.ID); err != nil || now.Attached != 0 || now.State != hitchpost.Detached {
		t.Fatalf("%d attached and %s, %v", now.Attached, now.State, err)
	}
	if got := len(b.events(t, s.ID)); got != 2+2*clients {
		t.Errorf("%d events: %s", got, b.kinds(t, s.ID))
	}
}

// Outputs of the same sessions in any order from many sides neither wait for each other for ever nor go back in time.
func TestTouchOfManyAtOnce(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	var ids []string
	for i := range 10 {
		ids = append(ids, b.live(t, fmt.Sprintf("printer %d", i)).ID)
	}
	start := time.Now().UTC().Truncate(time.Second)
	_, errs := at(20, func(i int) (struct{}, error) {
		var outputs []store.Output
		for j := range ids {
			outputs = append(outputs, store.Output{ID: ids[(i*3+j)%len(ids)], At: start.Add(time.Duration(i) * time.Second)})
		}
		return struct{}{}, b.Touch(t.Context(), outputs)
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if s, err := b.Session(t.Context(), id); err != nil || !s.LastOutputAt.Equal(start.Add(19*time.Second)) {
			t.Errorf("last output %v, %v", s.LastOutputAt, err)
		}
	}
}
