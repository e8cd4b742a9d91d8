package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/store/storetest"
)

// event is one line of the log as scripts read it.
type event struct {
	ID          int64
	At          time.Time
	Event       string
	SessionID   *string `json:"session_id"`
	Handle      *string
	ToState     *string `json:"to_state"`
	Actor       *string
	Fingerprint *string
	Source      string
	Reason      *string
}

// events is what `events --json` prints.
func (s *stack) events(args ...string) []event {
	s.t.Helper()
	var list struct {
		Version int
		Events  []event
	}
	out := s.ok(append([]string{"events", "--json"}, args...)...)
	must(s.t, json.Unmarshal([]byte(out), &list))
	if list.Version != 1 {
		s.t.Errorf("version %d", list.Version)
	}
	return list.Events
}

// kinds are the names of events, in order.
func kinds(list []event) string {
	var out []string
	for _, e := range list {
		out = append(out, e.Event)
	}
	return strings.Join(out, " ")
}

// only are the events of a kind.
func only(list []event, kind string) (out []event) {
	for _, e := range list {
		if e.Event == kind {
			out = append(out, e)
		}
	}
	return out
}

// newKey makes a key pair and returns its file.
func (s *stack) newKey(name string) string {
	s.t.Helper()
	file := s.path(name)
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file).CombinedOutput(); err != nil {
		s.t.Fatalf("ssh-keygen: %v %s", err, out)
	}
	return file
}

// letIn makes a key that is let in with a role, under its name.
func (s *stack) letIn(name, role string) string {
	s.t.Helper()
	file := s.newKey(name)
	public, err := os.ReadFile(file + ".pub")
	must(s.t, err)
	if got := s.sshIn(string(public), "key", "add", "--actor", name, "--role", role, "-"); got.code != 0 {
		s.t.Fatalf("key add: %+v", got)
	}
	return file
}

// script is a command over ssh without a terminal that goes on.
type script struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  buffer
	errs buffer
	done chan struct{}
}

// script starts a command with a key of its own; empty: the stack's.
func (s *stack) script(key string, words ...string) *script {
	s.t.Helper()
	args := s.sshArgs(words...)
	if key != "" {
		args[slices.Index(args, s.path("home/.ssh/id_ed25519"))] = key
	}
	st := &script{t: s.t, cmd: exec.Command("ssh", args...), done: make(chan struct{})}
	st.cmd.Env, st.cmd.Stdout, st.cmd.Stderr = s.env, &st.out, &st.errs
	must(s.t, st.cmd.Start())
	go func() { _ = st.cmd.Wait(); close(st.done) }()
	s.t.Cleanup(func() {
		_ = st.cmd.Process.Kill()
		<-st.done
	})
	return st
}

// left waits for the end of the command and returns its exit status.
func (st *script) left() int {
	st.t.Helper()
	select {
	case <-st.done:
	case <-time.After(waitLimit):
		st.t.Fatalf("does not end\n%s%s", st.out.String(), st.errs.String())
	}
	return st.cmd.ProcessState.ExitCode()
}

// events are the whole lines that it has printed so far.
func (st *script) events() (list []event) {
	st.t.Helper()
	for line := range strings.Lines(st.out.String()) {
		if !strings.HasSuffix(line, "\n") {
			break
		}
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			st.t.Fatalf("%v: %q", err, line)
		}
		list = append(list, e)
	}
	return list
}

// sees waits until it has printed something.
func (st *script) sees(text string) {
	st.t.Helper()
	eventually(st.t, "the events show "+text, func() bool { return strings.Contains(st.out.String(), text) }, func() string {
		return st.out.String() + st.errs.String()
	})
}

