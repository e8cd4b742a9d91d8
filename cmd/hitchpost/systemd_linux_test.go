package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost/store/storetest"
)

// TestUnitsVerify has systemd read the units. It must have nothing to say: what it does not understand it ignores.
func TestUnitsVerify(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Fatalf("systemd-analyze is not there, install systemd: %v", err)
	}
	for flag, in := range map[string]installation{"--system": ofTheMachine(), "--user": ofAnAccount()} {
		in.Binary = built // the program of a unit must be there
		dir := t.TempDir()
		var paths []string
		for name, text := range systemdUnits(in) {
			path := filepath.Join(dir, name)
			must(t, writeFile(path, text))
			paths = append(paths, path)
		}
		cmd := exec.Command(analyze, append([]string{flag, "verify", "--man=no"}, paths...)...)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "SYSTEMD_LOG_LEVEL=warning")
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("systemd-analyze %s verify: %v\n%s", flag, err, out)
		}
	}
}

// TestSystemdKeepsSessionsApart has a systemd run the units: whatever becomes of the service's control group, the sessions
// are in another one, and go on.
func TestSystemdKeepsSessionsApart(t *testing.T) {
	t.Parallel()
	s := prepare(t)
	m := s.manage(systemdUnits(installation{
		Binary: built, DataDir: s.path("data"), Path: os.Getenv("PATH"), EnvFile: s.path("env"),
		Flags: []string{"--listen", s.addr, "--reconcile-every", "2s", "--database-url", storetest.URL(t)},
	}))
	m.does("start", serveUnit)
	s.eventually("serve listens", func() bool { return s.ssh("whoami").code == 0 })
	s.ok("new", "--title", "job", "--", "sleep", "1000003")
	id := strings.TrimSpace(s.ok("task", "run", "--", "sleep", "1000004"))
	var pids []int
	for _, text := range []string{"/tmux.sock", "sleep 1000003", "sleep 1000004"} {
		s.eventually(text+" is in the unit of the sessions", func() bool { return m.only(tmuxUnit, text) != 0 })
		pids = append(pids, m.only(tmuxUnit, text))
	}
	serve := m.only(serveUnit, " serve ")
	for pid, line := range m.in(serveUnit) {
		if pid != serve && !strings.Contains(line, "attach-session") {
			t.Errorf("process %d in the unit of the service: %s", pid, line)
		}
	}

	m.does("kill", "--signal", "KILL", serveUnit) // all of the group, as when memory runs out
	s.eventually("another serve listens", func() bool {
		now := m.only(serveUnit, " serve ")
		return now != 0 && now != serve && s.ssh("whoami").code == 0
	})
	for _, how := range []string{"restart", "stop"} {
		m.does(how, serveUnit)
		for i, text := range []string{"/tmux.sock", "sleep 1000003", "sleep 1000004"} {
			if pid := m.only(tmuxUnit, text); pid != pids[i] {
				t.Errorf("after %s %q is process %d, was %d", how, text, pid, pids[i])
			}
		}
	}
	m.does("start", serveUnit)
	s.eventually("the session and the task go on", func() bool {
		return s.ssh("show", "job", "--json").code == 0 && s.show("job").State == "DETACHED" &&
			strings.Contains(s.ssh("task", "show", id, "--json").out, `"RUNNING"`)
	})
	m.does("stop", tmuxUnit)
	s.eventually("the end of the sessions' unit ends them", func() bool { return len(m.in(tmuxUnit)) == 0 })
}
