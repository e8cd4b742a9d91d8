package store

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// channel is the one channel of notifications. The payload is a Notice in JSON, far below the 8000 bytes that fit.
const channel = "hitchpost"

const (
	listenIdle   = 5 * time.Second // between two looks whether a silent connection still lives
	listenAgain  = 100 * time.Millisecond
	listenAtMost = 5 * time.Second
)

// Listen calls fn with every notice until ctx ends, whose cause it returns. It keeps a connection of its own and makes
// a new one, after a pause that grows, when that breaks or fn fails; after each it calls fn with TopicAll first, since
// what was sent meanwhile is lost and what failed must be done again. fn is called from one goroutine and holds up what
// follows.
func (s *Store) Listen(ctx context.Context, fn func(Notice) error) error {
	wait := listenAgain
	for {
		well := time.Time{} // since when all was heard and followed
		err := s.listenOnce(ctx, func(n Notice) error {
			err := fn(n)
			if err == nil && well.IsZero() {
				well = time.Now()
			}
			return err
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !well.IsZero() && time.Since(well) > listenAtMost {
			wait = listenAgain
		}
		s.log.Warn("listening to the database broke off", "err", err)
		// With jitter, so that the services of one database do not come back all at once.
		t := time.NewTimer(wait/2 + rand.N(wait/2)) //nolint:gosec // G404: no secret is made
		select {
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		case <-t.C:
		}
		wait = min(2*wait, listenAtMost)
	}
}

// listenOnce listens on one connection for as long as it lasts.
func (s *Store) listenOnce(ctx context.Context, fn func(Notice) error) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer closeNow(ctx, conn)
	if err := s.short(ctx, func(ctx context.Context) error {
		_, err := conn.Exec(ctx, "listen "+pgx.Identifier{channel}.Sanitize())
		return err
	}); err != nil {
		return err
	}
	if err := fn(Notice{Topic: TopicAll}); err != nil {
		return err
	}
	for {
		n, err := next(ctx, conn)
		switch {
		case err == nil:
			if err := fn(n); err != nil {
				return err
			}
		case !errors.Is(err, errQuiet):
			return err
		default:
			// Nothing came, as it would not from a server that is gone or was demoted.
			if err := s.short(ctx, func(ctx context.Context) error { return writable(ctx, conn) }); err != nil {
				return err
			}
		}
	}
}

// short runs f within Deadline.
func (s *Store) short(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, Deadline, errDeadline)
	defer cancel()
	return causeOf(ctx, f(ctx))
}

// errQuiet tells that nothing came for listenIdle; the connection is as good as it was.
var errQuiet = errors.New("no notification")

// next waits for a notice.
func next(ctx context.Context, conn *pgx.Conn) (Notice, error) {
	quiet, cancel := context.WithTimeout(ctx, listenIdle)
	defer cancel()
	got, err := conn.WaitForNotification(quiet)
	if err != nil {
		if quiet.Err() != nil && ctx.Err() == nil && !conn.IsClosed() {
			return Notice{}, errQuiet
		}
		return Notice{}, err
	}
	var n Notice
	if err := json.Unmarshal([]byte(got.Payload), &n); err != nil {
		// Another program's, or a later version's: something changed.
		return Notice{Topic: TopicAll}, nil
	}
	switch n.Topic {
	case TopicSession, TopicKey, TopicNode, TopicTask, TopicEvent:
		return n, nil
	default:
		return Notice{Topic: TopicAll}, nil
	}
}
