package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/tern/v2/migrate"

	"github.com/hitchpost/hitchpost"
)

// ErrNotEmpty is the cause of the error of a Restore that would have to replace something.
var ErrNotEmpty = errors.New("the store is not empty")

// Restoring is what Restore is to bring back.
type Restoring struct {
	Inventory
	// Replace lets what the store holds be replaced. Without it only an empty one is filled.
	Replace bool
	By      By // of the event that tells of it
	// Feed hands load every chunk of the dump, in the order in which they came. An error of it ends the whole.
	Feed func(load func(table string, rows io.Reader) error) error
	// Ready is called when nothing is left to do but to commit; an error of it ends the whole. May be nil.
	Ready func() error
}

// Restore fills the store with a dump, in one transaction: it makes the schema that the dump was taken from, fills it,
// and brings it to that of this program. Everybody sees the store as it was before or the whole of what was brought
// back. A schema newer than the program, a service that uses the database, and a store that holds something all give
// ConflictError.
func (s *Store) Restore(ctx context.Context, r Restoring) error {
	const op = "restore the database"
	known, err := steps()
	if err != nil {
		return err
	}
	switch {
	case r.Schema > int32(len(known)):
		return newer("the backup", r.Schema, int32(len(known)))
	case r.Schema < 1:
		return hitchpost.Errorf(hitchpost.FailedError, "the backup names no schema").Hinted("use another backup")
	}
	conn, err := s.connect(ctx)
	if err != nil {
		return fault(op, err)
	}
	defer closeNow(ctx, conn)
	if err := s.short(ctx, func(ctx context.Context) error {
		_ = noticeDeath(ctx, conn) // so that a killed run holds no locks
		return suits(ctx, conn)
	}); err != nil {
		return fault(op, err)
	}
	if err := unused(ctx, conn); err != nil {
		return fault(op, causeOf(ctx, err))
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		f := filler{Restoring: r, tx: tx, loaded: map[string]int64{}}
		return f.fill(ctx, known)
	})
	var own feedError
	if errors.As(err, &own) {
		return own.error
	}
	return fault(op, causeOf(ctx, err))
}

// feedError marks an error of the caller's own.
type feedError struct{ error }

func (e feedError) Unwrap() error { return e.error }

