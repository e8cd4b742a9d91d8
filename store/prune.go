package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// pruneBatch is how many rows go in one transaction, so that each stays short.
const pruneBatch = 2000

// refusedShare is which part of the events that are kept may tell of refusals: strangers cause them, and must not push
// out what happened to sessions.
const refusedShare = 10

// The statements of the retention each remove up to $3 rows, from $2 up to $1, and tell how many went and where they
// ended. Each goes on where the last one ended: what it left behind is still in the index until the server has cleaned
// up, and would be passed over again and again, which takes longer each time while an older transaction is open.
const (
	pruneOld = `with gone as (delete from terminal_events where id in (
			select id from terminal_events where at < $1 and at >= $2 order by at limit $3) returning at)
		select count(*), max(at) from gone`
	pruneBeyond = `with gone as (delete from terminal_events where id in (
			select id from terminal_events where id <= $1 and id >= $2 order by id limit $3) returning id)
		select count(*), max(id) from gone`
	pruneRefused = `with gone as (delete from terminal_events where id in (
			select id from terminal_events where id <= $1 and id >= $2 and change = '` + EventRefused + `'
			order by id limit $3) returning id)
		select count(*), max(id) from gone`
	pruneLeft = `with gone as (delete from terminal_attachments where id in (
			select id from terminal_attachments where detached_at < $1 and detached_at >= $2 order by detached_at limit $3)
			returning detached_at)
		select count(*), max(detached_at) from gone`
)

// pruneSpan is how much of the past one pass removes at most.
const pruneSpan = 24 * time.Hour

// PruneBefore is the time for PruneEvents from before which events are older than retention. It goes by the database's
// clock, as the events do, whose clocks may be many machines'. No clock is believed at once: the time is at most a day
// after the oldest event that is there. Where a clock was set years ahead by mistake, a pass takes a day's events and
// not all of them, and there is time to set it right; after a long pause the passes catch up one by one.
func (s *Store) PruneBefore(ctx context.Context, retention time.Duration) (before time.Time, err error) {
	err = s.read(ctx, "see how old the events are", func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, `select least(clock_timestamp() - make_interval(secs => $1),
			(select min(at) from terminal_events) + make_interval(secs => $2))`,
			retention.Seconds(), pruneSpan.Seconds()).Scan((*moment)(&before))
	})
	return before, err
}

// PruneEvents removes the events from before a time and those beyond the newest keep, those of refusals beyond a tenth
// of it, and what is noted of clients that left before that time, in small steps. keep 0 or less sets no limit to their
// number. It returns how many events went, also when it ends early with an error. Nobody who appends or follows events
// waits for it.
func (s *Store) PruneEvents(ctx context.Context, before time.Time, keep int) (int64, error) {
	const op = "remove old events"
	longAgo := time.Unix(0, 0).UTC()
	events, err := prune(ctx, s, op, pruneOld, before.UTC(), longAgo)
	if err != nil {
		return events, err
	}
	if keep > 0 {
		for _, part := range []struct {
			sql, of string
			keep    int
		}{{pruneRefused, EventRefused, keep / refusedShare}, {pruneBeyond, "", keep}} {
			last, err := s.lastBeyond(ctx, part.of, part.keep)
			if err != nil {
				return events, err
			}
			more, err := prune(ctx, s, op, part.sql, last, 0)
			events += more
			if err != nil {
				return events, err
			}
		}
	}
	_, err = prune(ctx, s, "remove old attachments", pruneLeft, before.UTC(), longAgo)
	return events, err
}

// prune repeats a statement of those above until there is nothing left for it to remove.
func prune[T any](ctx context.Context, s *Store, op, sql string, limit, from T) (all int64, err error) {
	for {
		var gone int64
		end := &from
		err := s.write(ctx, op, func(ctx context.Context, tx *writing) error {
			if _, err := tx.Exec(ctx, `select set_config('hitchpost.retention', 'on', true)`); err != nil {
				return err
			}
			return tx.QueryRow(ctx, sql, limit, from, pruneBatch).Scan(&gone, &end)
		})
		if err != nil {
			return all, err
		}
		if all += gone; gone < pruneBatch {
			return all, nil
		}
		from = *end
	}
}

// lastBeyond is the id of the newest event that is not among the newest keep of a kind, or of all where that is empty;
// 0 where there are no more than those.
func (s *Store) lastBeyond(ctx context.Context, kind string, keep int) (id int64, err error) {
	err = s.read(ctx, "count the events", func(ctx context.Context, q querier) error {
		err := q.QueryRow(ctx, `select id from terminal_events where $2 = '' or change = $2
			order by id desc offset $1 limit 1`, keep, kind).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return id, err
}
