package local_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store/local"
	"github.com/hitchpost/hitchpost/store/storetest"
)

// bystander is a living process of the account that the server on dir runs as, which has nothing to do with it.
func bystander(t *testing.T, dir string) int {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sleep", "600")
	if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != os.Geteuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: st.Uid, Gid: st.Gid}}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// A crash leaves locks that name a process; by the next start that number may be any other process's, also one of the
// same account and even another PostgreSQL server. None of these blocks the start, and none is harmed.
func TestStaleLocks(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	c := start(t, dir)
	socket := c.SocketDir()
	live, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	stop(t, c)
	neighbour := storetest.NewCluster(t)
	neighbourPid, err := neighbour.Pid()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(live), "\n")
	for name, pid := range map[string]int{"process": bystander(t, dir), "server": neighbourPid, "own": os.Getpid(), "init": 1} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf("%d\n%s", pid, rest)
			for _, path := range []string{filepath.Join(dir, "data", "postmaster.pid"),
				filepath.Join(socket, ".s.PGSQL.5432.lock")} {
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			c := start(t, dir)
			query(t, c, "select 'well'")
			stop(t, c)
			if !alive(pid) {
				t.Errorf("process %d was harmed", pid)
			}
		})
	}
	query(t, neighbour.Cluster, "select 'well'")
	for _, text := range []string{"", "\n", "soon\n", "-1\n", "999999999999999999999\n"} { // as a full disk may leave it
		if err := os.WriteFile(filepath.Join(dir, "data", "postmaster.pid"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c := start(t, dir)
		query(t, c, "select 'well'")
		stop(t, c)
	}
}

// A copy of a data directory, with the lock of the server that runs on the original, starts beside that.
func TestCopyOfARunningCluster(t *testing.T) {
	t.Parallel()
	original := storetest.NewCluster(t)
	query(t, original.Cluster, "create table kept (n integer); checkpoint")
	dir := storetest.Dir(t)
	if err := os.Mkdir(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("cp", "-a", filepath.Join(original.Dir(), "data"), dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	before, err := original.Pid()
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, dir)
	query(t, c, "select count(*)::text from kept")
	if now, err := original.Pid(); err != nil || now != before || !alive(now) || pidOf(t, dir) == now {
		t.Errorf("the original is %d after %d, the copy %d, %v", now, before, pidOf(t, dir), err)
	}
	query(t, original.Cluster, "select 'well'")
}

// While a server hangs no second one is started, its lock stays, and the start gives up in time.
func TestServerThatHangs(t *testing.T) {
	t.Parallel()
	c := storetest.NewCluster(t)
	if err := c.Suspend(); err != nil {
		t.Fatal(err)
	}
	before, err := c.Pid()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = local.Start(ctx, config(c.Dir()))
	if hitchpost.KindOf(err) != hitchpost.UnavailableError {
		t.Errorf("%v", err)
	}
	if now, err := c.Pid(); err != nil || now != before || !alive(now) {
		t.Errorf("server %d after %d, %v", now, before, err)
	}
	if err := c.Resume(); err != nil {
		t.Fatal(err)
	}
	again := start(t, c.Dir())
	if now, err := c.Pid(); err != nil || now != before {
		t.Errorf("server %d after %d, %v", now, before, err)
	}
	query(t, again, "select 'well'")
}

// A server whose socket was swept away cannot be reached and is started again.
func TestSocketSweptAway(t *testing.T) {
	t.Parallel()
	c := storetest.NewCluster(t)
	before, err := c.Pid()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(c.SocketDir()); err != nil {
		t.Fatal(err)
	}
	if err := c.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	query(t, c.Cluster, "select 'well'")
	if now, err := c.Pid(); err != nil || now == before || alive(before) {
		t.Errorf("server %d after %d, %v", now, before, err)
	}
}

// A server whose lock was taken away still runs, and no second one is started beside it.
func TestLockTakenAway(t *testing.T) {
	t.Parallel()
	c := storetest.NewCluster(t)
	before, err := c.Pid()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(c.Dir(), "data", "postmaster.pid")
	lock, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := local.Start(ctx, config(c.Dir())); err == nil || !strings.Contains(err.Error(), fmt.Sprint(before)) {
		t.Errorf("%v", err)
	}
	if !alive(before) {
		t.Error("the server was ended")
	}
	query(t, c.Cluster, "select 'well'") // its socket too is where it was
	if err := os.WriteFile(path, lock, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The log of the server does not grow for ever.
func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	c := start(t, dir)
	stop(t, c)
	path := filepath.Join(dir, "server.log")
	if err := os.WriteFile(path, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	c = start(t, dir)
	info, err := os.Stat(path)
	if err != nil || info.Size() > 1<<16 || info.Size() == 0 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := os.Stat(c.SocketDir()); err != nil {
		t.Error(err)
	}
}
