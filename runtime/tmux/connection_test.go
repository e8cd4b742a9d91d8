package tmux

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// The lobby is made again when it ends, with all that waits in it; views and sessions do not notice.
func TestLobbyEnds(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "stays", sizes[0], sh("echo ready; exec cat")...)
	sc := attach(t, s, Attach{Session: "stays", Terminal: terminal(sizes[0]), ReplayLines: -1})
	eventually(t, "the screen", func() bool { return sc.shows("ready") })
	first := pid(t, s)
	for range 3 {
		drain(s)
		raw(t, s, "kill-session", "-t", "="+lobby)
		select {
		case <-s.Events():
		case <-time.After(patience):
			t.Fatal("no event")
		}
		if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 1 {
			t.Fatalf("%+v, %v", panes, err)
		}
		again := attach(t, s, Attach{Session: "stays", Terminal: terminal(sizes[0]), ReplayLines: -1})
		eventually(t, "the screen", func() bool { return again.shows("ready") })
	}
	if got := pid(t, s); got != first {
		t.Errorf("process %d instead of %d", got, first)
	}
	write(t, sc.view, "typed\r")
	eventually(t, "the first view goes on", func() bool { return sc.shows("typed") })
}

// Events go on after the connection was lost, without a call in between.
func TestConnectionIsKept(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "watched", sizes[0], "sleep", "1000000")
	first := s.control
	first.kill()
	eventually(t, "another connection", func() bool {
		<-s.link
		defer func() { s.link <- struct{}{} }()
		return s.control != nil && s.control != first
	})
	drain(s)
	raw(t, s, "kill-session", "-t", target("watched"))
	select {
	case <-s.Events():
	case <-time.After(patience):
		t.Fatal("no event")
	}
}

// What may be done twice is done on another connection where this one is lost while it is used: none of those tries is
// spent on the lost one, of which nobody was told yet.
func TestKillOnALostConnection(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "gone", sizes[0], "sleep", "1000000")
	for range 10 {
		<-s.link
		lost := s.control
		lost.in.Close() // as after the end of the client: a write fails before the reader sees it
		s.link <- struct{}{}
		if _, err := lost.run(t.Context(), command{"display-message"}); !errors.Is(err, errLost) {
			t.Fatal(err)
		}
		select {
		case <-lost.gone:
		default:
			t.Fatal("the connection that was lost still counts as one")
		}
		if err := s.Kill(t.Context(), "gone"); err != nil {
			t.Fatal(err)
		}
	}
}

