package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// The kinds of event that change no state.
const (
	EventRenamed      = "renamed"
	EventNoted        = "noted"               // its note was written
	EventCheckSet     = "check_set"           // it got another check command, or none
	EventCheckpoint   = "checkpoint"          // its files were kept, for somebody or before a restart
	EventRestoredTo   = "checkpoint_restored" // a branch was made of one
	EventWorktreeGone = "worktree_removed"
	EventAttention    = "attention"    // its agent asked for a person; nobody knows whether it still does
	EventConversation = "conversation" // its agent left the conversation for another one
	EventSent         = "sent"         // text or keys were typed into it by a command
	EventJoined       = "joined"       // a client attached, and the state stayed
	EventParted       = "parted"       // a client left, and the state stayed
	EventLogin        = "login"
	EventRefused      = "refused" // somebody was not let in
	EventKeyAdded     = "key_added"
	EventKeyRevoked   = "key_revoked"
	EventOnline       = "node_online"
	EventOffline      = "node_offline"
	EventRestored     = "restored" // the store came back from a backup
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
		rows, err := q.Query(ctx, `select e.id, coalesce(e.session_id::text, ''), coalesce(s.handle, ''), e.at, e.change,
				e.from_state, e.to_state, e.actor, e.fingerprint, e.source, e.reason
			from (select * from terminal_events
				where id > $2 and ($1::uuid is null or session_id = $1) and ($3::timestamptz is null or at >= $3)
				order by id limit $4) e
			left join terminal_sessions s on s.id = e.session_id
			order by e.id`, session, r.After, orNull(r.Since), min(limit, eventPageMax))
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e hitchpost.Event, err error) {
			err = row.Scan(&e.ID, &e.SessionID, &e.Handle, (*moment)(&e.At), &e.Kind, &e.From, &e.To, &e.Actor,
				&e.Fingerprint, &e.Source, &e.Reason)
			return e, err
		})
		return err
	})
	return list, err
}

// LastEvent is the id of the newest event, 0 where there is none. Whoever follows from there misses nothing that is
// appended after the call.
func (s *Store) LastEvent(ctx context.Context) (id int64, err error) {
	err = s.read(ctx, "read the events", func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, `select coalesce(max(id), 0) from terminal_events`).Scan(&id)
	})
	return id, err
}

// AppendEvent keeps an event that is of no change of state, such as a login; those are appended with the change. Empty
// fields are filled from by and the clock. One that has a time is kept once: who had no answer, and does not know
// whether it was kept, may append the same again. Who appends what strangers can cause, such as refusals, bounds how
// often.
func (s *Store) AppendEvent(ctx context.Context, e hitchpost.Event, by By) (hitchpost.Event, error) {
	var kept hitchpost.Event
	err := s.write(ctx, "keep an event", func(ctx context.Context, tx *writing) error {
		kept = e
		complete(&kept, by)
		if e.SessionID != "" {
			// The row is locked as the foreign key will, and not only then: see tell.
			_, err := tx.Exec(ctx, `select from terminal_sessions where id = $1 for key share`, e.SessionID)
			if err != nil {
				return err
			}
		}
		if again, err := keptBefore(ctx, tx, &kept); again || err != nil {
			return err
		}
		tx.append(&kept, by)
		if e.SessionID != "" {
			tx.notify(Notice{TopicSession, e.SessionID})
		}
		return nil
	})
	return kept, err
}

// keptBefore finds an event that has a time of its own among those that are kept, and its id. It looks with the lock of
// the events in hand: who gave up waiting for an answer may ask again while the first time is still on its way to be kept.
func keptBefore(ctx context.Context, tx *writing, e *hitchpost.Event) (kept bool, err error) {
	if e.At.IsZero() {
		return false, nil
	}
	e.At = micros(e.At)
	var b pgx.Batch
	lockEvents(&b)
	b.Queue(`select id from terminal_events where at = $1 and change = $2 and actor = $3 and fingerprint = $4
			and reason = $5 and coalesce(session_id::text, '') = $6 limit 1`,
		e.At, e.Kind, e.Actor, e.Fingerprint, e.Reason, e.SessionID).
		QueryRow(func(row pgx.Row) error {
			err := row.Scan(&e.ID)
			kept = err == nil
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		})
	return kept, tx.SendBatch(ctx, &b).Close()
}
