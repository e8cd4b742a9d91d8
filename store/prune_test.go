package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

// While much is removed, in an order that leaves the removed rows in the index, as an open snapshot does, events are
// appended without a wait, and who follows gets each of them once and in order.
func TestRetentionIsInNobodysWay(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	run(t, conn(t, b.url), `insert into terminal_events (at, change, source)
		select now() - interval '100 days', 'noted', 'person' from generate_series(1, 40000)`)
	from, err := b.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	old := conn(t, b.url)
	run(t, old, "begin isolation level repeatable read")
	run(t, old, "select from terminal_events limit 1")
	pruned := make(chan error, 1)
	go func() {
		n, err := b.PruneEvents(context.WithoutCancel(t.Context()), time.Now().Add(-90*24*time.Hour), 1_000_000)
		if err == nil && n != 40_000 {
			err = fmt.Errorf("%d events went", n)
		}
		pruned <- err
	}()
	appended, during, over := 0, 0, false
	for !over || appended < 20 {
		select {
		case err := <-pruned:
			if err != nil {
				t.Fatal(err)
			}
			over = true
		default:
		}
		if _, err := b.AppendEvent(t.Context(), hitchpost.Event{Kind: "new", Reason: fmt.Sprint(appended)}, store.By{}); err != nil {
			t.Fatal(err)
		}
		appended++
		if !over {
			during = appended
		}
	}
	if during < 10 { // there were 20 steps, and each could have held up one
		t.Errorf("only %d events were appended meanwhile", during)
	}
	got, err := b.Events(t.Context(), hitchpost.EventRequest{After: from, Limit: 10_000})
	if err != nil || len(got) != appended {
		t.Fatalf("%d of %d events, %v", len(got), appended, err)
	}
	for i, e := range got {
		if e.Reason != fmt.Sprint(i) {
			t.Fatalf("event %d is %+v", i, e)
		}
	}
}

// However many strangers are refused, what happened to sessions stays.
func TestRefusalsPushNothingOut(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.live(t, "work")
	run(t, conn(t, b.url), `insert into terminal_events (change, source)
		select case when n % 2 = 0 then 'refused' else 'login' end, 'person' from generate_series(1, 12000) n`)
	const keep = 10_000
	n, err := b.PruneEvents(t.Context(), time.Now().Add(-time.Hour), keep)
	if err != nil || n != 6000-keep/10 {
		t.Errorf("%d went, %v", n, err)
	}
	all, err := b.Events(t.Context(), hitchpost.EventRequest{Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, e := range all {
		kinds[e.Kind]++
	}
	if kinds["refused"] != keep/10 || kinds["login"] != 6000 || all[len(all)-1].Kind != "refused" {
		t.Errorf("left are %v", kinds)
	}
	if got := b.kinds(t, s.ID); got != "created started" {
		t.Errorf("events of the session %s", got)
	}
}

// A clock that was set far ahead makes everything look old. It costs what the passes until it is set right take, each a
// day's events, and no more.
func TestRetentionBelievesNoClockAtOnce(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := conn(t, b.url)
	const day = 24 * time.Hour
	near := func(got, want time.Time) bool { return got.Sub(want).Abs() < time.Minute }
	before, err := b.PruneBefore(t.Context(), 90*day)
	if err != nil || !near(before, time.Now().Add(-90*day)) {
		t.Errorf("without events before %s, %v", before, err)
	}
	run(t, c, `insert into terminal_events (at, change, source)
		select now() - make_interval(hours => n), 'noted', 'person' from generate_series(1, 60 * 24) n`)
	before, err = b.PruneBefore(t.Context(), 90*day)
	if err != nil || !near(before, time.Now().Add(-90*day)) {
		t.Errorf("with young events before %s, %v", before, err)
	}
	for pass, age := 1, 60*day; pass <= 3; pass++ {
		before, err := b.PruneBefore(t.Context(), 0) // as if the clock were right and every event long ago
		if err != nil || !near(before, time.Now().Add(day-age)) {
			t.Fatalf("pass %d before %s, %v", pass, before, err)
		}
		n, err := b.PruneEvents(t.Context(), before, 0)
		if err != nil || n != 24 {
			t.Fatalf("pass %d: %d events went, %v", pass, n, err)
		}
		age -= day
	}
}
