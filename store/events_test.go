package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

// Nobody edits an event or takes one away, the owner of the database included.
func TestEventsAreAppendOnly(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.live(t, "work")
	c := conn(t, b.url)
	for _, sql := range []string{
		"update terminal_events set reason = 'other'", "delete from terminal_events", "truncate terminal_events",
		"truncate terminal_sessions cascade", "delete from terminal_sessions",
	} {
		_, err := c.Exec(t.Context(), sql)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code[:2] != "23" && pg.Code != "0A000" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if got := b.kinds(t, s.ID); got != "created started" {
		t.Errorf("events %s", got)
	}
}

func TestAppendEvent(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.live(t, "work")
	e, err := b.AppendEvent(t.Context(), hitchpost.Event{SessionID: s.ID, Kind: "noted"},
		store.By{Actor: "ann", Reason: "it's \x00"})
	if err != nil || e.ID == 0 || e.At.IsZero() || e.Actor != "ann" || e.Source != hitchpost.FromPerson ||
		e.Reason != "it's \uFFFD" {
		t.Errorf("%+v, %v", e, err)
	}
	if last, err := b.LastEvent(t.Context()); err != nil || last != e.ID {
		t.Errorf("the last is %d, want %d, %v", last, e.ID, err)
	}
	got, err := b.Events(t.Context(), hitchpost.EventRequest{Session: s.ID, After: e.ID - 1})
	if err != nil || len(got) != 1 || got[0].Handle != "work" || got[0].Fingerprint != "" {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = b.AppendEvent(t.Context(), hitchpost.Event{SessionID: s.ID, Kind: string(hitchpost.ChangeClosed)}, store.By{})
	wantKind(t, err, hitchpost.ConflictError) // no way around Change
	_, err = b.AppendEvent(t.Context(), hitchpost.Event{SessionID: newID(), Kind: "noted"}, store.By{})
	wantKind(t, err, hitchpost.NotFoundError)
}

// Who had no answer may append the same event again.
func TestAppendEventAgain(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	at := time.Now()
	login := hitchpost.Event{Kind: store.EventLogin, At: at, Reason: "from 192.0.2.1"}
	other := login
	other.Reason = "from 192.0.2.2"
	var ids []int64
	for _, e := range []hitchpost.Event{login, login, other} {
		e, err := b.AppendEvent(t.Context(), e, store.By{Actor: "ann", Fingerprint: b.key.Fingerprint})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	got, err := b.Events(t.Context(), hitchpost.EventRequest{After: ids[0] - 1})
	if err != nil || len(got) != 2 || ids[0] != ids[1] || got[1].ID != ids[2] {
		t.Fatalf("ids %v, %+v, %v", ids, got, err)
	}
	if e := got[0]; !e.At.Equal(at.Truncate(time.Microsecond)) || e.Fingerprint != b.key.Fingerprint || e.Handle != "" {
		t.Errorf("%+v", e)
	}
}

// Logins and refusals are events of no session.
// Whoever gave up waiting asks again while what they asked first is still on its way to be kept.
func TestAppendEventAgainBeforeItIsKept(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	e := hitchpost.Event{Kind: store.EventRefused, At: time.Now(), Reason: "no key", Source: hitchpost.FromPerson}
	slow := conn(t, b.url)
	run(t, slow, "begin")
	run(t, slow, "select pg_advisory_xact_lock($1, 0)", store.EventSpace)
	var id int64
	err := slow.QueryRow(t.Context(), `insert into terminal_events (at, change, reason, source) values ($1, $2, $3, $4) returning id`,
		e.At.UTC().Truncate(time.Microsecond), e.Kind, e.Reason, e.Source).Scan(&id)
	if err != nil {
		t.Fatal(err)
	}
	again := make(chan hitchpost.Event, 1)
	go func() {
		got, err := b.AppendEvent(context.Background(), e, store.By{})
		if err != nil {
			t.Error(err)
		}
		again <- got
	}()
	b.waits(t)
	run(t, slow, "commit")
	if got := <-again; got.ID != id {
		t.Errorf("event %d was kept again as %d", id, got.ID)
	}
}

func TestLoginsAndRefusalsAreEvents(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	before := time.Now().Add(-time.Second)
	_, err := b.AppendEvent(t.Context(), hitchpost.Event{Kind: store.EventLogin},
		store.By{Actor: "ann", Fingerprint: b.key.Fingerprint, Reason: "from 192.0.2.1:5022 as root"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.AppendEvent(t.Context(), hitchpost.Event{Kind: store.EventRefused, Source: hitchpost.FromPerson},
		store.By{Reason: "192.0.2.9: no known key"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Events(t.Context(), hitchpost.EventRequest{Since: before})
	if err != nil {
		t.Fatal(err)
	}
	login, refused := got[len(got)-2], got[len(got)-1]
	if login.Kind != "login" || login.Actor != "ann" || login.Source != hitchpost.FromPerson || login.Reason == "" {
		t.Errorf("login %+v", login)
	}
	if refused.Kind != "refused" || refused.Actor != "" || refused.Source != hitchpost.FromPerson || refused.Reason == "" {
		t.Errorf("refusal %+v", refused)
	}
	if got, err := b.Events(t.Context(), hitchpost.EventRequest{Since: time.Now().Add(time.Hour)}); err != nil || len(got) > 0 {
		t.Errorf("%d events of the future, %v", len(got), err)
	}
}

func TestEventsByPage(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.live(t, "work")
	b.live(t, "other")
	b.change(t, s.ID, hitchpost.ChangeLost)
	var kinds []string
	var after int64
	for {
		page, err := b.Events(t.Context(), hitchpost.EventRequest{Session: s.ID, After: after, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			if e.ID <= after || e.SessionID != s.ID || e.At.Location() != time.UTC {
				t.Errorf("%+v after %d", e, after)
			}
			after = e.ID
			kinds = append(kinds, e.Kind)
		}
	}
	if len(kinds) != 3 || kinds[2] != "lost" {
		t.Errorf("%v", kinds)
	}
	_, err := b.Events(t.Context(), hitchpost.EventRequest{Session: "x' or true"})
	wantKind(t, err, hitchpost.UsageError)
}

// The newest so many are kept, whatever their age, and everything below them goes.
func TestPruneEventsByCount(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.live(t, "work")
	run(t, conn(t, b.url), `insert into terminal_events (session_id, change, source)
		select $1, 'noted', 'person' from generate_series(1, 4500)`, s.ID)
	all, err := b.Events(t.Context(), hitchpost.EventRequest{Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if n, err := b.PruneEvents(t.Context(), old, len(all)); err != nil || n != 0 {
		t.Errorf("%d went though there are no more than may stay, %v", n, err)
	}
	if n, err := b.PruneEvents(t.Context(), old, 100); err != nil || int(n) != len(all)-100 {
		t.Errorf("%d of %d went, %v", n, len(all), err)
	}
	left, err := b.Events(t.Context(), hitchpost.EventRequest{})
	if err != nil || len(left) != 100 || left[0].ID != all[len(all)-100].ID {
		t.Errorf("%d are left, %v", len(left), err)
	}
	if n, err := b.PruneEvents(t.Context(), old, 0); err != nil || n != 0 {
		t.Errorf("%d went without a limit, %v", n, err)
	}
}

// The retention takes what is old in several steps, and nothing else.
func TestPruneEvents(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.live(t, "work")
	c := conn(t, b.url)
	run(t, c, `insert into terminal_events (session_id, at, change, source)
		select $1, now() - interval '100 days', 'noted', 'person' from generate_series(1, 4500)`, s.ID)
	run(t, c, `insert into terminal_attachments (id, session_id, node_id, detached_at)
		select gen_random_uuid(), $1, $2, now() - interval '100 days' from generate_series(1, 4500)`, s.ID, b.node.ID)
	gone, old := b.attach(t, s.ID), b.attach(t, s.ID)
	for _, id := range []string{gone, old} {
		if _, err := b.Detach(t.Context(), id, "left"); err != nil {
			t.Fatal(err)
		}
	}
	run(t, c, `update terminal_attachments set detached_at = now() - interval '100 days' where id = $1`, old)
	n, err := b.PruneEvents(t.Context(), time.Now().Add(-90*24*time.Hour), 1_000_000)
	if err != nil || n != 4500 {
		t.Errorf("%d, %v", n, err)
	}
	if got, want := b.kinds(t, s.ID), "created started attached joined parted detached"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	var kept int
	if err := c.QueryRow(t.Context(), `select count(*) from terminal_attachments`).Scan(&kept); err != nil || kept != 1 {
		t.Errorf("%d attachments, %v", kept, err)
	}
	// The leave to remove ended with its transaction.
	if _, err := c.Exec(t.Context(), "delete from terminal_events"); err == nil {
		t.Error("events can be removed")
	}
}
