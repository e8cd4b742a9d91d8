package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/store/storetest"
)

// node is this machine as scripts see it.
func (s *stack) node() (state, reason string) {
	s.t.Helper()
	var doc struct {
		Nodes []struct{ Name, State, Reason string }
	}
	must(s.t, json.Unmarshal([]byte(s.ok("node", "ls", "--json")), &doc))
	if len(doc.Nodes) != 1 {
		s.t.Fatalf("nodes: %+v", doc)
	}
	return doc.Nodes[0].State, doc.Nodes[0].Reason
}

func (s *stack) nodeBecomes(state string) {
	s.t.Helper()
	var now, reason string
	eventually(s.t, "the node becomes "+state, func() bool { now, reason = s.node(); return now == state },
		func() string { return now + " " + reason })
}

// argsOf are the words of a process; empty where it is gone.
func argsOf(pid int) string {
	out, err := exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// dropTmuxClients kills every tmux client of serve, so that its next word with tmux needs a new one.
func (s *stack) dropTmuxClients() {
	s.t.Helper()
	for _, pid := range descendants(s.serve.Process.Pid) {
		if strings.Contains(argsOf(pid), s.path("data/tmux")) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// servers are the processes that were started as the tmux server of this stack.
func (s *stack) servers() []int {
	s.t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,args=").Output()
	must(s.t, err)
	var found []int
	for line := range strings.Lines(string(out)) {
		pid, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.Contains(args, s.path("data/tmux/tmux.sock")+" new-session") && !strings.Contains(args, " -N ") {
			n, err := strconv.Atoi(pid)
			must(s.t, err)
			found = append(found, n)
		}
	}
	return found
}

// wrapTmux puts a script in the place of tmux that does what the file mode says.
func (s *stack) wrapTmux() (mode func(string)) {
	t := s.t
	t.Helper()
	real, err := exec.LookPath("tmux")
	must(t, err)
	must(t, os.Mkdir(s.path("bin"), 0o700))
	mode = func(m string) { must(t, os.WriteFile(s.path("mode"), []byte(m+"\n"), 0o600)) }
	mode("ok")
	script := fmt.Sprintf(`#!/bin/sh
read -r mode < %[1]q
real=%[2]q
case $mode in
fail) echo 'server broke' >&2; exit 1;;
hang) exec sleep 1000;;
empty) exit 0;;
garbage) head -c 3000 /dev/urandom; exit 0;;
half) printf '%%%%begin 1 1 0\n$1 hp-'; exit 0;;
cut) case " $* " in *' -C '*) "$real" "$@" | sed -u 's/^\(hp-[^|]*|[^|]*|\).*/\1/';; *) exec "$real" "$@";; esac; exit 0;;
lines) case " $* " in *' -C '*) "$real" "$@" | sed -u '/^hp-/d';; *) exec "$real" "$@";; esac; exit 0;;
esac
exec "$real" "$@"
`, s.path("mode"), real)
	must(t, os.WriteFile(s.path("bin/tmux"), []byte(script), 0o700))
	s.env[0] = "PATH=" + s.path("bin") + ":" + os.Getenv("PATH")
	return mode
}

// TestRow13TmuxFails puts a wrapper around tmux that fails, hangs, says nothing or nonsense, and gives half an answer. No
// state may change by that: unknown is not gone.
func TestRow13TmuxFails(t *testing.T) {
	t.Parallel()
	s := prepare(t, "--database-url", storetest.URL(t))
	mode := s.wrapTmux()
	s.up()
	s.counter("job")
	s.ok("new", "--title", "brief", "--", "sh", "-c", "read x; exit 4")
	pid, brief, server := s.panePid("job"), s.idOf("brief"), s.servers()
	for _, how := range []string{"fail", "hang", "empty", "garbage", "half", "cut", "lines"} {
		mode(how)
		s.dropTmuxClients()
		s.nodeBecomes("OFFLINE")
		for _, ref := range []string{"job", "brief"} {
			if got := s.show(ref); got.State != "DETACHED" {
				t.Errorf("%s: %s is %s", how, ref, got.State)
			}
		}
		// With a connection that answers wrongly only where sessions are listed, others can be made.
		if got := s.ssh("new", "--title", "other", "--", "cat"); how != "cut" && how != "lines" && got.code != 75 {
			t.Errorf("%s: new: exit %d, want 75\n%s", how, got.code, got.err)
		}
		mode("ok")
		s.dropTmuxClients()
		s.nodeBecomes("ONLINE")
		if got := s.panePid("job"); got != pid {
			t.Errorf("%s: process %s, was %s", how, got, pid)
		}
		for _, ref := range []string{"job", "brief"} {
			if got := s.show(ref); got.State != "DETACHED" || got.Restarts != 0 {
				t.Errorf("%s: afterwards %+v", how, got)
			}
		}
		if got := s.servers(); fmt.Sprint(got) != fmt.Sprint(server) {
			t.Fatalf("%s: servers %v, were %v", how, got, server)
		}
	}
	if got := kinds(s.events("job")); got != "created started" {
		t.Errorf("events of job: %s", got)
	}
	// What happened meanwhile is caught up.
	s.endOf(brief)
	if got := s.becomes("brief", "FAILED"); got.ExitCode == nil || *got.ExitCode != 4 {
		t.Errorf("exit code %v", got.ExitCode)
	}
}

// TestRow13TmuxStops stops the tmux server's process: it lives and does not answer, which is not the same as gone, also
// for a serve that is started meanwhile.
func TestRow13TmuxStops(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	pid, servers := s.panePid("job"), s.servers()
	if len(servers) != 1 {
		t.Fatalf("servers %v", servers)
	}
	resume := func() { _ = syscall.Kill(servers[0], syscall.SIGCONT) }
	t.Cleanup(resume)
	for _, when := range []string{"under serve", "before serve"} {
		if when == "before serve" {
			s.down(syscall.SIGTERM)
		}
		must(t, syscall.Kill(servers[0], syscall.SIGSTOP))
		if when == "before serve" {
			begin := time.Now()
			s.up()
			t.Logf("serve listens beside a stopped tmux after %v", time.Since(begin))
		}
		s.nodeBecomes("OFFLINE")
		s.wedged()
		if got := s.servers(); fmt.Sprint(got) != fmt.Sprint(servers) {
			t.Fatalf("%s: servers %v, were %v", when, got, servers)
		}
		resume()
		s.nodeBecomes("ONLINE")
		if got := s.show("job"); got.State != "DETACHED" || got.Restarts != 0 || s.panePid("job") != pid {
			t.Errorf("%s: afterwards %+v", when, got)
		}
		again := s.stream("attach", "job")
		again.shows("row 500")
		again.types("\x1d")
		again.leaves(0)
		s.becomes("job", "DETACHED")
	}
}

// wedged holds what a person finds while tmux does not answer.
func (s *stack) wedged() {
	t := s.t
	t.Helper()
	if got := s.show("job"); got.State != "DETACHED" {
		t.Errorf("job is %s", got.State)
	}
	begin := time.Now()
	s.stream("attach", "job").leaves(75)
	t.Logf("an attach failed after %v", time.Since(begin))
	picker := s.open(80, 24)
	picker.sees("job")
	picker.kill()
	before := len(descendants(s.serve.Process.Pid))
	var wg sync.WaitGroup
	for _, words := range [][]string{{"capture", "job"}, {"new", "--", "cat"}, {"capture", "job"}, {"history", "job"}} {
		wg.Go(func() {
			if got := s.ssh(words...); got.code != 75 {
				t.Errorf("%v: exit %d, want 75\n%s", words, got.code, got.err)
			}
		})
	}
	wg.Wait()
	if now := len(descendants(s.serve.Process.Pid)); now > before+3 {
		t.Errorf("%d processes, were %d: they pile up", now, before)
	}
}

// TestRow13SocketRemoved removes the socket of a living server, as a cleaner of old files does, under a serve, before one
// starts, and while the server does not answer: the server puts it back, and no second one is started beside it.
func TestRow13SocketRemoved(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	pid, servers := s.panePid("job"), s.servers()
	socket := s.path("data/tmux/tmux.sock")
	lives := func(when string) {
		t.Helper()
		s.nodeBecomes("ONLINE")
		if got := s.servers(); len(got) != 1 || fmt.Sprint(got) != fmt.Sprint(servers) {
			t.Fatalf("%s: servers %v, were %v", when, got, servers)
		}
		if got := s.show("job"); got.State != "DETACHED" || s.panePid("job") != pid {
			t.Errorf("%s: %+v", when, got)
		}
		term := s.stream("attach", "job")
		term.shows("row 500")
		term.types("\x1d")
		term.leaves(0)
		s.becomes("job", "DETACHED")
	}

	must(t, os.Remove(socket))
	s.dropTmuxClients()
	s.ok("new", "--title", "other", "--", "cat")
	lives("under serve")

	s.down(syscall.SIGTERM)
	must(t, os.Remove(socket))
	s.up()
	lives("before serve")

	must(t, syscall.Kill(servers[0], syscall.SIGSTOP))
	resume := func() { _ = syscall.Kill(servers[0], syscall.SIGCONT) }
	t.Cleanup(resume)
	must(t, os.Remove(socket))
	s.dropTmuxClients()
	s.nodeBecomes("OFFLINE")
	if got := s.ssh("new", "--", "cat"); got.code != 75 {
		t.Errorf("new: exit %d, want 75\n%s", got.code, got.err)
	}
	s.down(syscall.SIGTERM)
	s.up()
	s.nodeBecomes("OFFLINE")
	if got := s.servers(); len(got) != 1 {
		t.Fatalf("servers %v", got)
	}
	resume()
	lives("while stopped")
}
