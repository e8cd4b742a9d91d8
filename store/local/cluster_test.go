package local_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	osuser "os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store/local"
	"github.com/hitchpost/hitchpost/store/storetest"
)

func config(dir string) local.Config {
	return local.Config{Dir: dir, Volatile: true, Log: slog.New(slog.DiscardHandler)}
}

// start starts a cluster that is stopped at the end of the test.
func start(t *testing.T, dir string) *local.Cluster {
	t.Helper()
	c, err := local.Start(t.Context(), config(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, c) })
	return c
}

func stop(t *testing.T, c *local.Cluster) {
	t.Helper()
	if err := c.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// query runs statements and returns the last value that one gave.
func query(t *testing.T, c *local.Cluster, sql string) (text string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, statement := range strings.Split(sql, "; ") {
		rows, err := conn.Query(context.Background(), statement)
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		for rows.Next() {
			if err := rows.Scan(&text); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		if rows.Err() != nil {
			t.Fatalf("%s: %v", statement, rows.Err())
		}
	}
	return text
}

func pidOf(t *testing.T, dir string) int {
	t.Helper()
	pid, err := storetest.Pid(dir)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// alive reports whether process pid runs. An orphan that ended may stay a zombie until init comes to it.
func alive(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(30 * time.Second); !f(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

// A first start makes a durable cluster that only this account reaches; what is in it outlives a stop.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	conf := config(dir)
	conf.Volatile = false
	c, err := local.Start(t.Context(), conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, c) })
	for sql, want := range map[string]string{
		"show fsync": "on", "show synchronous_commit": "on", "show full_page_writes": "on", "show data_checksums": "on",
		"show listen_addresses": "", "show server_encoding": "UTF8", "show lc_collate": "C", "show timezone": "UTC",
		"select current_database() || current_user":                            "hitchposthitchpost",
		"select coalesce(string_agg(address, ' '), '') from pg_hba_file_rules": "",
		"select current_setting('server_version_num')::integer / 10000 || ''":  fmt.Sprint(c.Major()),
	} {
		if got := query(t, c, sql); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
	info, err := os.Stat(c.SocketDir())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("socket directory: %v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "data")); err != nil || info.Mode().Perm() != 0o700 ||
		info.Sys().(*syscall.Stat_t).Uid == 0 {
		t.Errorf("data: %v, %v", info, err)
	}
	query(t, c, "create table kept (n integer)")
	pid := pidOf(t, dir)
	stop(t, c)
	stop(t, c) // changes nothing
	if alive(pid) {
		t.Errorf("process %d outlived the stop", pid)
	}
	if got := query(t, start(t, dir), "select count(*)::text from kept"); got != "0" {
		t.Errorf("kept: %s", got)
	}
}

// The account that root lends the server to may be another than the usual one. It owns the data and nothing more: what
// root writes it cannot change, and it is not let in. Who is not root runs the server as itself.
func TestAccount(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	conf := config(dir)
	conf.Account = "nobody"
	c, err := local.Start(t.Context(), conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, c) })
	query(t, c, "select 'well'")
	want := syscall.Credential{Uid: uint32(os.Geteuid()), Gid: uint32(os.Getegid())}
	if os.Geteuid() == 0 {
		nobody, err := osuser.Lookup("nobody")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(nobody.Uid+" "+nobody.Gid, &want.Uid, &want.Gid); err != nil {
			t.Fatal(err)
		}
	}
	for path, uid := range map[string]uint32{dir: uint32(os.Geteuid()), filepath.Join(dir, "pg_ident.conf"): uint32(os.Geteuid()),
		filepath.Join(dir, "data"): want.Uid, c.SocketDir(): want.Uid, fmt.Sprintf("/proc/%d", pidOf(t, dir)): want.Uid} {
		info, err := os.Stat(path)
		if strings.HasPrefix(path, "/proc") && errors.Is(err, fs.ErrNotExist) {
			continue // a system without /proc
		}
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != uid {
			t.Errorf("%s: %v, %v, want the owner %d", path, info, err, uid)
		}
	}
	if os.Geteuid() != 0 {
		return
	}
	b, err := local.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	psql := exec.Command(filepath.Join(b.Dir, "psql"), "-h", c.SocketDir(), "-U", "hitchpost", "-c", "select 1", "hitchpost")
	psql.Dir, psql.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &want}
	if out, err := psql.CombinedOutput(); err == nil || !strings.Contains(string(out), "authentication failed") {
		t.Errorf("the account of the server is let in: %v: %s", err, out)
	}
}

// After a power loss, and after a crash under a running Hitchpost, what was committed is there.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	c := storetest.NewCluster(t)
	query(t, c.Cluster, "create table kept (n integer); checkpoint; insert into kept select generate_series(1, 10)")
	before, err := c.Pid()
	if err := errors.Join(err, c.Kill()); err != nil {
		t.Fatal(err)
	}
	if err := c.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, err := c.Pid()
	if err != nil || after == before {
		t.Errorf("server %d after %d, %v", after, before, err)
	}
	if got := query(t, c.Cluster, "select count(*)::text from kept"); got != "10" {
		t.Errorf("kept: %s", got)
	}
	if err := c.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again, err := c.Pid(); err != nil || again != after {
		t.Errorf("a server that is well was replaced: %d after %d, %v", again, after, err)
	}
}

