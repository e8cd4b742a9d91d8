package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hitchpost/hitchpost/sshd/command/commandtest"
)

// diagnosed is what doctor prints.
type diagnosed struct {
	OK         bool
	TmuxSocket string `json:"tmux_socket"`
	Checks     []struct{ Name, State, Detail, Hint string }
}

func (s *stack) doctor() diagnosed {
	s.t.Helper()
	cmd := exec.Command(built, "doctor", "--json", "--data-dir", s.path("data"), "--database-url", s.flags[len(s.flags)-1])
	cmd.Env = s.env
	out, err := cmd.Output()
	var doc diagnosed
	if jerr := json.Unmarshal(out, &doc); jerr != nil {
		s.t.Fatalf("%v %v\n%s", err, jerr, out)
	}
	schema, err := commandtest.Compile([]byte(ran(s.t, "help", "--schema", "doctor").out))
	must(s.t, err)
	if err := schema.Check(out); err != nil {
		s.t.Errorf("%v: %s", err, out)
	}
	for _, c := range doc.Checks {
		if c.State == "bad" {
			s.t.Errorf("%+v", c)
		}
	}
	return doc
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	s := start(t)
	doc := s.doctor()
	if want := filepath.Join(s.path("data"), "tmux", "tmux.sock"); doc.TmuxSocket != want {
		t.Errorf("tmux_socket %q, want %q", doc.TmuxSocket, want)
	}
	if c := doc.Checks[1]; c.Name != "serve" || c.State != "ok" ||
		c.Detail != fmt.Sprintf("running as process %d", s.serve.Process.Pid) {
		t.Errorf("while serve runs: %+v", c)
	}
	s.down(syscall.SIGKILL)
	if c := s.doctor().Checks[1]; c.State != "warn" || !strings.Contains(c.Detail, "nobody can log in") || c.Hint == "" {
		t.Errorf("after serve was killed: %+v", c)
	}
}
