// Package storetest gives tests a real PostgreSQL: one throw-away cluster for a test binary, and a fresh database of
// the current schema for each test. It works as root too. Only tests may import it.
//
// The cluster is made at the first use. Main ends it with the binary; a test binary that is killed, or has no Main, is
// noticed by a watchdog process, which ends the server and removes its files.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost/store"
	"github.com/hitchpost/hitchpost/store/local"
)

// limit is how long a step on the way to a database may take, on a machine that is busy with other tests.
const limit = time.Minute

// template is the migrated database that the databases of tests are copies of.
const template = "hitchpost_template"

// shared is the cluster of this test binary.
var shared struct {
	once    sync.Once
	cluster *Cluster
	err     error

	mu   sync.Mutex // PostgreSQL copies a template for one at a time
	next int
}

// Main runs the tests and then ends the cluster, so that nothing of it is left when the test binary exits:
//
//	func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }
func Main(m *testing.M) int {
	code := m.Run()
	shared.once.Do(func() { shared.err = errors.New("the tests are over") })
	if shared.cluster == nil {
		return code
	}
	if err := shared.cluster.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "storetest:", err)
		return max(code, 1)
	}
	return code
}

// URL is the URL of a fresh database with the current schema, which goes when the test ends.
func URL(t testing.TB) string {
	t.Helper()
	return fresh(t, template)
}

// Empty is the URL of a fresh database without any schema, which goes when the test ends.
func Empty(t testing.TB) string {
	t.Helper()
	return fresh(t, "template1")
}

func fresh(t testing.TB, from string) string {
	t.Helper()
	shared.once.Do(func() { shared.cluster, shared.err = begin() })
	if shared.err != nil {
		t.Fatalf("no PostgreSQL for tests: %v", shared.err)
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.next++
	name := fmt.Sprintf("test_%d", shared.next)
	if err := shared.cluster.exec(fmt.Sprintf("create database %s template %s", name, from)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shared.cluster.exec("drop database " + name + " with (force)"); err != nil {
			t.Error(err)
		}
	})
	return shared.cluster.url(name)
}

// begin starts the shared cluster and migrates its template.
func begin() (*Cluster, error) {
	c, err := newCluster()
	if err != nil {
		return nil, err
	}
	if err := c.template(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Cluster is a throw-away cluster.
type Cluster struct {
	*local.Cluster
	dir      string
	watchdog *exec.Cmd
	pipe     io.Closer // closed, by us or by our death, it wakes the watchdog
}

// NewCluster is a cluster for this test alone, which may stop, suspend and reconfigure it. Its database has no schema.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	c, err := newCluster()
	if err != nil {
		t.Fatalf("no PostgreSQL for tests: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func newCluster() (*Cluster, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	// Not below t.TempDir: the path is long, and as root closed to the account that PostgreSQL runs as.
	dir, err := os.MkdirTemp("/tmp", "hitchpost-pg-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir}
	if err := c.watch(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c.Cluster, err = local.Start(ctx, local.Config{Dir: filepath.Join(dir, "pg"), Log: slog.New(slog.DiscardHandler),
		Volatile: true})
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// watch starts the watchdog: a shell that waits for the end of a pipe whose other end is ours alone, and then kills
// the server that the lock in the data names and removes everything. It has a session of its own and holds none of our
// streams, so that neither a signal to the test binary nor a wait for its output concerns it.
func (c *Cluster) watch() error {
	const script = `read -r _
	if read -r pid < "$1/pg/data/postmaster.pid"; then
		kill -QUIT "$pid"
		kill -CONT "$pid" $(ps -A -o ppid= -o pid= | sed -n "s/^ *$pid  *//p")
		n=0
		while kill -0 "$pid" && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done
	fi
	rm -rf "$1"`
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	c.watchdog = exec.Command("/bin/sh", "-c", script, "sh", c.dir)
	c.watchdog.Stdin, c.watchdog.Dir = r, "/"
	c.watchdog.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.pipe = w
	if err := c.watchdog.Start(); err != nil {
		return errors.Join(err, w.Close())
	}
	return nil
}

// Close ends the server and removes its files. A second one does nothing.
func (c *Cluster) Close() error {
	if c.pipe == nil {
		return nil
	}
	var err error
	if c.Cluster != nil {
		_ = c.signal(syscall.SIGCONT) // a suspended one cannot stop
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		err = c.Stop(ctx)
	}
	_ = c.pipe.Close()
	c.pipe = nil
	// The watchdog finds no server any more and removes the files.
	return errors.Join(err, c.watchdog.Wait())
}

// Suspend stops the server and every process of it where they are, as a machine that hangs does: connections are taken
// and nothing is answered. Resume lets them go on.
func (c *Cluster) Suspend() error { return c.signal(syscall.SIGSTOP) }

// Resume ends a Suspend.
func (c *Cluster) Resume() error { return c.signal(syscall.SIGCONT) }

// Kill ends the server and every process of it at once, as a power loss does.
func (c *Cluster) Kill() error { return c.signal(syscall.SIGKILL) }

func (c *Cluster) signal(sig syscall.Signal) error {
	text, err := os.ReadFile(filepath.Join(c.Dir(), "data", "postmaster.pid"))
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return err
	}
	// The server first, so that it makes no more of them.
	if err := syscall.Kill(pid, sig); err != nil {
		return err
	}
	children, err := children(pid)
	for _, child := range children {
		if e := syscall.Kill(child, sig); !errors.Is(e, syscall.ESRCH) {
			err = errors.Join(err, e)
		}
	}
	return err
}

func children(pid int) ([]int, error) {
	out, err := exec.Command("ps", "-A", "-o", "ppid=", "-o", "pid=").Output()
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	var found []int
	for line := range strings.Lines(string(out)) {
		var parent, child int
		if _, err := fmt.Sscan(line, &parent, &child); err == nil && parent == pid {
			found = append(found, child)
		}
	}
	return found, nil
}

// Exec runs a statement in the cluster's own database.
func (c *Cluster) Exec(t testing.TB, sql string) {
	t.Helper()
	if err := c.exec(sql); err != nil {
		t.Fatal(err)
	}
}

// Dir is where the cluster is, as for local.Config.
func (c *Cluster) Dir() string { return filepath.Join(c.dir, "pg") }

// template makes the migrated database that those of tests are copies of.
func (c *Cluster) template() error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := c.exec("create database " + template); err != nil {
		return err
	}
	s, err := store.Open(ctx, c.url(template), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer s.Close() // a template must have no connection when it is copied
	return s.Migrate(ctx)
}

// url is the URL of another database of the cluster.
func (c *Cluster) url(name string) string {
	u, err := url.Parse(c.URL())
	if err != nil {
		panic(err) // local makes it
	}
	u.Path = "/" + name
	return u.String()
}

// exec runs a statement in the cluster's own database.
func (c *Cluster) exec(sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.URL())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}
