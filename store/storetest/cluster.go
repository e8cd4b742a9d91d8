package storetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost/store"
	"github.com/hitchpost/hitchpost/store/local"
)

// Cluster is a throw-away cluster.
type Cluster struct {
	*local.Cluster
	*yard
	closed bool
}

// NewCluster is a cluster for this test alone, which may stop, suspend and reconfigure it. Its database has no schema.
func NewCluster(tb testing.TB) *Cluster {
	tb.Helper()
	c, err := newCluster()
	if err != nil {
		tb.Fatalf("no PostgreSQL for tests: %v", err)
	}
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

func newCluster() (*Cluster, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	y, err := newYard()
	if err != nil {
		return nil, err
	}
	c := &Cluster{yard: y}
	c.Cluster, err = local.Start(ctx, local.Config{Dir: y.Dir(), Log: slog.New(slog.DiscardHandler), Volatile: true})
	if err != nil {
		return nil, errors.Join(err, y.close())
	}
	return c, nil
}

// Close ends the server and removes its files. A second one does nothing.
func (c *Cluster) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	_ = c.Resume() // a suspended one cannot stop
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return errors.Join(c.Stop(ctx), c.close())
}

// Suspend stops the server and every process of it where they are, as a machine that hangs does: connections are taken
// and nothing is answered. Resume lets them go on.
func (c *Cluster) Suspend() error { return c.signal(syscall.SIGSTOP) }

// Resume ends a Suspend.
func (c *Cluster) Resume() error { return c.signal(syscall.SIGCONT) }

// Kill ends the server and every process of it at once, as a power loss does.
func (c *Cluster) Kill() error { return c.signal(syscall.SIGKILL) }

// Pid is the process id of the server.
func (c *Cluster) Pid() (int, error) { return Pid(c.Dir()) }

// Pid is the process id of the server on the cluster in dir, as its lock has it.
func Pid(dir string) (int, error) {
	text, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(first)
}

func (c *Cluster) signal(sig syscall.Signal) error {
	pid, err := c.Pid()
	if err != nil {
		return err
	}
	before, err := children(pid) // a killed server has none any more
	if err != nil {
		return err
	}
	// The server first, so that it makes no more of them.
	if err := syscall.Kill(pid, sig); err != nil {
		return err
	}
	after, err := children(pid)
	for _, child := range append(before, after...) {
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
func (c *Cluster) Exec(tb testing.TB, sql string) {
	tb.Helper()
	if err := c.exec(sql); err != nil {
		tb.Fatal(err)
	}
}

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