// unused waits a little until no service holds a lease, as one that was just stopped may do for a moment.
func unused(ctx context.Context, conn *pgx.Conn) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); ; {
		var used bool
		err := conn.QueryRow(ctx, `select exists (select from pg_locks where locktype = 'advisory' and classid = $1
			and objsubid = 2 and database = (select oid from pg_database where datname = current_database()))`, leaseSpace).
			Scan(&used)
		switch {
		case err != nil || !used:
			return err
		case time.Since(began) > Deadline:
			return hitchpost.Errorf(hitchpost.ConflictError, "a service uses the database").
				Hinted("stop every service of it first")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// filler is one Restore under way.
type filler struct {
	Restoring
	tx     pgx.Tx
	loaded map[string]int64 // rows by table
}

func (f *filler) fill(ctx context.Context, known []*migrate.Migration) error {
	// Nobody waits for a lock longer than for an answer, we neither.
	if err := f.run(ctx, fmt.Sprintf(`set local lock_timeout = %d; `, Deadline.Milliseconds())+copyText); err != nil {
		return err
	}
	if err := f.clear(ctx); err != nil {
		return err
	}
	if err := f.climb(ctx, known[:f.Schema]); err != nil {
		return err
	}
	if err := f.fits(ctx); err != nil {
		return err
	}
	if err := f.Feed(func(table string, rows io.Reader) error { return f.load(ctx, table, rows) }); err != nil {
		return feedError{err}
	}
	for _, t := range f.Tables {
		if f.loaded[t.Name] != t.Rows {
			return hitchpost.Errorf(hitchpost.FailedError, "the backup has %d rows of %s and should have %d",
				f.loaded[t.Name], t.Name, t.Rows).Hinted("use another backup")
		}
	}
	for _, q := range f.Sequences {
		if _, err := f.tx.Exec(ctx, `select setval(pg_get_serial_sequence(quote_ident($1), $2), $3)`, q.Table, q.Column,
			q.Last); err != nil {
			return err
		}
	}
	if err := f.climb(ctx, known[f.Schema:]); err != nil {
		return err
	}
	w := &writing{Tx: f.tx}
	w.append(&hitchpost.Event{Kind: EventRestored}, f.By)
	w.notify(Notice{Topic: TopicAll})
	if err := w.tell(ctx); err != nil {
		return err
	}
	if f.Ready == nil {
		return nil
	}
	if err := f.Ready(); err != nil {
		return feedError{err}
	}
	return nil
}

// clear removes all of Hitchpost from the database, so that the schema of the dump can be made anew. What somebody else
// has built on it is not removed along with it, and is in the way.
func (f *filler) clear(ctx context.Context) error {
	found, err := tables(ctx, f.tx)
	if err != nil {
		return err
	}
	names := []string{versionTable}
	for _, t := range found {
		name := pgx.Identifier{t.Name}.Sanitize()
		names = append(names, name)
		if f.Replace {
			continue
		}
		var holds bool
		if err := f.tx.QueryRow(ctx, `select exists (select from `+name+`)`).Scan(&holds); err != nil {
			return err
		}
		if holds {
			return hitchpost.Errorf(hitchpost.ConflictError, "%w", ErrNotEmpty).
				Hinted("restore into an empty one, or have it replaced")
		}
	}
	if err := f.run(ctx, `drop table if exists `+strings.Join(names, ", ")); err != nil {
		return err
	}
	rows, err := f.tx.Query(ctx, `select oid::regprocedure::text from pg_proc where pronamespace`+ourSchema+
		`and proname`+ourNames)
	if err != nil {
		return err
	}
	functions, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range functions {
		if err := f.run(ctx, `drop function `+name); err != nil {
			return err
		}
	}
	return f.run(ctx, `create table `+versionTable+` (version int4 not null); insert into `+versionTable+` values (0)`)
}

// climb makes steps of the schema, and notes the last.
func (f *filler) climb(ctx context.Context, steps []*migrate.Migration) error {
	for _, m := range steps {
		if err := f.run(ctx, m.UpSQL); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		if _, err := f.tx.Exec(ctx, `update `+versionTable+` set version = $1`, m.Sequence); err != nil {
			return err
		}
	}
	return nil
}

// fits checks the tables of the dump against the schema that it names; their names go into statements.
func (f *filler) fits(ctx context.Context) error {
	found, err := tables(ctx, f.tx)
	if err != nil {
		return err
	}
	for _, t := range f.Tables {
		i := slices.IndexFunc(found, func(o Table) bool { return o.Name == t.Name })
		if i < 0 || slices.ContainsFunc(t.Columns, func(c string) bool { return !slices.Contains(found[i].Columns, c) }) {
			return hitchpost.Errorf(hitchpost.FailedError, "the backup holds %q, which schema %d does not have", t.Name,
				f.Schema).Hinted("restore it with the hitchpost that made it")
		}
	}
	return nil
}

// load adds one chunk.
func (f *filler) load(ctx context.Context, table string, rows io.Reader) error {
	i := slices.IndexFunc(f.Tables, func(t Table) bool { return t.Name == table })
	if i < 0 {
		return hitchpost.Errorf(hitchpost.FailedError, "the backup has rows of %q, which its list does not name", table).
			Hinted("use another backup")
	}
	ctx, stop := context.WithTimeoutCause(ctx, stalled, errDeadline)
	defer stop()
	tag, err := f.tx.Conn().PgConn().CopyFrom(ctx, rows, copyOf(f.Tables[i])+" from stdin")
	f.loaded[table] += tag.RowsAffected()
	return fault("fill "+table, causeOf(ctx, err))
}

// run runs statements without parameters, several at once.
func (f *filler) run(ctx context.Context, sql string) error {
	_, err := f.tx.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
	return err
}
