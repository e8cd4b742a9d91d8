package storetest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

// hold, in the environment, makes the next test tell its database and wait to be killed.
const hold = "STORETEST_HOLD"

// Each test has the schema and nothing of another test.
func TestDatabasesAreMigratedAndApart(t *testing.T) {
	t.Parallel()
	for range 2 {
		url := storetest.URL(t)
		if os.Getenv(hold) != "" {
			fmt.Println("url " + url)
			<-t.Context().Done()
		}
		conn, err := pgx.Connect(context.Background(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		var actors int
		if err := conn.QueryRow(context.Background(), "select count(*) from terminal_actors").Scan(&actors); err != nil {
			t.Fatal(err)
		}
		if actors != 0 {
			t.Fatalf("%d actors in a fresh database", actors)
		}
		if _, err := conn.Exec(context.Background(), "insert into terminal_actors (name) values ('ann')"); err != nil {
			t.Fatal(err)
		}
	}
}

// A test binary that is killed leaves neither a server nor files.
func TestKilledBinaryLeavesNothing(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestDatabasesAreMigratedAndApart$")
	cmd.Env = append(os.Environ(), hold+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var socket string
	for lines := bufio.NewScanner(out); socket == "" && lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "url "); ok {
			u, err := url.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			socket = u.Query().Get("host")
		}
	}
	dir := filepath.Dir(socket)
	pid, err := storetest.Pid(dir)
	if err := errors.Join(err, cmd.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(30 * time.Second)
	gone := func() bool {
		_, err := os.Stat(filepath.Dir(dir))
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) && errors.Is(err, os.ErrNotExist)
	}
	for !gone() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("the server %d or %s is left", pid, filepath.Dir(dir))
		}
	}
}