// A data directory that another version made is refused with both versions in the message, and left as it is.
func TestAnotherMajorVersion(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	c := start(t, dir)
	major := c.Major()
	stop(t, c)
	path := filepath.Join(dir, "data", "PG_VERSION")
	if err := exec.Command("cp", "-p", path, path+".real").Run(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := local.Start(t.Context(), config(dir))
	if !errors.Is(err, &hitchpost.Error{Kind: hitchpost.FailedError}) ||
		!strings.Contains(err.Error(), "PostgreSQL 9,") || !strings.Contains(err.Error(), fmt.Sprintf("found %d", major)) {
		t.Errorf("%v", err)
	}
	for _, text := range []string{"", "fifteen"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := local.Start(t.Context(), config(dir)); err == nil || !strings.Contains(err.Error(), "PG_VERSION") {
			t.Errorf("version %q: %v", text, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := local.Start(t.Context(), config(dir)); err == nil || !strings.Contains(err.Error(), "PG_VERSION") {
		t.Errorf("without version: %v", err)
	}
	if err := os.Rename(path+".real", path); err != nil {
		t.Fatal(err)
	}
	query(t, start(t, dir), "select 'still good'")
}

// What a killed making of the cluster left is made anew.
func TestInterruptedInitdb(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		eventually(t, "initdb is under way", func() bool {
			_, err := os.Stat(filepath.Join(dir, "data.new", "base"))
			return err == nil
		})
	}()
	if _, err := local.Start(ctx, config(dir)); err == nil {
		t.Fatal("it started although it was interrupted")
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("half a cluster is left: %v", err)
	}
	query(t, start(t, dir), "select 'well'")
}

// A path too long for a socket gets a short directory, private like the other and the same at the next start.
func TestLongPath(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(storetest.Dir(t), strings.Repeat("long/", 20), "o,d\"d '$(x)")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c := start(t, dir)
	short := c.SocketDir()
	t.Cleanup(func() {
		stop(t, c)
		_ = os.Remove(short)
	})
	info, err := os.Stat(short)
	if err != nil || info.Mode().Perm() != 0o700 || len(short) > 80 {
		t.Errorf("%s: %v, %v", short, info, err)
	}
	if u, err := url.Parse(c.URL()); err != nil || u.Query().Get("host") != short {
		t.Errorf("%s, %v", c.URL(), err)
	}
	query(t, c, "select 'well'")
	stop(t, c)
	if again := start(t, dir); again.SocketDir() != short {
		t.Errorf("%s after %s", again.SocketDir(), short)
	}
}
