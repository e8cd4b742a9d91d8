package store

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// writing is a transaction and what it tells of when all else in it is done.
type writing struct {
	pgx.Tx
	events  []told
	notices []Notice
}

// told is an event that waits for the end of its transaction.
type told struct {
	event *hitchpost.Event
	by    By
}

// append has the transaction end with the event, whose empty fields are filled from by and the clock. Its ID and At are
// set when the transaction is committed.
func (w *writing) append(e *hitchpost.Event, by By) {
	w.events = append(w.events, told{e, by})
}

// notify sends n to every listener when the transaction is committed.
func (w *writing) notify(n Notice) { w.notices = append(w.notices, n) }

// eventSpace sets the advisory lock of the events apart from those of leases and of other programs.
const eventSpace = 0x485045 // "HPE"

// tell appends the events and sends the notices, in one round trip.
//
// Whoever follows the events remembers the id of the last one seen, so a smaller id must never appear after a larger
// one. A sequence alone does not see to that: its numbers are taken before the commit. Hence ids are taken under a lock
// that is given back by the commit, after it has become visible. Nothing else is waited for with that lock in hand (the
// rows that the events point to are locked before), so it makes no deadlock, and it is held for little more than the
// commit itself, where PostgreSQL lines up all that notify anyway. Reading only below the oldest transaction under way
// (pg_snapshot_xmin) would need no lock, but any program's long transaction in the same cluster would hold up every
// follower, and the order would not survive a backup, as transaction numbers are those of one cluster.
func (w *writing) tell(ctx context.Context) error {
	if len(w.events) > 0 {
		w.notify(Notice{Topic: TopicEvent})
	}
	if len(w.notices) == 0 {
		return nil
	}
	var b pgx.Batch
	if len(w.events) > 0 {
		lockEvents(&b)
	}
	for _, t := range w.events {
		queueEvent(&b, t)
	}
	for _, n := range w.notices {
		payload, err := json.Marshal(n)
		if err != nil {
			return err
		}
		b.Queue(`select pg_notify($1, $2)`, channel, string(payload))
	}
	return w.SendBatch(ctx, &b).Close()
}

// lockEvents has b wait for the lock under which events are given their ids, see tell.
func lockEvents(b *pgx.Batch) { b.Queue(`select pg_advisory_xact_lock($1, 0)`, eventSpace) }

// complete fills the empty fields of e from by.
func complete(e *hitchpost.Event, by By) {
	if e.Actor == "" {
		e.Actor = by.Actor
	}
	if e.Fingerprint == "" {
		e.Fingerprint = by.Fingerprint
	}
	if e.Source == "" {
		e.Source = by.source()
	}
	if e.Reason == "" {
		e.Reason = by.Reason
	}
	e.Actor, e.Reason = plain(e.Actor), plain(e.Reason)
}

func queueEvent(b *pgx.Batch, t told) {
	e := t.event
	complete(e, t.by)
	var session any
	if e.SessionID != "" {
		session = e.SessionID
	}
	b.Queue(`insert into terminal_events
			(session_id, at, change, from_state, to_state, actor, fingerprint, source, reason)
		values ($1, coalesce($2, clock_timestamp()), $3, $4, $5, $6, $7, $8, $9) returning id, at`,
		session, orNull(e.At), e.Kind, e.From, e.To, e.Actor, e.Fingerprint, e.Source, e.Reason).
		QueryRow(func(row pgx.Row) error { return row.Scan(&e.ID, (*moment)(&e.At)) })
}
