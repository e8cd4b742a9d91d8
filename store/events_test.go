package store_test

import (
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
	_, err = b.AppendEvent(t.Context(), hitchpost.Event{SessionID: s.ID, Kind: string(hitchpost.ChangeClosed)}, store.By{})
	wantKind(t, err, hitchpost.ConflictError) // no way around Change
	_, err = b.AppendEvent(t.Context(), hitchpost.Event{SessionID: newID(), Kind: "noted"}, store.By{})
	wantKind(t, err, hitchpost.NotFoundError)
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
		page, err := b.Events(t.Context(), s.ID, after, 2)
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
	_, err := b.Events(t.Context(), "x' or true", 0, 0)
	wantKind(t, err, hitchpost.UsageError)
}

// The retention takes what is old in several steps, and nothing else.
func TestPruneEvents(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.live(t, "work")
	c := conn(t, b.url)
	run(t, c, `insert into terminal_events (session_id, at, change, source)
		select $1, now() - interval '100 days', 'noted', 'person' from generate_series(1, 4500)`, s.ID)
	gone, old := b.attach(t, s.ID), b.attach(t, s.ID)
	for _, id := range []string{gone, old} {
		if _, err := b.Detach(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	run(t, c, `update terminal_attachments set detached_at = now() - interval '100 days' where id = $1`, old)
	n, err := b.PruneEvents(t.Context(), time.Now().Add(-90*24*time.Hour))
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
