package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// Attach notes that a client is attached to a live session, which is RUNNING then unless it waits for a person, and
// that it is the last one its key and client used. A session that is not live gives ConflictError.
func (s *Store) Attach(ctx context.Context, a Attachment) (attached hitchpost.Session, err error) {
	by := By{Actor: a.Actor, Fingerprint: a.Fingerprint, Source: hitchpost.FromPerson, Reason: "attached"}
	if a.ReadOnly {
		by.Reason = "attached to look on"
	}
	err = s.write(ctx, "attach to a session", func(ctx context.Context, tx *writing) error {
		found, now, err := lock(ctx, tx, a.Session)
		if err != nil {
			return err
		}
		if !found.Open() || !found.State.Live() {
			return refused(found, hitchpost.ChangeAttached)
		}
		_, err = tx.Exec(ctx, `insert into terminal_attachments
				(id, session_id, node_id, actor, fingerprint, client, read_only, attached_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8)`,
			a.ID, a.Session, a.Node, plain(a.Actor), a.Fingerprint, plain(a.Client), a.ReadOnly, now)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `update terminal_sessions set last_attached_at = $2 where id = $1`, a.Session, now)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `update terminal_keys set last_session = $2 where fingerprint = $1`, a.Fingerprint,
			a.Session); err != nil {
			return err
		}
		attached, err = recount(ctx, tx, found, by, now, EventJoined)
		return err
	})
	return attached, err
}

// Detach notes that a client is gone, and why. A second one for the same attachment changes nothing; of one that is not known
// comes NotFoundError.
func (s *Store) Detach(ctx context.Context, id, reason string) (left hitchpost.Session, err error) {
	if _, err := uuid.Parse(id); err != nil {
		return left, noAttachment()
	}
	err = s.write(ctx, "detach from a session", func(ctx context.Context, tx *writing) error {
		by := By{Source: hitchpost.FromPerson, Reason: reason}
		var session string
		err := tx.QueryRow(ctx, `select session_id::text, actor, fingerprint from terminal_attachments where id = $1`, id).
			Scan(&session, &by.Actor, &by.Fingerprint)
		if errors.Is(err, pgx.ErrNoRows) {
			return noAttachment()
		}
		if err != nil {
			return err
		}
		found, now, err := lock(ctx, tx, session)
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `update terminal_attachments set detached_at = $2 where id = $1 and detached_at is null`,
			id, now)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			left = found
			return nil
		}
		if err := revise(ctx, tx, session); err != nil {
			return err
		}
		left, err = recount(ctx, tx, found, by, now, EventParted)
		return err
	})
	return left, err
}

func noAttachment() error {
	return hitchpost.Errorf(hitchpost.NotFoundError, "there is no such attachment")
}

// DropAttachments ends every attachment that the node with that id holds, in one transaction: what a service that was
// killed left behind. Only the service of that node may call it, before it takes clients.
func (s *Store) DropAttachments(ctx context.Context, nodeID string) error {
	return s.write(ctx, "end the attachments of a killed service", func(ctx context.Context, tx *writing) error {
		// In the order of the ids, so that two of these never wait for each other.
		rows, err := tx.Query(ctx, `select distinct session_id::text from terminal_attachments
			where node_id = $1 and detached_at is null order by 1`, nodeID)
		if err != nil {
			return err
		}
		sessions, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		by := By{Source: hitchpost.FromReconciler, Reason: "the service ended without taking leave"}
		for _, id := range sessions {
			found, now, err := lock(ctx, tx, id)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `update terminal_attachments set detached_at = $3
				where session_id = $1 and node_id = $2 and detached_at is null`, id, nodeID, now); err != nil {
				return err
			}
			if err := revise(ctx, tx, id); err != nil {
				return err
			}
			if _, err := recount(ctx, tx, found, by, now, EventParted); err != nil {
				return err
			}
		}
		return nil
	})
}

// revise gives a session a new revision, as any update does, where what changed is the number of its clients alone.
func revise(ctx context.Context, tx pgx.Tx, id string) error {
	_, err := tx.Exec(ctx, `update terminal_sessions set revision = revision where id = $1`, id)
	return err
}

// recount brings a locked session's state in line after clients came or went, and sees to it that an event tells of
// them: that of the change of state, or one called otherwise where the state stays.
func recount(ctx context.Context, tx *writing, found hitchpost.Session, by By, now time.Time, otherwise string) (
	hitchpost.Session, error) {
	s, err := load(ctx, tx, found.ID)
	if err != nil {
		return s, err
	}
	s, err = settle(ctx, tx, s, by, now)
	if err != nil {
		return s, err
	}
	if s.State == found.State {
		tx.append(&hitchpost.Event{SessionID: s.ID, At: now, Kind: otherwise, Reason: by.Reason}, by)
	}
	tx.notify(Notice{TopicSession, s.ID})
	return s, nil
}
