package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

// Whoever follows the events gets each exactly once and in order, though many write at the same time, in transactions
// that take turns, and the listener is cut off in the middle.
func TestFollowerMissesNothing(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	const writers, each = 50, 4
	other := open(t, b.url)
	s := b.live(t, "busy")
	seen := map[string]int{}
	var last int64
	read := func(ctx context.Context) error {
		for {
			page, err := b.Events(ctx, hitchpost.EventRequest{After: last, Limit: 7})
			if err != nil || len(page) == 0 {
				return err
			}
			for _, e := range page {
				if e.ID <= last {
					t.Errorf("event %d after %d", e.ID, last)
				}
				last = e.ID
				if e.Kind == "noted" {
					seen[e.Reason]++
				}
			}
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	followed := make(chan error, 1)
	go func() {
		cut := false
		followed <- other.Listen(ctx, func(n store.Notice) error {
			switch n.Topic {
			case store.TopicAll, store.TopicEvent:
				if err := read(ctx); err != nil {
					return err
				}
			}
			if !cut && len(seen) > writers { // in the middle
				cut = true
				run(t, conn(t, b.url), `select pg_terminate_backend(pid) from pg_stat_activity
					where datname = current_database() and query like 'listen %'`)
			}
			if len(seen) == writers*each {
				stop()
			}
			return nil
		})
	}()
	_, errs := at(writers, func(i int) (struct{}, error) {
		from := []*store.Store{b.Store, other}[i%2]
		for n := range each {
			event := hitchpost.Event{Kind: "noted", Reason: fmt.Sprint(i, "-", n)}
			if i%10 == 0 && n == 0 {
				event.SessionID = s.ID // of a row that others write meanwhile
				if _, err := from.Rename(t.Context(), s.ID, event.Reason, store.By{}); err != nil {
					return struct{}{}, err
				}
			}
			if _, err := from.AppendEvent(t.Context(), event, store.By{}); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-followed:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(patience):
		stop()
		<-followed
	}
	if len(seen) != writers*each {
		t.Errorf("%d events of %d came", len(seen), writers*each)
	}
	for reason, times := range seen {
		if times != 1 {
			t.Errorf("event %s came %d times", reason, times)
		}
	}
}

// An event whose transaction is held up before its commit is not overtaken: what would come after it waits.
func TestEventsAppearInOrderOfTheirIDs(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	slow := conn(t, b.url)
	run(t, slow, "begin")
	run(t, slow, "select pg_advisory_xact_lock($1, 0)", store.EventSpace)
	run(t, slow, "insert into terminal_events (change, source) values ('slow', 'person')")
	quick := make(chan error, 1)
	go func() {
		_, err := b.AppendEvent(context.Background(), hitchpost.Event{Kind: "quick"}, store.By{})
		quick <- err
	}()
	b.waits(t)
	run(t, slow, "commit")
	if err := <-quick; err != nil {
		t.Fatal(err)
	}
	got, err := b.Events(t.Context(), hitchpost.EventRequest{})
	if err != nil || len(got) < 2 || got[len(got)-2].Kind != "slow" || got[len(got)-1].Kind != "quick" {
		t.Errorf("%+v, %v", got, err)
	}
}

// waits stays until somebody waits for the lock under which events are given their ids.
func (b *box) waits(t *testing.T) {
	t.Helper()
	watch := conn(t, b.url)
	eventually(t, "somebody waits", func() bool {
		var waits bool
		err := watch.QueryRow(t.Context(), `select exists (select from pg_locks where locktype = 'advisory' and not granted
			and database = (select oid from pg_database where datname = current_database()))`).Scan(&waits)
		return err == nil && waits
	})
}
