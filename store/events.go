package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// The kinds of event that change no state.
const (
	EventRenamed    = "renamed"
	EventJoined     = "joined" // a client attached, and the state stayed
	EventParted     = "parted" // a client left, and the state stayed
	EventKeyAdded   = "key_added"
	EventKeyRevoked = "key_revoked"
	EventOnline     = "node_online"
	EventOffline    = "node_offline"
)

// eventPage is how many events come at once where no limit is given, and eventPageMax how many at most.
const (
	eventPage    = 1000
	eventPageMax = 10_000
)

// source is where by is known from.
func (by By) source() hitchpost.Source {
	switch {
	case by.Source != "":
		return by.Source
	case by.Actor != "":
		return hitchpost.FromPerson
	default:
		return hitchpost.FromReconciler
	}
}

// Events lists up to limit events with an id above after, in the order in which they were appended: those of one
// session, or all where sessionID is empty. limit 0 means 1000; there are never more than 10,000.
func (s *Store) Events(ctx context.Context, sessionID string, after int64, limit int) (list []hitchpost.Event, err error) {
	if limit <= 0 {
		limit = eventPage
	}
	var session any
	if sessionID != "" {
		session = sessionID
	}
	err = s.read(ctx, "read the events", func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, `select id, coalesce(session_id::text, ''), at, change, from_state, to_state, actor, source,
				reason
			from terminal_events where id > $2 and ($1::uuid is null or session_id = $1)
			order by id limit $3`, session, after, min(limit, eventPageMax))
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e hitchpost.Event, err error) {
			err = row.Scan(&e.ID, &e.SessionID, (*moment)(&e.At), &e.Kind, &e.From, &e.To, &e.Actor, &e.Source, &e.Reason)
			return e, err
		})
		return err
	})
	return list, err
}

// AppendEvent keeps an event that is of no change of state; those are appended with the change. Empty fields are
// filled from by and the clock.
func (s *Store) AppendEvent(ctx context.Context, e hitchpost.Event, by By) (kept hitchpost.Event, err error) {
	err = s.write(ctx, "keep an event", func(ctx context.Context, tx pgx.Tx) error {
		if kept, err = appendEvent(ctx, tx, e, by); err != nil || e.SessionID == "" {
			return err
		}
		return notify(ctx, tx, Notice{TopicSession, e.SessionID})
	})
	return kept, err
}

// appendEvent writes e in the transaction of what it tells of.
func appendEvent(ctx context.Context, tx pgx.Tx, e hitchpost.Event, by By) (hitchpost.Event, error) {
	if e.Actor == "" {
		e.Actor = by.Actor
	}
	if e.Source == "" {
		e.Source = by.source()
	}
	if e.Reason == "" {
		e.Reason = by.Reason
	}
	e.Actor, e.Reason = plain(e.Actor), plain(e.Reason)
	var session any
	if e.SessionID != "" {
		session = e.SessionID
	}
	err := tx.QueryRow(ctx, `insert into terminal_events
			(session_id, at, change, from_state, to_state, actor, fingerprint, source, reason)
		values ($1, coalesce($2, clock_timestamp()), $3, $4, $5, $6, $7, $8, $9) returning id, at`,
		session, orNull(e.At), e.Kind, e.From, e.To, e.Actor, by.Fingerprint, e.Source, e.Reason).
		Scan(&e.ID, (*moment)(&e.At))
	return e, err
}

// pruneBatch is how many rows go in one transaction, so that each stays short.
const pruneBatch = 2000

// PruneEvents removes the events from before a time, and what is kept of clients that left before it, in small steps.
// It returns how many events went, also when it ends early with an error.
func (s *Store) PruneEvents(ctx context.Context, before time.Time) (int64, error) {
	var events int64
	for {
		var gone int64
		err := s.write(ctx, "remove old events", func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `select set_config('hitchpost.retention', 'on', true)`); err != nil {
				return err
			}
			tag, err := tx.Exec(ctx, `delete from terminal_events where id in (
				select id from terminal_events where at < $1 order by at limit $2)`, before.UTC(), pruneBatch)
			gone = tag.RowsAffected()
			return err
		})
		if err != nil {
			return events, err
		}
		events += gone
		if gone < pruneBatch {
			break
		}
	}
	return events, s.write(ctx, "remove old attachments", func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `delete from terminal_attachments where detached_at < $1`, before.UTC())
		return err
	})
}
