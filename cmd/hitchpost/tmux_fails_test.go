package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
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

// dropTmuxClients kills every tmux client of serve, so that its next word with tmux needs a new one.
func (s *stack) dropTmuxClients() {
	s.t.Helper()
	for _, pid := range descendants(s.serve.Process.Pid) {
		out, err := exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
		if err == nil && strings.Contains(string(out), s.path("data/tmux")) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// TestRow13TmuxFails puts a wrapper around tmux that fails, hangs and gives half an answer. No state may change by that:
// unknown is not gone.
func TestRow13TmuxFails(t *testing.T) {
	t.Parallel()
	real, err := exec.LookPath("tmux")
	must(t, err)
	s := start(t)
	s.down(syscall.SIGTERM)
	must(t, os.Mkdir(s.path("bin"), 0o700))
	must(t, writeFile(s.path("mode"), "ok"))
	wrapper := fmt.Sprintf("#!/bin/sh\nread -r mode < %q\ncase $mode in\nfail) echo 'server broke' >&2; exit 1;;\nhang) exec sleep 1000;;\n"+
		"half) printf '%%%%begin 1 1 0\\n$1 hp-'; exit 0;;\nesac\nexec %q \"$@\"\n", s.path("mode"), real)
	must(t, os.WriteFile(s.path("bin/tmux"), []byte(wrapper), 0o700))
	s.env[0] = "PATH=" + s.path("bin") + ":" + os.Getenv("PATH")
	s.up()
	s.counter("job")
	s.ok("new", "--title", "brief", "--", "sh", "-c", "read x; exit 4")
	pid, brief := s.panePid("job"), s.idOf("brief")
	for _, mode := range []string{"fail", "hang", "half"} {
		must(t, writeFile(s.path("mode"), mode+"\n"))
		s.dropTmuxClients()
		s.nodeBecomes("OFFLINE")
		for _, ref := range []string{"job", "brief"} {
			if got := s.show(ref); got.State != "DETACHED" {
				t.Errorf("%s: %s is %s", mode, ref, got.State)
			}
		}
		if got := s.ssh("new", "--", "cat"); got.code != 75 {
			t.Errorf("%s: new: exit %d, want 75\n%s", mode, got.code, got.err)
		}
		must(t, writeFile(s.path("mode"), "ok\n"))
		s.nodeBecomes("ONLINE")
		if got := s.panePid("job"); got != pid {
			t.Errorf("%s: process %s, was %s", mode, got, pid)
		}
		if got := s.show("job"); got.State != "DETACHED" || got.Restarts != 0 {
			t.Errorf("%s: afterwards %+v", mode, got)
		}
	}
	// What happened meanwhile is caught up.
	_, err = s.tmux("send-keys", "-t", "=hp-"+brief+":", "Enter")
	must(t, err)
	if got := s.becomes("brief", "FAILED"); got.ExitCode == nil || *got.ExitCode != 4 {
		t.Errorf("exit code %v", got.ExitCode)
	}
}

// TestRow13TmuxStops stops the tmux server's process: it lives and does not answer, which is not the same as gone.
func TestRow13TmuxStops(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	server := s.tmuxPids()[0]
	must(t, syscall.Kill(server, syscall.SIGSTOP))
	resume := func() { _ = syscall.Kill(server, syscall.SIGCONT) }
	t.Cleanup(resume)
	s.nodeBecomes("OFFLINE")
	if got := s.show("job"); got.State != "DETACHED" {
		t.Errorf("job is %s", got.State)
	}
	term := s.open(80, 24, "attach", "job")
	if code := term.left(); code != 75 {
		t.Errorf("attach: exit %d, want 75\n%s", code, term.screen())
	}
	picker := s.open(80, 24)
	picker.sees("job")
	before := len(descendants(s.serve.Process.Pid))
	for range 3 {
		if got := s.ssh("capture", "job"); got.code != 75 {
			t.Errorf("capture: exit %d, want 75\n%s", got.code, got.err)
		}
	}
	if now := len(descendants(s.serve.Process.Pid)); now > before+3 {
		t.Errorf("%d processes, were %d: they pile up", now, before)
	}
	resume()
	s.nodeBecomes("ONLINE")
	if got := s.show("job"); got.State != "DETACHED" || got.Restarts != 0 {
		t.Errorf("afterwards %+v", got)
	}
	again := s.open(80, 24, "attach", "job")
	again.sees("row 500")
}

// TestTmuxSocketRemoved removes the socket of a living server, as a cleaner of old files does: the server makes it
// again, and no second one is started beside it.
func TestTmuxSocketRemoved(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	server := s.tmuxPids()[0]
	must(t, os.Remove(s.path("data/tmux/tmux.sock")))
	s.dropTmuxClients()
	s.ok("new", "--title", "other", "--", "cat")
	if got := s.tmuxPids(); len(got) == 0 || got[0] != server {
		t.Errorf("server %v, was %d", got, server)
	}
	if got := s.show("job"); got.State != "DETACHED" {
		t.Errorf("job is %s", got.State)
	}
	term := s.open(80, 24, "attach", "job")
	term.sees("row 500")
}
