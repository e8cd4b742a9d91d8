package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

func pid(t testing.TB, s *Server) int {
	t.Helper()
	n, err := s.Pid(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A second process takes up the server that runs, and its sessions, with the options of today.
func TestOpenTakesUp(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "kept", sizes[0], "sleep", "1000000")
	raw(t, s, "set-option", "-g", "status", "on")
	first := pid(t, s)
	s.Close()
	if _, err := s.Panes(t.Context()); hitchpost.KindOf(err) != hitchpost.UnavailableError {
		t.Errorf("a closed Server answers %v", err)
	}
	again, err := Open(t.Context(), Config{Dir: s.program.layout.dir})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := pid(t, again); got != first {
		t.Errorf("process %d instead of %d", got, first)
	}
	panes, err := again.Panes(t.Context())
	if err != nil || len(panes) != 1 || panes[0].Session != "kept" {
		t.Errorf("%+v, %v", panes, err)
	}
	if got := raw(t, again, "show-options", "-gv", "status"); got != "off" {
		t.Errorf("status is %s", got)
	}
}

// Thirty processes that start at once get one server; thirty starts get thirty sessions; and the server holds no
// descriptor of theirs.
func TestParallelStarts(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	// What the process inherited from whoever started it must not go on to tmux.
	foreign := filepath.Join(dir, "foreign")
	fd, err := syscall.Open(foreign, syscall.O_CREAT|syscall.O_RDWR, 0o600) // not closed on exec, as Go's own are
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	const many = 30
	servers := make([]*Server, many)
	var all sync.WaitGroup
	for i := range servers {
		all.Go(func() {
			s, err := Open(context.WithoutCancel(t.Context()), Config{Dir: dir})
			if err != nil {
				t.Errorf("open %d: %v", i, err)
				return
			}
			servers[i] = s
			if _, err := s.Start(t.Context(), Start{Session: fmt.Sprintf("s-%d", i), Command: []string{"sleep", "1000000"}}); err != nil {
				t.Errorf("start %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() {
		for _, s := range servers {
			s.Close()
		}
		killServer(t, servers[0])
	})
	pids := map[int]bool{}
	for _, s := range servers {
		pids[pid(t, s)] = true
	}
	panes, err := servers[0].Panes(t.Context())
	if err != nil || len(panes) != many || len(pids) != 1 {
		t.Fatalf("%d sessions on %d servers, %v", len(panes), len(pids), err)
	}
	checkDescriptors(t, pid(t, servers[0]), foreign)
}

// checkDescriptors fails if process pid holds what this process had open when it began or opened for itself.
func checkDescriptors(t *testing.T, pid int, foreign string) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		t.Log("this system does not list the descriptors of a process")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err == nil && (to == foreign || strings.HasSuffix(to, "/lock")) {
			t.Errorf("the server holds %s -> %s", e.Name(), to)
		}
	}
}

// The socket of a living server was removed: it is put back, and no second server stands beside it.
func TestRemovedSocket(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "lives", sizes[0], sh("echo ready; exec cat")...)
	first := pid(t, s)
	if err := os.Remove(s.Socket()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // with the connection that is still open, and with a new one
		if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 1 {
			t.Fatalf("%+v, %v", panes, err)
		}
		sc := attach(t, s, Attach{Session: "lives", Terminal: terminal(hitchpost.Size{Cols: 70, Rows: 20}), ReplayLines: -1})
		eventually(t, "the screen", func() bool { return sc.shows("ready") })
		other, err := Open(t.Context(), Config{Dir: s.program.layout.dir})
		if err != nil {
			t.Fatal(err)
		}
		if got := pid(t, other); got != first {
			t.Errorf("a second server, process %d, stands beside %d", got, first)
		}
		other.Close()
		s.control.kill()
	}
}

// A socket file whose server is gone is replaced, and its absence is certain.
func TestDeadSocket(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "lost", sizes[0], "sleep", "1000000")
	if err := syscall.Kill(pid(t, s), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "certain absence", func() bool {
		panes, err := s.Panes(t.Context())
		if len(panes) > 0 {
			t.Fatal("a dead server has sessions")
		}
		return err == nil
	})
	if _, err := os.Stat(s.Socket()); err != nil {
		t.Fatalf("the dead socket is not there: %v", err)
	}
	for what, err := range map[string]error{
		"Record":  second(s.Record(t.Context(), "lost")),
		"Capture": second(s.Capture(t.Context(), "lost", Capture{})),
		"Attach":  second(s.Attach(t.Context(), Attach{Session: "lost", Terminal: terminal(sizes[0])})),
	} {
		if !errors.Is(err, ErrNoSession) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := s.Kill(t.Context(), "lost"); err != nil {
		t.Errorf("Kill: %v", err)
	}
	start(t, s, "anew", sizes[0], sh("echo ready; exec cat")...)
	sc := attach(t, s, Attach{Session: "anew", Terminal: terminal(sizes[0]), ReplayLines: -1})
	eventually(t, "the screen", func() bool { return sc.shows("ready") })
}

func second[T any](_ T, err error) error { return err }

// A server that was stopped is neither dead nor waited for; nothing piles up; it comes back by itself.
func TestStoppedServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "asleep", sizes[0], sh("echo ready; exec cat")...)
	open := attach(t, s, Attach{Session: "asleep", Terminal: terminal(sizes[0]), ReplayLines: -1})
	eventually(t, "the screen", func() bool { return open.shows("ready") })
	server := pid(t, s)
	before := len(processes(t, s.Socket()))
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(server, syscall.SIGCONT)
	begin := time.Now()
	if err := open.view.Resize(hitchpost.Size{Cols: 90, Rows: 30}); err != nil || time.Since(begin) > time.Second {
		t.Errorf("Resize: %v after %v", err, time.Since(begin))
	}
	var all sync.WaitGroup
	for range 20 {
		for what, call := range map[string]func(context.Context) error{
			"Panes": func(ctx context.Context) error { return second(s.Panes(ctx)) },
			"Attach": func(ctx context.Context) error {
				return second(s.Attach(ctx, Attach{Session: "asleep", Terminal: terminal(sizes[0])}))
			},
			"Start": func(ctx context.Context) error {
				return second(s.Start(ctx, Start{Session: "new", Command: []string{"sleep", "1"}}))
			},
		} {
			all.Go(func() {
				begin := time.Now()
				err := call(t.Context())
				if hitchpost.KindOf(err) != hitchpost.UnavailableError || errors.Is(err, ErrNoServer) {
					t.Errorf("%s: %v", what, err)
				}
				if took := time.Since(begin); took > callLimit+time.Second {
					t.Errorf("%s took %v", what, took)
				}
			})
		}
	}
	all.Wait()
	if now := processes(t, s.Socket()); len(now) > before+entering+1 {
		t.Errorf("%d processes before, now:\n%s", before, strings.Join(now, "\n"))
	}
	begin = time.Now()
	if _, err := Open(t.Context(), Config{Dir: s.program.layout.dir}); hitchpost.KindOf(err) != hitchpost.UnavailableError ||
		time.Since(begin) > callLimit+time.Second {
		t.Errorf("Open: %v after %v", err, time.Since(begin))
	}
	begin = time.Now()
	if open.view.Close(); time.Since(begin) > time.Second {
		t.Errorf("Close took %v", time.Since(begin))
	}
	if err := syscall.Kill(server, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it answers again", func() bool {
		panes, err := s.Panes(t.Context())
		return err == nil && len(panes) >= 1 && panes[0].Session == "asleep"
	})
	sc := attach(t, s, Attach{Session: "asleep", Terminal: terminal(sizes[0]), ReplayLines: -1})
	eventually(t, "the screen again", func() bool { return sc.shows("ready") })
}

