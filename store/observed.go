package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Touch notes when sessions last printed something, for many in one statement. Sessions that are not known, and times
// older than the one that is kept, change nothing, unless that lies in the future: it was noted while a clock was set
// wrong. Nobody is notified.
func (s *Store) Touch(ctx context.Context, outputs []Output) error {
	if len(outputs) == 0 {
		return nil
	}
	ids, times := make([]string, len(outputs)), make([]time.Time, len(outputs))
	for i, o := range outputs {
		ids[i], times[i] = o.ID, o.At.UTC()
	}
	return s.write(ctx, "note the last output", func(ctx context.Context, tx *writing) error {
		// The rows are locked in the order of their ids, so that two of these never wait for each other.
		_, err := tx.Exec(ctx, `with seen as (
				select s.id, o.at from unnest($1::uuid[], $2::timestamptz[]) o (id, at) join terminal_sessions s on s.id = o.id
				where s.last_output_at is null or s.last_output_at < o.at
					or s.last_output_at > clock_timestamp() + interval '1 minute'
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
	return s.write(ctx, "note the repositories", func(ctx context.Context, tx *writing) error {
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
			tx.notify(Notice{TopicSession, id})
		}
		return err
	})
}