// TestEventsOfALife follows a session from its start to its end and afterwards.
func TestEventsOfALife(t *testing.T) {
	t.Parallel()
	s := start(t)
	follow := s.script("", "events", "--follow", "--json", "--since", "1h")
	s.ok("new", "--title", "job", "--", "sh", "-c", "echo ready; read x; exit 3")
	id := s.idOf("job")
	first := s.open(80, 24, "attach", "job")
	first.sees("ready")
	s.becomes("job", "RUNNING")
	first.keys("C-]")
	if code := first.left(); code != 0 {
		t.Errorf("detach: exit status %d", code)
	}
	s.becomes("job", "DETACHED")
	second := s.open(80, 24, "attach", "job")
	second.sees("ready")
	s.becomes("job", "RUNNING")
	second.keys("Enter")
	second.sees("ended")
	s.becomes("job", "FAILED")
	second.keys("q")
	second.left()
	s.ok("close", "job")
	follow.sees(`"event":"closed"`)
	const want = "created started attached detached attached exited_badly"
	life := s.events(id)
	if got := kinds(life); !strings.HasPrefix(got, want) || !strings.Contains(got, "closed") {
		t.Errorf("events %s, want %s and then closed", got, want)
	}
	own := fingerprint(t, s.path("home/.ssh/id_ed25519"))
	for _, e := range life {
		if e.Source == "" || e.Reason == nil || *e.SessionID != id || *e.Handle != "job" {
			t.Errorf("%+v", e)
		}
		if byHand := slices.Contains([]string{"created", "attached", "detached", "closed"}, e.Event); byHand &&
			(e.Actor == nil || e.Fingerprint == nil || *e.Fingerprint != own) {
			t.Errorf("%s by %v with %v", e.Event, e.Actor, e.Fingerprint)
		}
	}
	if exit := only(life, "exited_badly"); *exit[0].Reason != "exit 3" || exit[0].Source != "exit" || *exit[0].ToState != "FAILED" {
		t.Errorf("exit %+v %s", exit[0], *exit[0].Reason)
	}
	var followed []event
	for _, e := range follow.events() {
		if e.SessionID != nil {
			followed = append(followed, e)
		}
	}
	if got := kinds(followed); !strings.HasPrefix(kinds(life), got) {
		t.Errorf("followed %s, the log has %s", got, kinds(life))
	}
	// One line for all logins of a minute from here, though there were many; more only when the minute was over.
	if logins := only(s.events(), "login"); len(logins) == 0 || len(logins) > 6 ||
		!strings.HasPrefix(*logins[0].Reason, "from 127.0.0.1 as ") || *logins[0].Fingerprint != own {
		t.Errorf("%d logins: %+v", len(logins), logins)
	}
	text := s.ok("events", id)
	if lines := strings.Split(text, "\n"); len(lines) != len(life)+2 || !strings.HasPrefix(lines[0], "TIME ") ||
		!strings.Contains(text, "STARTING > DETACHED: its process is up (tmux)") {
		t.Errorf("for people:\n%s", text)
	}
	s.down(syscall.SIGTERM)
	if code := follow.left(); code != 75 || !strings.HasPrefix(follow.errs.String(), `{"error":{"code":"unavailable"`) {
		t.Errorf("exit status %d at the end of the service, %q", code, follow.errs.String())
	}
}

