package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// pruneBatch is how many rows go in one transaction, so that each stays short.
const pruneBatch = 2000

// PruneEvents removes the events from before a time and those beyond the newest keep, and what is noted of clients that
// left before that time, in small steps. keep 0 or less sets no limit to their number. It returns how many events went,
// also when it ends early with an error.
func (s *Store) PruneEvents(ctx context.Context, before time.Time, keep int) (int64, error) {
	events, err := s.prune(ctx, "remove old events", `delete from terminal_events where id in (
		select id from terminal_events where at < $1 order by at limit $2)`, before.UTC())
	if err != nil {
		return events, err
	}
	if keep > 0 {
		last, err := s.lastBeyond(ctx, keep)
		if err != nil {
			return events, err
		}
		more, err := s.prune(ctx, "remove old events", `delete from terminal_events where id in (
			select id from terminal_events where id <= $1 order by id limit $2)`, last)
		events += more
		if err != nil {
			return events, err
		}
	}
	_, err = s.prune(ctx, "remove old attachments", `delete from terminal_attachments where id in (
		select id from terminal_attachments where detached_at < $1 order by detached_at limit $2)`, before.UTC())
	return events, err
}

// prune repeats a statement that removes up to $2 rows, those that $1 sets the limit of, until there are none.
func (s *Store) prune(ctx context.Context, op, sql string, limit any) (all int64, err error) {
	for {
		var gone int64
		err := s.write(ctx, op, func(ctx context.Context, tx *writing) error {
			if _, err := tx.Exec(ctx, `select set_config('hitchpost.retention', 'on', true)`); err != nil {
				return err
			}
			tag, err := tx.Exec(ctx, sql, limit, pruneBatch)
			gone = tag.RowsAffected()
			return err
		})
		if err != nil {
			return all, err
		}
		if all += gone; gone < pruneBatch {
			return all, nil
		}
	}
}

// lastBeyond is the id of the newest event that is not among the newest keep; 0 where there are no more than those.
func (s *Store) lastBeyond(ctx context.Context, keep int) (id int64, err error) {
	err = s.read(ctx, "count the events", func(ctx context.Context, q querier) error {
		err := q.QueryRow(ctx, `select id from terminal_events order by id desc offset $1 limit 1`, keep).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return id, err
}
