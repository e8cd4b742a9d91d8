package local_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hitchpost/hitchpost/store/local"
	"github.com/hitchpost/hitchpost/store/storetest"
)

// userOf, in the environment, makes this binary a program that uses the cluster in that directory until it is killed
// or its standard input ends, when it stops as Hitchpost does.
const userOf = "LOCAL_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(userOf); dir != "" {
		os.Exit(use(dir))
	}
	os.Exit(storetest.Main(m))
}

func use(dir string) int {
	c, err := local.Start(context.Background(), config(dir))
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	fmt.Println("url", c.URL())
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	if err := c.Stop(context.Background()); err != nil {
		return 1
	}
	return 0
}

// user is another process that uses a cluster.
type user struct {
	*exec.Cmd
	url string
	in  io.Closer
}

func newUser(t *testing.T, dir string) *user {
	t.Helper()
	u := &user{Cmd: exec.Command(os.Args[0])}
	u.Env = append(os.Environ(), userOf+"="+dir)
	in, err := u.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	u.in = in
	out, err := u.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = u.Process.Kill()
		_ = u.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "url ")
	if !ok {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	u.url = text
	return u
}

// The server survives the SIGKILL of who started it, and the next start uses it; a normal stop then leaves nothing.
func TestKilledOwner(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	u := newUser(t, dir)
	pid := pidOf(t, dir)
	if err := u.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = u.Wait()
	if !alive(pid) {
		t.Fatal("the server died with its owner")
	}
	c := start(t, dir)
	if now := pidOf(t, dir); now != pid || c.URL() != u.url {
		t.Errorf("server %d at %s, want %d at %s", now, c.URL(), pid, u.url)
	}
	query(t, c, "select 'well'")
	stop(t, c)
	if alive(pid) {
		t.Errorf("process %d outlived the stop", pid)
	}
	if _, err := os.Stat(filepath.Join(dir, "data", "postmaster.pid")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock is left: %v", err)
	}
}

// Many starts of one cluster at the same instant, in this process and others, give one server. It ends with its last
// user and not before.
func TestStartsAtOnce(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	var all sync.WaitGroup
	clusters := make([]*local.Cluster, 3)
	users := make([]*user, 2)
	for i := range clusters {
		all.Go(func() { clusters[i] = start(t, dir) })
	}
	for i := range users {
		all.Go(func() { users[i] = newUser(t, dir) })
	}
	all.Wait()
	if t.Failed() {
		return
	}
	pid := pidOf(t, dir)
	begun := query(t, clusters[0], "select pg_postmaster_start_time()::text")
	for _, c := range clusters {
		if got := query(t, c, "select pg_postmaster_start_time()::text"); got != begun {
			t.Errorf("servers began at %s and %s", begun, got)
		}
		stop(t, c)
	}
	if err := users[0].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = users[0].Wait()
	if !alive(pid) {
		t.Fatal("the server ended under its last user")
	}
	_ = users[1].in.Close() // it stops as it should
	if err := users[1].Wait(); err != nil {
		t.Errorf("the last user ended with %v", err)
	}
	if alive(pid) {
		t.Errorf("process %d outlived its last user", pid)
	}
}