// TestEventsOfStrangers knocks with keys that do not let anybody in, and asks for what a role does not allow.
func TestEventsOfStrangers(t *testing.T) {
	t.Parallel()
	s := start(t)
	stranger, gone, guest := s.newKey("stranger"), s.letIn("gone", "admin"), s.letIn("guest", "viewer")
	follow := s.script(gone, "events", "--follow", "--json", "--since", "1h")
	follow.sees("key_added")
	s.ok("key", "revoke", fingerprint(t, gone))
	if code := follow.left(); code != 77 || !strings.Contains(follow.errs.String(), "revoked") {
		t.Errorf("exit status %d of who follows with a revoked key, %q", code, follow.errs.String())
	}
	if code := s.script(stranger, "-l", "visitor", "ls").left(); code != 255 {
		t.Errorf("a stranger: exit status %d", code)
	}
	if code := s.script(gone, "ls").left(); code != 77 {
		t.Errorf("a revoked key: exit status %d", code)
	}
	for range 3 {
		if code := s.script(guest, "key", "ls").left(); code != 5 {
			t.Errorf("key ls of a viewer: exit status %d", code)
		}
	}
	var refused []event
	s.eventually("the refusals are written", func() bool {
		refused = only(s.events(), "refused")
		return len(refused) >= 3
	})
	for i, want := range []struct{ actor, key, reason string }{
		{"", stranger, `from 127.0.0.1 as "visitor": this key is not known here: SHA256:`},
		{"gone", gone, "this key was revoked"},
		{"guest", guest, `the role viewer may not do "key ls"`},
	} {
		e := refused[i]
		if (e.Actor == nil) != (want.actor == "") || e.Actor != nil && *e.Actor != want.actor || e.Source != "person" ||
			e.Fingerprint == nil || *e.Fingerprint != fingerprint(t, want.key) || !strings.Contains(*e.Reason, want.reason) {
			t.Errorf("%d: %s by %v with %v", i, *e.Reason, e.Actor, e.Fingerprint)
		}
	}
	if len(refused) != 3 {
		t.Errorf("%d refusals", len(refused))
	}
	text := s.ok("events")
	if !strings.Contains(strings.Join(strings.Fields(text), " "), "refused - guest from 127.0.0.1 as") {
		t.Errorf("for people:\n%s", text)
	}
	revoked := only(s.events(), "key_revoked")
	if len(revoked) != 1 || *revoked[0].Actor == "" || !strings.Contains(*revoked[0].Reason, fingerprint(t, gone)+" of gone") {
		t.Errorf("key changes %+v", revoked)
	}
	seen := s.script(guest, "events", "--json")
	if code := seen.left(); code != 0 || strings.Contains(seen.out.String(), "SHA256:") {
		t.Errorf("a viewer: exit status %d\n%s", code, seen.out.String())
	}
}

// TestEventsFollowedThroughAnOutage restarts PostgreSQL under one who follows: nothing is lost and nothing comes twice.
func TestEventsFollowedThroughAnOutage(t *testing.T) {
	t.Parallel()
	cluster := storetest.NewCluster(t)
	s := prepare(t, "--database-url", cluster.URL())
	s.up()
	follow := s.script("", "events", "--follow", "--json", "--since", "1h")
	one := s.script("", "events", "--follow", "job", "--json")
	_ = one.left() // there is no such session yet
	s.counter("job")
	one = s.script("", "events", "job", "--follow", "--json", "--since", "1h")
	one.sees(`"event":"started"`)
	open := s.open(80, 24, "attach", "job")
	one.sees(`"event":"attached"`)
	for outage := range 2 {
		must(t, cluster.Kill())
		open.keys("C-]")
		open.left()
		s.eventually("it says that it waits", func() bool {
			return strings.Count(follow.errs.String(), "\n") > outage && strings.Count(one.errs.String(), "\n") > outage
		})
		must(t, cluster.Ensure(context.Background()))
		eventually(t, "ls answers", func() bool { return s.ssh("ls").code == 0 }, s.log.String)
		s.becomes("job", "DETACHED") // written down by now
		title := fmt.Sprint("after ", outage)
		s.ok("new", "--title", title, "--", "cat")
		open = s.open(80, 24, "attach", "job")
		s.becomes("job", "RUNNING")
	}
	open.keys("C-]")
	open.left()
	s.becomes("job", "DETACHED")
	s.ok("rename", "job", "the end")
	follow.sees(`"event":"renamed"`)
	one.sees(`"event":"renamed"`)
	whole := s.events()
	for name, st := range map[string]*script{"all": follow, "one": one} {
		want := whole
		if st == one {
			want = s.events("the-end")
		}
		got := st.events()
		if len(got) > len(want) {
			t.Fatalf("%s: %d events of %d", name, len(got), len(want))
		}
		for i := range got { // logins may have come after
			if got[i].ID != want[i].ID {
				t.Fatalf("%s: event %d is %d, want %d", name, i, got[i].ID, want[i].ID)
			}
		}
		if n := strings.Count(st.errs.String(), `"message":"the database is away"`); n != 2 || strings.Count(st.errs.String(), "\n") != 2 {
			t.Errorf("%s: stderr\n%s", name, st.errs.String())
		}
	}
	if got := kinds(one.events()); got != "created started attached detached attached detached attached detached renamed" {
		t.Errorf("events of the session: %s", got)
	}
}
