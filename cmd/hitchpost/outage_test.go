package main

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost/store/storetest"
)

// outage is one way in which PostgreSQL goes.
type outage struct {
	lasts time.Duration // at least
	reads bool          // what only looks may succeed
	keys  bool          // what is about keys alone may succeed
	// prepare is a database, and what begins the outage, which in turn gives what ends it.
	prepare func(*testing.T) (url string, begin func() (end func()))
}

func outages() map[string]outage {
	return map[string]outage{
		"ended":     {prepare: ended},
		"hung":      {prepare: hung, lasts: time.Minute},
		"read-only": {prepare: readOnly, reads: true},
		"swallowed": {prepare: swallowed},
		"full":      {prepare: full},
		"locked":    {prepare: locked, keys: true},
		"unwritten": {prepare: unwritten, reads: true, keys: true},
	}
}

// apart is a cluster for a test alone, and its URL.
func apart(t *testing.T) (*storetest.Cluster, string) {
	t.Helper()
	c := storetest.NewCluster(t)
	return c, c.URL()
}

func ended(t *testing.T) (string, func() func()) {
	t.Helper()
	c, url := apart(t)
	return url, func() func() {
		must(t, c.Kill())
		return func() { must(t, c.Ensure(context.Background())) }
	}
}

func hung(t *testing.T) (string, func() func()) {
	t.Helper()
	c, url := apart(t)
	return url, func() func() {
		must(t, c.Suspend())
		return func() { must(t, c.Resume()) }
	}
}

// restart ends the server as its own tools do (SIGINT, "fast shutdown": postgres(1)), and starts it again.
func restart(t *testing.T, c *storetest.Cluster) {
	t.Helper()
	pid, err := c.Pid()
	must(t, err)
	must(t, syscall.Kill(pid, syscall.SIGINT))
	eventually(t, "PostgreSQL stops", func() bool { return !alive(pid) }, func() string { return "" })
	must(t, c.Ensure(context.Background()))
}

func readOnly(t *testing.T) (string, func() func()) {
	t.Helper()
	c, url := apart(t)
	return url, func() func() {
		c.Exec(t, "alter system set default_transaction_read_only = on")
		c.Exec(t, "select pg_reload_conf()")
		return func() {
			admin := pgConn(t, url)
			perform(t, admin, "set default_transaction_read_only = off")
			perform(t, admin, "alter system reset default_transaction_read_only")
			perform(t, admin, "select pg_reload_conf()")
		}
	}
}

// swallowed has a network between that loses everything both ways.
func swallowed(t *testing.T) (string, func() func()) {
	t.Helper()
	w, through := behindSwallower(t)
	return through, func() func() {
		w.cut()
		return w.mend
	}
}

// behindSwallower is the URL of a fresh database behind a proxy that can swallow.
func behindSwallower(t *testing.T) (*swallower, string) {
	t.Helper()
	u, err := url.Parse(storetest.URL(t))
	must(t, err)
	q := u.Query()
	w := newSwallower(t, filepath.Join(q.Get("host"), ".s.PGSQL."+q.Get("port")))
	host, port, _ := strings.Cut(w.listener.Addr().String(), ":")
	q.Set("host", host)
	q.Set("port", port)
	u.RawQuery = q.Encode()
	return w, u.String()
}

// full has others take every connection that there may be.
func full(t *testing.T) (string, func() func()) {
	t.Helper()
	c, url := apart(t)
	c.Exec(t, "alter system set max_connections = 20")
	restart(t, c)
	return url, func() func() {
		admin := pgConn(t, url)
		var others []*pgx.Conn
		eventually(t, "every connection is taken", func() bool {
			perform(t, admin, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'hitchpost'")
			for {
				other, err := pgx.Connect(context.Background(), url)
				if err != nil {
					break
				}
				others = append(others, other)
			}
			var left int
			must(t, admin.QueryRow(context.Background(),
				"select count(*) from pg_stat_activity where application_name = 'hitchpost'").Scan(&left))
			return left == 0
		}, func() string { return fmt.Sprint(len(others), " taken") })
		return func() {
			for _, other := range others {
				must(t, other.Close(context.Background()))
			}
		}
	}
}

// locked has somebody keep sessions and tasks to themselves, so that every connection of the pool waits in vain.
func locked(t *testing.T) (string, func() func()) {
	t.Helper()
	return lockedAs(t, "access exclusive")
}

// unwritten has somebody let others read them and not write them, as the making of an index does.
func unwritten(t *testing.T) (string, func() func()) {
	t.Helper()
	return lockedAs(t, "share")
}

func lockedAs(t *testing.T, mode string) (string, func() func()) {
	t.Helper()
	url := storetest.URL(t)
	return url, func() func() {
		c := pgConn(t, url)
		perform(t, c, "begin")
		perform(t, c, "lock table terminal_sessions, terminal_tasks in "+mode+" mode")
		return func() { perform(t, c, "rollback") }
	}
}

func pgConn(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(context.Background(), url)
	must(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func perform(t *testing.T, c *pgx.Conn, sql string) {
	t.Helper()
	if _, err := c.Exec(context.Background(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
