package store_test

import (
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

func TestLeaseIsHeldByOne(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	other := open(t, b.url)
	leases, errs := at(10, func(i int) (*store.Lease, error) {
		return []*store.Store{b.Store, other}[i%2].Lease(t.Context(), "node 1")
	})
	var held *store.Lease
	for i, err := range errs {
		switch {
		case err != nil:
			wantKind(t, err, hitchpost.ConflictError)
		case held != nil:
			t.Fatal("two hold one lease")
		default:
			held = leases[i]
		}
	}
	if held == nil {
		t.Fatal("nobody holds the lease")
	}
	apart, err := other.Lease(t.Context(), "node 2")
	if err != nil {
		t.Fatal(err)
	}
	apart.Release()
	select {
	case <-held.Lost():
		t.Fatal("lost while the server is well")
	default:
	}
	held.Release()
	held.Release()
	<-held.Lost()
	next, err := other.Lease(t.Context(), "node 1")
	if err != nil {
		t.Fatal(err)
	}
	// A connection that is ended on the server loses the lease.
	run(t, conn(t, b.url), `select pg_terminate_backend(l.pid) from pg_locks l
		where l.locktype = 'advisory' and l.database = (select oid from pg_database where datname = current_database())`)
	select {
	case <-next.Lost():
	case <-time.After(patience):
		t.Fatal("not told that the lease is lost")
	}
	eventually(t, "another gets it", func() bool {
		l, err := b.Lease(t.Context(), "node 1")
		if err == nil {
			l.Release()
		}
		return err == nil
	})
}
