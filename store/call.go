package store

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hitchpost/hitchpost"
)

// read runs f on a connection, within Deadline. op says what is done, for the error: "list the sessions". f may run
// twice.
func (s *Store) read(ctx context.Context, op string, f func(context.Context, querier) error) error {
	again := func(err error) bool { return traceless(err) || broken(err) }
	return s.call(ctx, op, again, func(ctx context.Context, c *pgxpool.Conn) error { return f(ctx, c) })
}

// write runs f in a transaction, within Deadline; it is committed when f returns nil. f may run twice, the first time
// without effect, so it must not change anything else.
func (s *Store) write(ctx context.Context, op string, f func(context.Context, *writing) error) error {
	return s.call(ctx, op, traceless, func(ctx context.Context, c *pgxpool.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			w := &writing{Tx: tx}
			if err := f(ctx, w); err != nil {
				return err
			}
			return w.tell(ctx)
		})
	})
}

// call gives f a connection and Deadline, and tries once more after a failure that allows it.
func (s *Store) call(
	ctx context.Context, op string, again func(error) bool, f func(context.Context, *pgxpool.Conn) error,
) error {
	ctx, cancel := context.WithTimeoutCause(ctx, Deadline, errDeadline)
	defer cancel()
	err := s.once(ctx, f)
	if ctx.Err() == nil && again(err) {
		err = s.once(ctx, f)
	}
	err = causeOf(ctx, err)
	if errors.Is(err, errDeadline) {
		// What does not answer here does not on the other connections: after a silence of the network each would have to
		// be found dead by a call of its own.
		s.pool.Reset()
	}
	return s.explained(fault(op, err))
}

// explained is err, with what is known of the reason where the database is away.
func (s *Store) explained(err error) error {
	var away, why *hitchpost.Error
	if s.why == nil || code(err) == diskFull || !errors.As(err, &away) || away.Kind != hitchpost.UnavailableError ||
		!errors.As(s.why(), &why) {
		return err
	}
	return &hitchpost.Error{Kind: away.Kind, Message: away.Message + ", and " + why.Message, Hint: why.Hint, Cause: err}
}

func (s *Store) once(ctx context.Context, f func(context.Context, *pgxpool.Conn) error) error {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	err = f(ctx, c)
	switch {
	case code(err) == readOnlyTransaction:
		// The server was demoted or switched. Its connections look healthy and would fail every write from now on, so
		// this one goes and so does the rest of the pool; new ones are made only to a server that takes writes.
		closeNow(ctx, c.Conn())
		s.pool.Reset()
	case broken(err):
		s.pool.Reset() // the server was stopped, and with it every connection
	}
	return err
}

// traceless reports whether err came with the certainty that nothing was done: the request never left, or the server
// rolled it back for a reason that may be over.
func traceless(err error) bool {
	switch code(err) {
	case readOnlyTransaction, "40001", "40P01": // serialization failure, deadlock
		return true
	case "":
		return pgconn.SafeToRetry(err)
	}
	return false
}

// broken reports whether err tells that the connection was lost on the way, so that nobody knows what the server did.
func broken(err error) bool {
	switch code(err) {
	case "57P01", "57P02": // admin_shutdown, crash_shutdown
		return true
	case "":
		return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
			errors.Is(err, syscall.EPIPE)
	}
	return false
}

// causeOf is err, or where ctx ended first, why it did.
func causeOf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// code is the SQLSTATE of err, empty when it is not from the server.
func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// closeNow closes c, also when ctx has ended, without waiting long for a server that may be gone.
func closeNow(ctx context.Context, c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = c.Close(ctx)
	// After a deadline pgx has only begun to close it: it goes on to wait for the server, and the server to hold a lock.
	_ = c.PgConn().Conn().Close()
}