// With patience a server that lives and does not answer is no obstacle, and is found by itself once it does.
func TestOpenWithPatience(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	first := pid(t, s)
	if err := syscall.Kill(first, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(first, syscall.SIGCONT) }()
	patient, err := Open(t.Context(), Config{Dir: s.program.layout.dir, Patient: true})
	if err != nil {
		t.Fatal(err)
	}
	defer patient.Close()
	if _, err := patient.Panes(t.Context()); hitchpost.KindOf(err) != hitchpost.UnavailableError || errors.Is(err, ErrNoServer) {
		t.Errorf("Panes: %v", err)
	}
	if err := syscall.Kill(first, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is found", func() bool { return patient.Version() != "" })
	if got := pid(t, patient); got != first {
		t.Errorf("process %d, was %d", got, first)
	}
}

// What the user wrote for tmux, and where the user is in one, makes no difference; nor does the locale.
func TestNothingOfTheUsersCounts(t *testing.T) {
	home := newDir(t)
	hostile := "set -g base-index 1\nset -g default-command cat\nset-hook -g session-created 'kill-server'\n" +
		"set -g remain-on-exit off\nset -g history-limit 10\nset -g prefix None\nnonsense\n"
	for _, path := range []string{".tmux.conf", ".config/tmux/tmux.conf"} {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(hostile), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("TMUX", "/nowhere/else,1,0")
	t.Setenv("TMUX_TMPDIR", "/nowhere")
	t.Setenv("TERM", "nonsense")
	t.Setenv("HITCHPOST_SECRET", "leaked")
	for _, locale := range []string{"", "C", "xx_YY.UTF-8"} {
		t.Setenv("LANG", locale)
		t.Setenv("LC_ALL", locale)
		s := newServer(t)
		dir := newDir(t)
		start(t, s, "plain", sizes[0],
			sh(`env >%s/env; printf "\303\251 \346\227\245 \360\237\231\202\n"; seq 1 100; exec cat`, dir)...)
		waitFor(t, s, "plain", "100")
		rows := cutOf(t, s, Attach{Session: "plain", Terminal: terminal(sizes[0]), ReplayLines: -1, Clear: true})
		if len(rows) < 101 || rows[0] != "é 日 🙂" || rows[100] != "100" {
			t.Errorf("LANG=%s: %q", locale, rows)
		}
		env, err := os.ReadFile(filepath.Join(dir, "env"))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(env, []byte("leaked")) || bytes.Contains(env, []byte("/nowhere")) || !bytes.Contains(env, []byte("UTF-8")) {
			t.Errorf("LANG=%s: the environment of a pane:\n%s", locale, env)
		}
		if got := raw(t, s, "show-options", "-gv", "history-limit"); got != "50000" {
			t.Errorf("history-limit is %s", got)
		}
	}
}
