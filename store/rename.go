package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// Rename gives an open session a new title, and the handle that goes with it.
func (s *Store) Rename(ctx context.Context, id, title string, by By) (renamed hitchpost.Session, err error) {
	if err := hitchpost.CheckTitle(title); err != nil {
		return renamed, err
	}
	err = s.write(ctx, "rename a session", func(ctx context.Context, tx pgx.Tx) error {
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
		event := hitchpost.Event{SessionID: id, At: now, Kind: EventRenamed,
			Reason: fmt.Sprintf("%s is now %s", found.Handle, renamed.Handle)}
		if _, err := appendEvent(ctx, tx, event, by); err != nil {
			return err
		}
		return notify(ctx, tx, Notice{TopicSession, id})
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

// Touch notes when sessions last printed something, for many in one statement. Sessions that are not known, and times
// older than the one that is kept, change nothing. Nobody is notified.
func (s *Store) Touch(ctx context.Context, outputs []Output) error {
	if len(outputs) == 0 {
		return nil
	}
	ids, times := make([]string, len(outputs)), make([]time.Time, len(outputs))
	for i, o := range outputs {
		ids[i], times[i] = o.ID, o.At.UTC()
	}
	return s.write(ctx, "note the last output", func(ctx context.Context, tx pgx.Tx) error {
		// The rows are locked in the order of their ids, so that two of these never wait for each other.
		_, err := tx.Exec(ctx, `with seen as (
				select s.id, o.at from unnest($1::uuid[], $2::timestamptz[]) o (id, at) join terminal_sessions s on s.id = o.id
				where s.last_output_at is null or s.last_output_at < o.at
				order by s.id for no key update of s)
			update terminal_sessions s set last_output_at = seen.at from seen where s.id = seen.id`, ids, times)
		return err
	})
}

// SetPlace notes in which repository and on which branch sessions work, for many in one statement, and notifies of
// those where that is news.
func (s *Store) SetPlace(ctx context.Context, places []Place) error {
	if len(places) == 0 {
		return nil
	}
	ids, repos, branches := make([]string, len(places)), make([]string, len(places)), make([]string, len(places))
	for i, p := range places {
		ids[i], repos[i], branches[i] = p.ID, plain(p.Repo), plain(p.Branch)
	}
	return s.write(ctx, "note the repositories", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `with news as (
				select s.id, p.repo, p.branch from unnest($1::uuid[], $2::text[], $3::text[]) p (id, repo, branch)
				join terminal_sessions s on s.id = p.id
				where (s.repo, s.branch) is distinct from (p.repo, p.branch)
				order by s.id for no key update of s)
			update terminal_sessions s set repo = news.repo, branch = news.branch from news where s.id = news.id
			returning s.id::text`, ids, repos, branches)
		if err != nil {
			return err
		}
		changed, err := pgx.CollectRows(rows, pgx.RowTo[string])
		for _, id := range changed {
			err = errors.Join(err, notify(ctx, tx, Notice{TopicSession, id}))
		}
		return err
	})
}
