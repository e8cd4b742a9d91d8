package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/shirou/gopsutil/v4/process"
)

// daemon starts a session whose program leaves a process of its own behind when tmux is lost, and returns that.
func (s *stack) daemon(title string) int {
	s.t.Helper()
	s.ok("new", "--title", title, "--", "sh", "-c", `setsid sh -c 'echo "daemon $$ is up"; exec sleep 1000' & cat`)
	var pid int
	eventually(s.t, "the daemon is up", func() bool {
		_, text, _ := strings.Cut(s.ok("capture", title), "daemon ")
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(text), " is up"))
		pid = n
		return err == nil
	}, func() string { return s.ok("capture", title) })
	s.t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

// TestRestartBesideASurvivor loses sessions of which one left a process behind that tmux did not take with it. That one
// is not restarted unless it is forced, and then beside the process.
func TestRestartBesideASurvivor(t *testing.T) {
	t.Parallel()
	s := start(t)
	pid := s.daemon("agent")
	s.ok("new", "--title", "one", "--", "cat")
	s.ok("new", "--title", "two", "--", "cat")
	_, err := s.tmux("kill-server")
	must(t, err)
	for _, ref := range []string{"agent", "one", "two"} {
		s.becomes(ref, "RECOVERABLE")
	}

	named := fmt.Sprintf("agent left a process behind: sleep (process %d, since ", pid)
	got := s.ssh("restart", "agent")
	if got.code != 4 || got.out != "" || !strings.HasPrefix(got.err, "hitchpost: "+named) || !strings.Contains(got.err, "(--force)") {
		t.Errorf("restart: %+v", got)
	}
	got = s.ssh("restart", "agent", "--json")
	var doc struct {
		Error struct{ Code, Message, Hint string }
	}
	if err := json.Unmarshal([]byte(got.err), &doc); err != nil || got.code != 4 || doc.Error.Code != "conflict" ||
		!strings.HasPrefix(doc.Error.Message, named) || !strings.Contains(doc.Error.Hint, "--force") {
		t.Errorf("restart --json: %+v, %v", got, err)
	}
	got = s.ssh("restart", "--all")
	if got.code != 4 || strings.Count(got.out, "\n") != 2 || strings.Contains(got.out, "agent") || !strings.Contains(got.err, named) {
		t.Errorf("restart --all: %+v", got)
	}
	s.becomes("one", "DETACHED")
	s.becomes("two", "DETACHED")
	if was := s.show("agent"); was.State != "RECOVERABLE" || was.Restarts != 0 || !alive(pid) {
		t.Errorf("after the refusals: %+v, process alive %v", was, alive(pid))
	}
	s.ok("restart", "agent", "--force")
	s.becomes("agent", "DETACHED")
	if !alive(pid) {
		t.Error("the survivor did not survive the restart")
	}
}

// TestServeWithinItsOwnSession starts the service from within one of its sessions, as somebody does who works on it. It
// carries that session's mark then, is no survivor of it, and hands the mark to nobody.
func TestServeWithinItsOwnSession(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "job", "--", "cat")
	id := s.idOf("job")
	s.killTmux()
	s.down(syscall.SIGTERM)
	ours := s.env
	s.env = append(slices.Clone(ours), "HITCHPOST_SESSION="+id)
	s.up()
	s.env = ours
	s.becomes("job", "RECOVERABLE")
	s.ok("restart", "job")
	s.becomes("job", "DETACHED")
	s.ok("new", "--title", "other", "--", "cat")

	marks := map[string]int{}
	pids := s.tmuxPids()
	for _, pid := range pids {
		if mark := mark(t, pid); mark != "" {
			marks[mark]++
		}
	}
	if want := map[string]int{id: 1, s.idOf("other"): 1}; fmt.Sprint(marks) != fmt.Sprint(want) {
		t.Errorf("of %d processes below tmux there carry a mark %v, want %v", len(pids), marks, want)
	}
}

// mark is the session's id that a process carries in its environment.
func mark(t *testing.T, pid int) string {
	t.Helper()
	env, err := (&process.Process{Pid: int32(pid)}).Environ()
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range env {
		if id, ok := strings.CutPrefix(kv, "HITCHPOST_SESSION="); ok {
			return id
		}
	}
	return ""
}
