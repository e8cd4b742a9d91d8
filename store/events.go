package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// The kinds of event that change no state.
const (
	EventRenamed    = "renamed"
	EventJoined     = "joined" // a client attached, and the state stayed
	EventParted     = "parted" // a client left, and the state stayed
	EventLogin      = "login"
	EventRefused    = "refused" // somebody was not let in
	EventKeyAdded   = "key_added"
	EventKeyRevoked = "key_revoked"
	EventOnline     = "node_online"
	EventOffline    = "node_offline"
	EventRestored   = "restored" // the store came back from a backup
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

// Events lists the events that r chooses, in the order of their ids, which is the order in which they were committed:
// none appears later with an id below one that was read. So whoever asks again with the last id gets every event once.
// No limit means 1000; there are never more than 10,000.
func (s *Store) Events(ctx context.Context, r hitchpost.EventRequest) (list []hitchpost.Event, err error) {
	limit := r.Limit
	if limit <= 0 {
		limit = eventPage
	}
	var session any
	if r.Session != "" {
		session = r.Session
	}
	err = s.read(ctx, "read the events", func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, `select id, coalesce(session_id::text, ''), at, change, from_state, to_state, actor, source,
				reason
			from terminal_events
			where id > $2 and ($1::uuid is null or session_id = $1) and ($3::timestamptz is null or at >= $3)
			order by id limit $4`, session, r.After, orNull(r.Since), min(limit, eventPageMax))
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

// AppendEvent keeps an event that is of no change of state, such as a login; those are appended with the change. Empty
// fields are filled from by and the clock. Who appends what strangers can cause, such as refusals, bounds how often.
func (s *Store) AppendEvent(ctx context.Context, e hitchpost.Event, by By) (hitchpost.Event, error) {
	var kept hitchpost.Event
	err := s.write(ctx, "keep an event", func(ctx context.Context, tx *writing) error {
		kept = e
		tx.append(&kept, by)
		if e.SessionID == "" {
			return nil
		}
		tx.notify(Notice{TopicSession, e.SessionID})
		// The row is locked as the foreign key will, and not only then: see tell.
		_, err := tx.Exec(ctx, `select from terminal_sessions where id = $1 for key share`, e.SessionID)
		return err
	})
	return kept, err
}
