package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// Rename gives an open session a new title, and the handle that goes with it.
func (s *Store) Rename(ctx context.Context, id, title string, by By) (renamed hitchpost.Session, err error) {
	if err := hitchpost.CheckTitle(title); err != nil {
		return renamed, err
	}
	err = s.write(ctx, "rename a session", func(ctx context.Context, tx *writing) error {
		found, now, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if !found.Open() {
			return hitchpost.Errorf(hitchpost.ConflictError, "session %s is closed", found.Handle)
		}
		if err := retitle(ctx, tx, found.ID, title); err != nil {
			return err
		}
		if renamed, err = load(ctx, tx, id); err != nil {
			return err
		}
		tx.append(&hitchpost.Event{SessionID: id, At: now, Kind: EventRenamed,
			Reason: fmt.Sprintf("%s is now %s", found.Handle, renamed.Handle)}, by)
		tx.notify(Notice{TopicSession, id})
		return nil
	})
	return renamed, err
}

// retitle writes the title with a free handle. An update has no ON CONFLICT, so each try that another may spoil is in
// a savepoint.
func retitle(ctx context.Context, tx pgx.Tx, id, title string) error {
	for {
		handle, err := freeHandle(ctx, tx, hitchpost.Handle(title), id)
		if err != nil {
			return err
		}
		err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `update terminal_sessions set title = $2, handle = $3 where id = $1 and closed_at is null`,
				id, title, handle)
			return err
		})
		if constraint(err) != "terminal_sessions_open_handle" {
			return err
		}
	}
}
