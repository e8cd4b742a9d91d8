package store

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hitchpost/hitchpost"
)

// poolSize is how many connections are used at most, unless the URL says otherwise with pool_max_conns. A call waits
// for a free one within its deadline. Listen, Migrate and each Lease have a connection of their own besides.
const poolSize = 10

// Store is an open database. All its methods may be called from many goroutines at once.
type Store struct {
	pool *pgxpool.Pool
	conf *pgx.ConnConfig
	log  *slog.Logger
	why  func() error // see ExplainedBy; may be nil
}

// ExplainedBy is the same store with errors that say more: where the database is away why is asked what it knows of
// that, such as a full disk. Nil is nothing. It must not block.
func (s *Store) ExplainedBy(why func() error) *Store {
	explained := *s
	explained.why = why
	return &explained
}

// Open reads url, which is anything that libpq understands, and makes ready to connect: it does not wait for the
// database, which may be away now and come later. Only the URL itself can be wrong, and gives UsageError. The caller
// closes the store.
func Open(ctx context.Context, url string, log *slog.Logger) (*Store, error) {
	conf, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The error of pgx hides the password.
		return nil, hitchpost.Errorf(hitchpost.UsageError, "the database URL cannot be read: %w", err)
	}
	if !strings.Contains(url, "pool_max_conns") {
		conf.MaxConns = poolSize
	}
	conf.MaxConnIdleTime = 5 * time.Minute
	conf.PingTimeout = Deadline / 3 // leaves time to try another connection within the call's deadline
	conf.AfterConnect = limit
	conf.BeforeClose = farewell
	prepare(conf.ConnConfig)
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return nil, fault("open the database", err)
	}
	return &Store{pool: pool, conf: conf.ConnConfig.Copy(), log: log}, nil
}

// prepare makes c fit for every connection of the store.
func prepare(c *pgx.ConnConfig) {
	// A pool goes on dialing when the call that wanted the connection has given up, and that takes a place meanwhile.
	c.ConnectTimeout = Deadline
	// Of several hosts the one that takes writes, and none of them while there is none: a server that was demoted
	// answers pings all the same.
	c.ValidateConnect = takesWrites
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "hitchpost"
	}
}

// takesWrites is target_session_attrs=read-write, with an error that tells a server that takes no writes from others.
func takesWrites(ctx context.Context, c *pgconn.PgConn) error {
	results, err := c.Exec(ctx, "show transaction_read_only").ReadAll()
	if err == nil && len(results) == 1 && len(results[0].Rows) == 1 && string(results[0].Rows[0][0]) == "off" {
		return nil
	}
	if err == nil {
		err = errReadOnly()
	}
	return err
}

// errReadOnly is the error that a write to a server that takes none would have given, so that both are handled alike.
func errReadOnly() error {
	return &pgconn.PgError{Severity: "ERROR", Code: readOnlyTransaction, Message: "the server takes no writes"}
}

// limit bounds what a connection may leave behind on the server when its call has given up or its process was stopped:
// a lock held for ever would stop everyone else. They are set here and not as startup parameters, which connection
// poolers refuse.
func limit(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, `select set_config('statement_timeout', $1, false), set_config('lock_timeout', $1, false),
		set_config('idle_in_transaction_session_timeout', $2, false)`,
		Deadline.String(), (2 * Deadline).String())
	return err
}

// connect makes a connection outside the pool, for work that keeps one for long. The caller closes it.
func (s *Store) connect(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Deadline, errDeadline)
	defer cancel()
	c, err := pgx.ConnectConfig(ctx, s.conf.Copy())
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	return c, nil
}

// Close ends every connection. It waits for calls under way, but no longer than Deadline: what a server that hangs still
// holds by then ends by itself a moment later. Leases and Listen have connections of their own, and end by their own
// means.
func (s *Store) Close() {
	done := make(chan struct{})
	go func() { // ends soon, see farewell
		defer close(done)
		s.pool.Close()
	}()
	t := time.NewTimer(Deadline)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// farewell bounds how long the end of a connection waits for the server to take note, which the pool does for 15 s.
func farewell(c *pgx.Conn) {
	_ = c.PgConn().Conn().SetDeadline(time.Now().Add(time.Second))
}

// Ping is nil while the database answers and takes writes.
func (s *Store) Ping(ctx context.Context) error {
	return s.read(ctx, "ask the database", func(ctx context.Context, q querier) error {
		return writable(ctx, q)
	})
}

// Usable is nil while the database answers, takes writes and holds back none of the tables that every change needs, as
// somebody's lock on a whole table does for as long as it lasts.
func (s *Store) Usable(ctx context.Context) error {
	return s.write(ctx, "use the database", func(ctx context.Context, tx *writing) error {
		if err := writable(ctx, tx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `lock table terminal_sessions, terminal_events, terminal_attachments in row exclusive mode`)
		return err
	})
}

// writable is nil where the server behind q takes writes.
func writable(ctx context.Context, q querier) error {
	var readOnly bool
	if err := q.QueryRow(ctx, `select current_setting('transaction_read_only')::boolean`).Scan(&readOnly); err != nil {
		return err
	}
	if readOnly {
		return errReadOnly()
	}
	return nil
}

// querier is what a pool's connection, one of our own and a transaction have in common.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

var errDeadline = errors.New("the database did not answer in time")
