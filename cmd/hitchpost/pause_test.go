package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// standing is how a session stands, and since when.
type standing struct {
	State    string
	Since    time.Time `json:"state_since"`
	Restarts int
	Ended    *time.Time `json:"ended_at"`
}

func (s *stack) standings() map[string]standing {
	s.t.Helper()
	var doc struct {
		Sessions []struct {
			Handle string
			standing
		}
	}
	must(s.t, json.Unmarshal([]byte(s.ok("ls", "--json")), &doc))
	all := map[string]standing{}
	for _, one := range doc.Sessions {
		all[one.Handle] = one.standing
	}
	return all
}

// TestServiceStandsStill stops the service for longer than a silent client has, a start may take and a reconcile pass is
// apart, as a suspended machine or an overloaded one does, and lets it go on. Nothing has happened to anybody.
func TestServiceStandsStill(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	s.ok("new", "--title", "idle", "--", "cat")
	s.ok("new", "--title", "done", "--", "sh", "-c", "read x")
	s.ok("stop", "done")
	s.ok("new", "--title", "slow", "--", "sh", "-c", `trap "" TERM; echo deaf; while :; do sleep 1; done`)
	s.eventually("it is deaf", func() bool { return strings.Contains(s.ok("capture", "slow"), "deaf") })
	s.script("", "stop", "slow", "--timeout", "10m")
	s.becomes("slow", "STOPPING")
	attached, list := s.open(80, 24, "attach", "job"), s.open(80, 24)
	attached.sees("row 500")
	list.sees("idle")
	s.becomes("job", "RUNNING")
	before := s.standings()

	must(t, s.serve.Process.Signal(syscall.SIGSTOP))
	pause := time.NewTimer(50 * time.Second)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-s.ended:
		t.Fatal("serve has ended")
	}
	must(t, s.serve.Process.Signal(syscall.SIGCONT))

	if diff := cmp.Diff(before, s.standings()); diff != "" {
		t.Errorf("before -, after +:\n%s", diff)
	}
	attached.line("still here")
	attached.sees("row 501 still here")
	eventually(t, "the node is known to answer", func() bool { return strings.Contains(s.ok("node", "ls"), "ONLINE") }, s.log.String)
	if diff := cmp.Diff(before, s.standings()); diff != "" { // a reconcile pass later
		t.Errorf("before -, a little later +:\n%s", diff)
	}
	list.keys("q")
	attached.keys("C-]")
	for _, client := range []*terminal{list, attached} {
		if code := client.left(); code != 0 {
			t.Errorf("exit status %d\n%s", code, client.screen())
		}
	}
	if log := s.log.String(); strings.Contains(log, "does not answer") {
		t.Errorf("a client was taken for dead:\n%s", log)
	}
}