// A server that has just been killed is no reason to refuse a start.
func TestStartOnALostConnection(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i := range 10 {
		if err := syscall.Kill(pid(t, s), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Start(t.Context(), Start{Session: fmt.Sprint("s", i), Command: []string{"sleep", "1000000"}}); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid(t, s), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := s.StartTask(t.Context(), fmt.Sprint("t", i), []string{"sleep", "1000000"}); err != nil {
			t.Fatal(err)
		}
	}
}

// A service that is killed leaves its sessions and no process of its own; the next one takes them up.
func TestKilledServiceLeavesOnlySessions(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	cmd := exec.Command(os.Args[0], "serve", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if l, err := bufio.NewReader(out).ReadString('\n'); err != nil || l != "ready\n" {
		t.Fatalf("%q, %v", l, err)
	}
	socket := filepath.Join(dir, "tmux.sock")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "only the server is left", func() bool { return len(processes(t, socket)) == 1 })
	s, err := Open(t.Context(), Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer killServer(t, s)
	defer s.Close()
	panes, err := s.Panes(t.Context())
	if err != nil || len(panes) != 1 || panes[0].Session != "made" || panes[0].Dead || panes[0].Attached != 0 {
		t.Errorf("%+v, %v", panes, err)
	}
}

// wrapper is a tmux in the place of the real one.
func wrapper(t *testing.T, script string) string {
	t.Helper()
	real, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal("install tmux 3.3 or newer: ", err)
	}
	path := filepath.Join(newDir(t), "tmux")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nreal="+real+"\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// An upgraded tmux that cannot talk to the old server is told from a dead server. Where the system lets us, the old
// binary goes on serving; else the error says what happened. Nothing is lost either way.
func TestUpgradedBinary(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "old", sizes[0], sh("echo ready; exec cat")...)
	first := pid(t, s)
	s.Close()
	upgraded := wrapper(t, `[ "$1" = -V ] && { echo tmux 9.1; exit; }
echo "protocol version mismatch (client 9, server 8)" >&2; exit 1`)
	again, err := Open(t.Context(), Config{Dir: s.program.layout.dir, Binary: upgraded})
	if runningBinary(first) == "" {
		if hitchpost.KindOf(err) != hitchpost.UnavailableError || !strings.Contains(err.Error(), "another version") {
			t.Errorf("Open: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.BinaryVersion() != "9.1" || again.Version() == "9.1" || pid(t, again) != first {
		t.Errorf("binary %s, server %s", again.BinaryVersion(), again.Version())
	}
	start(t, again, "new", sizes[0], "sleep", "1000000")
	sc := attach(t, again, Attach{Session: "old", Terminal: terminal(sizes[0]), ReplayLines: -1})
	eventually(t, "the screen", func() bool { return sc.shows("ready") })
}

// A tmux that is upgraded under a service that goes on does not keep people out.
func TestUpgradeWhileServing(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	path := wrapper(t, `[ -e `+dir+`/upgraded ] && { echo "protocol version mismatch (client 9, server 8)" >&2; exit 1; }
exec $real "$@"`)
	s := newServer(t, func(c *Config) { c.Binary = path })
	start(t, s, "old", sizes[0], sh("echo ready; exec cat")...)
	if runningBinary(pid(t, s)) == "" {
		return // this system does not show the binary of a process; TestUpgradedBinary holds what is left to hold
	}
	if err := os.WriteFile(filepath.Join(dir, "upgraded"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range spares + 2 {
		sc := attach(t, s, Attach{Session: "old", Terminal: terminal(sizes[0]), ReplayLines: -1})
		eventually(t, "the screen", func() bool { return sc.shows("ready") })
	}
	s.control.kill()
	eventually(t, "an answer", func() bool { panes, err := s.Panes(t.Context()); return err == nil && len(panes) == 1 })
	if err := os.Remove(filepath.Join(dir, "upgraded")); err != nil { // so that the test can end the server
		t.Fatal(err)
	}
}

func TestTooOldOrNone(t *testing.T) {
	t.Parallel()
	for binary, want := range map[string]string{
		wrapper(t, `echo tmux 3.2a`):                          "3.2a",
		wrapper(t, `exec sleep 1000`):                         "does not answer",
		filepath.Join(newDir(t), "none", "tmux"):              "not installed",
		wrapper(t, `echo tmux 3.3a; [ "$1" = -V ] || exit 1`): "start",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err := Open(ctx, Config{Dir: newDir(t), Binary: binary})
		cancel()
		if hitchpost.KindOf(err) != hitchpost.UnavailableError || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// Where the directory is too deep for a socket, the socket lies elsewhere, alone and closed to others, and is found
// again, also after its directory was cleaned away under the living server.
func TestDeepDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(newDir(t), strings.Repeat("deep/", 30)+"#{pid} #(x) it's [a]*")
	open := func() *Server {
		s, err := Open(t.Context(), Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	defer func() { os.RemoveAll(filepath.Dir(s.Socket())) }()
	defer killServer(t, s)
	defer s.Close()
	if len(s.Socket()) > maxSocketPath {
		t.Errorf("%s is %d bytes long", s.Socket(), len(s.Socket()))
	}
	info, err := os.Stat(filepath.Dir(s.Socket()))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	start(t, s, "deep", sizes[0], sh("seq 1 100; exec cat")...)
	waitFor(t, s, "deep", "100")
	rows := cutOf(t, s, Attach{Session: "deep", Terminal: terminal(sizes[0]), ReplayLines: -1, Clear: true})
	if rows[0] != "1" || rows[99] != "100" {
		t.Errorf("%q", rows)
	}
	first := pid(t, s)
	if err := os.RemoveAll(filepath.Dir(s.Socket())); err != nil {
		t.Fatal(err)
	}
	again := open()
	defer again.Close()
	if got := pid(t, again); got != first || again.Socket() != s.Socket() {
		t.Errorf("process %d at %s, first it was %d at %s", got, again.Socket(), first, s.Socket())
	}
}

func TestForeignDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(newDir(t), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Dir: file}); hitchpost.KindOf(err) != hitchpost.UnavailableError {
		t.Errorf("a file: %v", err)
	}
	dir := newDir(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := private(dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("an open directory stays open: %v, %v", info.Mode(), err)
	}
}

// A disk that takes no buffer is an error, and leaves none in tmux.
func TestNoRoomForABuffer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "full", sizes[0], sh("seq 1 100; exec cat")...)
	waitFor(t, s, "full", "100")
	s.bufferStem = "no/such/directory-" // the file cannot be made
	if _, err := s.Capture(t.Context(), "full", Capture{}); hitchpost.KindOf(err) != hitchpost.UnavailableError {
		t.Errorf("Capture: %v", err)
	}
	_, err := s.Attach(t.Context(), Attach{Session: "full", Terminal: terminal(sizes[0]), ReplayLines: -1})
	if hitchpost.KindOf(err) != hitchpost.UnavailableError || errors.Is(err, ErrNoSession) {
		t.Errorf("Attach: %v", err)
	}
	if got := raw(t, s, "list-buffers"); got != "" {
		t.Errorf("buffers are left: %s", got)
	}
}

// Where the disk has no room for buffers they come through a client, the same bytes.
func TestBuffersWithoutADisk(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "dry", sizes[0], sh(`printf 'caf\303\251 \033[31mred\033[m tab\there\\n\n'; seq 1 3000; exec cat`)...)
	waitFor(t, s, "dry", "3000")
	whole := Capture{History: true, ANSI: true}
	want, err := s.Capture(t.Context(), "dry", whole)
	if err != nil {
		t.Fatal(err)
	}
	s.bufferRoom = math.MaxUint64 // no disk has as much
	got, err := s.Capture(t.Context(), "dry", whole)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: %d bytes, want %d", err, len(got), len(want))
	}
	tails, err := s.Tails(t.Context(), []string{"dry"}, TailRows{50000, 50000})
	if err != nil || !bytes.Contains(want, tails["dry"].Screen) || len(tails["dry"].All) != len(want) {
		t.Errorf("%v: %d bytes, want %d", err, len(tails["dry"].All), len(want))
	}
	if _, err := s.Tails(t.Context(), []string{"dry", "absent"}, TailRows{50000, 500}); !errors.Is(err, ErrNoSession) {
		t.Errorf("one that is gone: %v", err)
	}
	v, err := s.Attach(t.Context(), Attach{Session: "dry", Terminal: terminal(sizes[0]), ReplayLines: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if !bytes.Contains(v.replay, []byte("\r\n2000\r\n")) {
		t.Errorf("a replay of %d bytes", len(v.replay))
	}
	if got := raw(t, s, "list-buffers"); got != "" {
		t.Errorf("buffers are left: %s", got)
	}
}
