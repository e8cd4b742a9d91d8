package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// leaseSpace sets the advisory locks of leases apart from those of other programs.
const leaseSpace = 0x48504c // "HPL"

// leaseLook is how often a lease asks whether its connection still lives.
const leaseLook = 2 * time.Second

// Lease is the right to do something alone, among all services of one database. It is an advisory lock on a connection
// of its own and lasts while that does.
type Lease struct {
	lost chan struct{}
	stop context.CancelFunc
}

// Lease takes the lease of that name. While another holds it, it gives ConflictError at once. The caller releases it.
func (s *Store) Lease(ctx context.Context, name string) (*Lease, error) {
	const op = "take a lease"
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, fault(op, err)
	}
	var ok bool
	err = s.short(ctx, func(ctx context.Context) error {
		_ = noticeDeath(ctx, conn) // so that the server soon notices when this machine is gone
		return conn.QueryRow(ctx, `select pg_try_advisory_lock($1, hashtext($2))`, leaseSpace, name).Scan(&ok)
	})
	if err == nil && !ok {
		err = hitchpost.Errorf(hitchpost.ConflictError, "another service holds the lease %q", name).
			Hinted("stop that service, or wait until it has ended")
	}
	if err != nil {
		closeNow(ctx, conn)
		return nil, fault(op, err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	l := &Lease{lost: make(chan struct{}), stop: stop}
	go l.hold(ctx, s, conn)
	return l, nil
}

// hold watches over the connection, and ends with it or when the lease is released.
func (l *Lease) hold(ctx context.Context, s *Store, conn *pgx.Conn) {
	defer close(l.lost)
	defer closeNow(ctx, conn) // which gives the lock back
	for {
		// Nothing is sent on this connection, so waiting for it returns at once when it breaks.
		quiet, cancel := context.WithTimeout(ctx, leaseLook)
		_, err := conn.WaitForNotification(quiet)
		over := quiet.Err() != nil
		cancel()
		if ctx.Err() != nil {
			return
		}
		if err != nil && !over {
			s.log.Warn("lost a lease", "err", err)
			return
		}
		if err := s.short(ctx, func(ctx context.Context) error { return writable(ctx, conn) }); err != nil {
			if ctx.Err() == nil {
				s.log.Warn("lost a lease", "err", err)
			}
			return
		}
	}
}

// Lost is closed once the lease is no longer held, lost or released. Who holds it stops at once then: another may have
// it already. A loss that only silence tells of takes 5 s to notice.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Release gives the lease back and waits until that is done. A second one does nothing.
func (l *Lease) Release() {
	l.stop()
	<-l.lost
}
