package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// EventBefore is the id of the event behind which the last n of those are that r chooses and whose kind is none of
// without; what r has for After where they are no more than n. r.Limit counts for nothing.
func (s *Store) EventBefore(ctx context.Context, r hitchpost.EventRequest, n int, without []string) (id int64, err error) {
	err = s.read(ctx, "count the events", func(ctx context.Context, q querier) error {
		err := q.QueryRow(ctx, `select id from terminal_events
			where id > $2 and ($1::uuid is null or session_id = $1) and ($3::timestamptz is null or at >= $3)
				and change <> all(coalesce($4::text[], '{}'))
			order by id desc offset $5 limit 1`, idOrNull(r.Session), r.After, orNull(r.Since), without, n).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			id = r.After
			return nil
		}
		return err
	})
	return id, err
}
