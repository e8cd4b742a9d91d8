package store_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
	"github.com/hitchpost/hitchpost/store/storetest"
)

// ear listens and keeps what it hears.
type ear struct {
	mu    sync.Mutex
	heard []store.Notice
}

// listen starts an ear that is known to hear; it ends with the test.
func listen(t *testing.T, s *store.Store) *ear {
	t.Helper()
	var e ear
	ctx, stop := context.WithCancelCause(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- s.Listen(ctx, func(n store.Notice) error {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.heard = append(e.heard, n)
			return nil
		})
	}()
	over := errors.New("over")
	t.Cleanup(func() {
		stop(over)
		if err := <-done; !errors.Is(err, over) {
			t.Errorf("listen ended with %v", err)
		}
	})
	eventually(t, "it listens", func() bool { return e.count(store.Notice{Topic: store.TopicAll}) == 1 })
	return &e
}

func (e *ear) count(n store.Notice) (times int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, h := range e.heard {
		if h == n {
			times++
		}
	}
	return times
}

// Every service hears of every change once it is committed.
func TestListenHearsChanges(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	e := listen(t, open(t, b.url))
	s := b.live(t, "work")
	id := b.attach(t, s.ID)
	if _, err := b.Detach(t.Context(), id, "left"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Rename(t.Context(), s.ID, "play", store.By{}); err != nil {
		t.Fatal(err)
	}
	_, err := b.Change(t.Context(), s.ID, store.Transition{Change: hitchpost.ChangeClosed})
	wantKind(t, err, hitchpost.ConflictError) // of which nobody hears
	k := b.addKey(t, "bob", hitchpost.Viewer)
	if err := b.SetNodeState(t.Context(), b.node.ID, hitchpost.Offline, "gone"); err != nil {
		t.Fatal(err)
	}
	for n, times := range map[store.Notice]int{
		{Topic: store.TopicSession, ID: s.ID}:         5,
		{Topic: store.TopicKey, ID: k.Fingerprint}:    1,
		{Topic: store.TopicNode, ID: b.node.ID}:       1,
		{Topic: store.TopicAll}:                       1,
		{Topic: store.TopicSession, ID: "never sent"}: 0,
	} {
		eventually(t, "the notice is heard", func() bool { return e.count(n) >= times })
		if got := e.count(n); got != times {
			t.Errorf("%+v heard %d times, want %d", n, got, times)
		}
	}
	// What is not ours may mean anything.
	run(t, conn(t, b.url), "select pg_notify('hitchpost', 'what?')")
	eventually(t, "a strange payload wakes too", func() bool { return e.count(store.Notice{Topic: store.TopicAll}) == 2 })
}

// What could not be followed is followed again, from the beginning, until it can.
func TestListenRepeatsWhatFailed(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	ctx, stop := context.WithCancel(t.Context())
	var heard []store.Topic
	fails := 3
	err := b.Listen(ctx, func(n store.Notice) error {
		heard = append(heard, n.Topic)
		if n.Topic == store.TopicAll && fails > 0 {
			fails--
			return errors.New("cannot read it all")
		}
		switch n.Topic {
		case store.TopicAll:
			b.addKey(t, "bob", hitchpost.Viewer)
		case store.TopicKey:
			if len(heard) > 6 {
				stop()
				return nil
			}
			return errors.New("cannot read the keys")
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("listen ended with %v", err)
	}
	all := store.TopicAll
	if want := []store.Topic{all, all, all, all, store.TopicKey, all, store.TopicKey}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}

// After the server was away, whoever listens reads everything anew and hears again; calls work again by themselves.
func TestServerRestarted(t *testing.T) {
	t.Parallel()
	c := storetest.NewCluster(t)
	s := open(t, c.URL())
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := boxOn(t, c.URL())
	e := listen(t, s)
	lease, err := s.Lease(t.Context(), "reconcile")
	if err != nil {
		t.Fatal(err)
	}
	for restart := range 2 {
		if restart == 0 {
			if err := c.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		} else if err := c.Kill(); err != nil {
			t.Fatal(err)
		}
		wantKind(t, b.Ping(t.Context()), hitchpost.UnavailableError)
		select {
		case <-lease.Lost():
		case <-time.After(patience):
			t.Fatal("the lease outlived the server")
		}
		if err := c.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
		all := store.Notice{Topic: store.TopicAll}
		eventually(t, "it listens again", func() bool { return e.count(all) == restart+2 })
		if err := b.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		made := b.create(t, "after the restart")
		eventually(t, "it hears again", func() bool {
			return e.count(store.Notice{Topic: store.TopicSession, ID: made.ID}) == 1
		})
		if lease, err = s.Lease(t.Context(), "reconcile"); err != nil {
			t.Fatal(err)
		}
	}
	lease.Release()
}
