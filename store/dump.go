package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hitchpost/hitchpost"
)

// stalled is how long Dump and Restore wait for a server that neither takes nor gives anything.
const stalled = 30 * time.Second

// chunkSize is about how many bytes of rows come at once.
const chunkSize = 1 << 20

// Dump gives put all rows of all tables as they are at one instant, in chunks of whole rows, while others go on to read
// and write. A chunk is text of COPY (PostgreSQL manual, COPY, "Text Format"), which every version of PostgreSQL reads,
// and is put's for the time of the call. Tables come in the order of the Inventory. A schema that is newer than the
// program gives ConflictError, an error of put is returned as it is.
func (s *Store) Dump(ctx context.Context, put func(table string, rows []byte) error) (Inventory, error) {
	const op = "back up the database"
	known, err := steps()
	if err != nil {
		return Inventory{}, err
	}
	conn, err := s.connect(ctx)
	if err != nil {
		return Inventory{}, fault(op, err)
	}
	defer closeNow(ctx, conn)
	d := dumper{put: put, known: int32(len(known))}
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		return d.dump(ctx, tx)
	})
	if d.putErr != nil {
		return Inventory{}, d.putErr
	}
	return d.Inventory, fault(op, causeOf(ctx, err))
}

// dumper is one Dump under way.
type dumper struct {
	Inventory
	put    func(table string, rows []byte) error
	putErr error
	known  int32 // the newest schema that this program knows
}

func (d *dumper) dump(ctx context.Context, tx pgx.Tx) error {
	// A migration writes the version, so none comes between. The lock is taken before the snapshot, which begins with the
	// first query.
	_, err := tx.Exec(ctx, `set local lock_timeout = '30s'; lock table `+versionTable+` in share mode; `+copyText,
		pgx.QueryExecModeSimpleProtocol)
	if code(err) == "42P01" { // undefined_table
		return nothing()
	}
	if err != nil {
		return err
	}
	if err := tx.QueryRow(ctx, `select version from `+versionTable).Scan(&d.Schema); err != nil {
		return err
	}
	switch {
	case d.Schema > d.known:
		return newer("the database", d.Schema, d.known)
	case d.Schema < 1:
		return nothing()
	}
	if d.Tables, err = tables(ctx, tx); err != nil {
		return err
	}
	for i := range d.Tables {
		if err := d.table(ctx, tx.Conn().PgConn(), &d.Tables[i]); err != nil {
			return err
		}
	}
	d.Sequences, err = sequences(ctx, tx)
	return err
}

func nothing() error {
	return hitchpost.Errorf(hitchpost.NotFoundError, "the database holds nothing of hitchpost").
		Hinted("check that it is the right one")
}

func (d *dumper) table(ctx context.Context, conn *pgconn.PgConn, t *Table) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	idle := time.AfterFunc(stalled, func() { stop(errDeadline) })
	defer idle.Stop()
	c := &chunker{put: func(rows []byte) error {
		idle.Stop() // the time that put takes is not the server's
		defer idle.Reset(stalled)
		d.putErr = d.put(t.Name, rows)
		return d.putErr
	}}
	tag, err := conn.CopyTo(ctx, c, copyOf(*t)+" to stdout")
	if err != nil {
		return causeOf(ctx, err)
	}
	t.Rows = tag.RowsAffected()
	return c.flush()
}

// chunker cuts the text of COPY into chunks that end with a row. In that text a line feed is never part of a value.
type chunker struct {
	rows []byte
	put  func([]byte) error
}

func (c *chunker) Write(p []byte) (int, error) {
	c.rows = append(c.rows, p...)
	if len(c.rows) >= chunkSize && c.rows[len(c.rows)-1] == '\n' {
		return len(p), c.flush()
	}
	return len(p), nil
}

func (c *chunker) flush() error {
	if len(c.rows) == 0 {
		return nil
	}
	err := c.put(c.rows)
	c.rows = c.rows[:0]
	return err
}
