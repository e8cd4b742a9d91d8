package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
	"github.com/hitchpost/hitchpost/store/storetest"
)

// apart is a box on a cluster of its own.
func apart(t *testing.T) (*storetest.Cluster, *box) {
	t.Helper()
	c := storetest.NewCluster(t)
	if err := open(t, c.URL()).Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, boxOn(t, c.URL())
}

// A server that turns read-only under load answers pings as before: writes and the health must tell so, no connection
// to it may stay, and all is well again once it takes writes, without a restart of anything.
func TestServerTurnsReadOnlyAndBack(t *testing.T) {
	t.Parallel()
	c, b := apart(t)
	s := b.live(t, "work")
	touch := func() error { return b.Touch(t.Context(), []store.Output{{ID: s.ID, At: time.Now()}}) }
	lease, err := b.Lease(t.Context(), "reconcile")
	if err != nil {
		t.Fatal(err)
	}
	_, errs := at(20, func(int) (struct{}, error) { return struct{}{}, touch() }) // every connection is in use
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}

	c.Exec(t, "alter system set default_transaction_read_only = on")
	c.Exec(t, "select pg_reload_conf()")
	eventually(t, "writes fail", func() bool { return touch() != nil })
	_, errs = at(20, func(int) (struct{}, error) { return struct{}{}, touch() })
	for _, err := range errs {
		wantKind(t, err, hitchpost.UnavailableError)
	}
	wantKind(t, b.Ping(t.Context()), hitchpost.UnavailableError)
	select {
	case <-lease.Lost():
	case <-time.After(patience):
		t.Error("a lease is held on a server that takes no writes")
	}
	var left int
	admin := conn(t, c.URL())
	eventually(t, "no connection of the pool is left", func() bool {
		err := admin.QueryRow(t.Context(), `select count(*) from pg_stat_activity
			where application_name = 'hitchpost'`).Scan(&left)
		return err == nil && left == 0
	})

	run(t, admin, "set default_transaction_read_only = off")
	run(t, admin, "alter system reset default_transaction_read_only")
	run(t, admin, "select pg_reload_conf()")
	eventually(t, "writes succeed", func() bool { return touch() == nil })
	if err := b.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// A server that hangs makes no call take longer than its deadline, however many there are, and none fails afterwards.
func TestServerHangs(t *testing.T) {
	t.Parallel()
	c, b := apart(t)
	s := b.live(t, "work")
	lease, err := b.Lease(t.Context(), "reconcile")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Suspend(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, errs := at(30, func(i int) (hitchpost.Session, error) {
		switch i % 4 {
		case 0:
			return b.Resolve(t.Context(), s.Handle, "")
		case 1:
			return b.Change(t.Context(), s.ID, store.Transition{Change: hitchpost.ChangeStopAsked})
		case 2:
			_, err := b.Lease(t.Context(), "other")
			return s, err
		default:
			return s, b.Ping(t.Context())
		}
	})
	took := time.Since(began)
	for _, err := range errs {
		wantKind(t, err, hitchpost.UnavailableError)
	}
	if took > store.Deadline+time.Second {
		t.Errorf("calls took %v", took)
	}
	select {
	case <-lease.Lost():
	case <-time.After(patience):
		t.Error("a lease is held on a server that hangs")
	}
	if err := c.Resume(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it answers again", func() bool { return b.Ping(t.Context()) == nil })
	// What was given up is rolled back and holds no lock. A commit on its way may have been made.
	now, err := b.Session(t.Context(), s.ID)
	if err != nil || now.State != hitchpost.Detached && now.State != hitchpost.Stopping {
		t.Errorf("%+v, %v", now, err)
	}
	eventually(t, "the session can be written", func() bool {
		_, err := b.Rename(t.Context(), s.ID, "still works", store.By{})
		return err == nil
	})
}

// Nobody waits long for a server that hangs only to leave.
func TestCloseDoesNotWaitForAHangingServer(t *testing.T) {
	t.Parallel()
	c, _ := apart(t)
	s := open(t, c.URL())
	_, errs := at(8, func(int) (struct{}, error) { return struct{}{}, s.Ping(t.Context()) })
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if err := c.Suspend(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	s.Close()
	if took := time.Since(began); took > store.Deadline+time.Second {
		t.Errorf("took %v", took)
	}
}

// A row that another holds for long does not hold up a call beyond its deadline.
func TestRowIsLocked(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.live(t, "work")
	c := conn(t, b.url)
	run(t, c, "begin")
	run(t, c, "select from terminal_sessions where id = $1 for update", s.ID)
	began := time.Now()
	_, err := b.Change(t.Context(), s.ID, store.Transition{Change: hitchpost.ChangeStopAsked})
	wantKind(t, err, hitchpost.UnavailableError)
	if took := time.Since(began); took > store.Deadline+time.Second {
		t.Errorf("took %v", took)
	}
	run(t, c, "rollback")
	b.change(t, s.ID, hitchpost.ChangeStopAsked)
}

// A caller that gives up gets its own reason back.
func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := b.Ping(ctx)
	wantKind(t, err, hitchpost.UnavailableError)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A server that was restarted has ended every connection of the pool: no reading fails for that.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	c, b := apart(t)
	s := b.live(t, "work")
	read := func(int) (hitchpost.Session, error) { return b.Session(t.Context(), s.ID) }
	_, errs := at(20, read) // every connection is in use
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Kill(), c.Ensure(t.Context())); err != nil {
		t.Fatal(err)
	}
	_, errs = at(20, read)
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// A table that somebody locks as a whole holds every change up, which the health must tell although the server answers.
func TestTableIsLocked(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.live(t, "work")
	if err := b.Usable(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := conn(t, b.url)
	run(t, c, "begin")
	run(t, c, "lock table terminal_sessions in share mode") // others may read
	wantKind(t, b.Usable(t.Context()), hitchpost.UnavailableError)
	run(t, c, "rollback")
	if err := b.Usable(t.Context()); err != nil {
		t.Error(err)
	}
}

// Where more is known of why the database is away, the errors say it, and only then.
func TestWhyTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	c := storetest.NewCluster(t)
	var why error
	s := open(t, c.URL()).ExplainedBy(func() error { return why })
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err == nil || !strings.HasSuffix(err.Error(), ": try again") {
		t.Errorf("nothing is known: %v", err)
	}
	why = hitchpost.Errorf(hitchpost.UnavailableError, "its disk is full").Hinted("free space")
	err := s.Ping(t.Context())
	wantKind(t, err, hitchpost.UnavailableError)
	if err == nil || !strings.HasSuffix(err.Error(), ", and its disk is full: free space") {
		t.Errorf("a full disk: %v", err)
	}
	_, err = s.Create(t.Context(), hitchpost.Session{}, time.Minute, store.By{})
	if hitchpost.KindOf(err) == hitchpost.UnavailableError {
		t.Errorf("a mistake of the caller: %v", err)
	}
}
