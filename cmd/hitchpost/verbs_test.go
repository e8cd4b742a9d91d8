package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/store/storetest"
)

// captures waits until the session's screen shows text.
func (s *stack) captures(ref, text string) {
	s.t.Helper()
	var got answer
	eventually(s.t, ref+" shows "+text, func() bool { got = s.ssh("history", ref); return strings.Contains(got.out, text) },
		func() string { return got.out + got.err })
}

// is checks the exit status of a command and what it says, on stdout where it succeeds and on stderr elsewhere.
func (s *stack) is(got answer, code int, says string) {
	s.t.Helper()
	said, silent := got.out, got.err
	if code != 0 {
		said, silent = got.err, got.out
	}
	if got.code != code || !strings.Contains(said, says) || silent != "" {
		s.t.Errorf("exit %d, %q %q; want %d and %q", got.code, got.out, got.err, code, says)
	}
}

func TestSendToAShell(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "sh")
	s.captures("sh", "#")
	s.is(s.ssh("send sh 'echo $((6 * 7))-\"it works\"' --enter"), 0, "delivered")
	s.captures("sh", "42-it works")
	s.is(s.sshIn("echo from; echo stdin\n", "send", "sh", "-"), 0, "delivered")
	s.captures("sh", "from\nstdin")
	s.is(s.ssh("send", "sh", "--enter", "--", "cat -"), 0, "delivered")
	s.is(s.ssh("send", "sh", "purr", "--key", "Enter"), 0, "delivered")
	s.captures("sh", "purr\npurr\n")
	s.is(s.ssh("send", "sh", "--key", "C-c"), 0, "delivered")
	s.eventually("the interrupt leads back to the prompt", func() bool {
		return strings.HasSuffix(strings.TrimSpace(s.ok("capture", "sh")), "#")
	})
	var doc map[string]any
	must(t, json.Unmarshal([]byte(s.ok("send", "sh", "--json", "--enter", "true é")), &doc))
	if doc["id"] != s.idOf("sh") || doc["handle"] != "sh" || doc["result"] != "delivered" ||
		doc["bytes"] != 7.0 || len(doc) != 4 {
		t.Errorf("document %v", doc)
	}
	s.is(s.ssh("send", "sh", "x", "--key", "Entr"), 2, `no key "Entr"`)
	s.is(s.sshIn("a\x1b[201~\rb", "send", "sh", "-"), 2, "control characters")
	s.is(s.sshIn(strings.Repeat("x", 1<<20+1), "send", "sh", "-"), 2, "longer than 1048576 bytes")
	sent := only(s.events("sh"), "sent")
	if len(sent) != 6 || sent[0].Actor == nil || *sent[0].Reason != "bytes: 26, keys: 1" {
		t.Errorf("events %+v", sent)
	}
	s.is(s.ssh("send", "sh", "--enter", "exit"), 0, "delivered")
	s.becomes("sh", "STOPPED")
	s.is(s.ssh("send", "sh", "x"), 4, "nothing to type into")
}

func TestSendNobodySees(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new -- sh -c 'stty -echo; echo secret; read x; echo \"got $x\"; read x'")
	ref := "sh-home"
	s.captures(ref, "secret")
	got := s.ssh("send", ref, "pass")
	if got.code != 6 || !strings.Contains(got.out, "unconfirmed") ||
		!strings.HasPrefix(got.err, "hitchpost: sh-home does not show") {
		t.Errorf("%+v", got)
	}
	s.is(s.ssh("send", ref, "--enter"), 0, "delivered")
	s.captures(ref, "got pass")
	viewer := s.letIn("vera", "viewer")
	for words, code := range map[string]int{
		"send sh-home x": 5, "note sh-home --set x": 5, "note sh-home": 0, "wait sh-home --for DETACHED": 0,
	} {
		if st := s.script(viewer, words); st.left() != code {
			t.Errorf("a viewer's %s: exit %d, want %d\n%s", words, st.left(), code, st.errs.String())
		}
	}
}

func TestWaitForTheEnd(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "job", "--", "sh", "-c", "read x; exit 0")
	begin := time.Now()
	s.is(s.ssh("wait", "job", "--for", "STOPPED", "--timeout", "500ms"), 124, "job is still DETACHED after 500ms")
	if took := time.Since(begin); took < 500*time.Millisecond {
		t.Errorf("gave up after %v", took)
	}
	s.is(s.ssh("wait", "job", "--for", "detached,stopped"), 0, "job  DETACHED")
	end, moment := s.script("", "wait", "job", "--json"), s.script("", "wait", "job", "--for", "RUNNING")
	s.settled()
	term := s.open(80, 24, "attach", "job")
	term.keys("C-]") // at once
	if code := term.left(); code != 0 {
		t.Errorf("detached with exit status %d", code)
	}
	if code := moment.left(); code != 0 || !strings.Contains(moment.out.String(), "RUNNING") {
		t.Errorf("a moment: exit %d, %q %q", code, moment.out.String(), moment.errs.String())
	}
	s.ok("send", "last", "--enter")
	if code := end.left(); code != 0 {
		t.Errorf("the end: exit %d, %q", code, end.errs.String())
	}
	var doc struct{ Handle, State string }
	must(t, json.Unmarshal([]byte(end.out.String()), &doc))
	if doc.Handle != "job" || doc.State != "STOPPED" {
		t.Errorf("%+v", doc)
	}
	later := s.script("", "wait", "last", "--for", "RUNNING")
	s.settled()
	s.ok("close", "job")
	if code := later.left(); code != 4 || !strings.Contains(later.errs.String(), "job is STOPPED and closed") {
		t.Errorf("closed: exit %d, %q", code, later.errs.String())
	}
}

// settled lets commands that were started before reach the service, as these do after them.
func (s *stack) settled() {
	s.t.Helper()
	for range 3 {
		s.ok("ls")
	}
}

func TestWaitIsCutWithAReason(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "job", "--", "cat")
	guest := s.letIn("guest", "viewer")
	revoked, stopped := s.script(guest, "wait", "job"), s.script("", "wait", "job")
	s.settled()
	s.ok("key", "revoke", fingerprint(t, guest))
	if code := revoked.left(); code != 77 {
		t.Errorf("revoked: exit %d, %q", code, revoked.errs.String())
	}
	s.down(syscall.SIGTERM)
	if code := stopped.left(); code != 75 || stopped.out.String() != "" {
		t.Errorf("service stopped: exit %d, %q", code, stopped.errs.String())
	}
}

// TestWaitThroughAnOutage has a session end while PostgreSQL is away: who waits for it is told afterwards, and not before.
func TestWaitThroughAnOutage(t *testing.T) {
	t.Parallel()
	cluster := storetest.NewCluster(t)
	s := prepare(t, "--database-url", cluster.URL())
	s.up()
	s.ok("new", "--title", "job", "--", "sh", "-c", "read x; exit 3")
	id := s.idOf("job")
	whole, short := s.script("", "wait", "job"), s.script("", "wait", "job", "--timeout", "12s", "--for", "RUNNING")
	s.settled()
	must(t, cluster.Kill())
	_, err := s.tmux("send-keys", "-t", "=hp-"+id+":", "Enter")
	must(t, err)
	s.eventually("the session has ended", func() bool {
		out, err := s.tmux("list-panes", "-t", "=hp-"+id+":", "-F", "#{pane_dead}")
		return err != nil || out == "1"
	})
	for _, words := range []string{"send job x", "wait job", "note job", "note job --set x"} {
		if got := s.ssh(words); got.code != 75 || got.out != "" {
			t.Errorf("%s: %+v", words, got)
		}
	}
	if code := short.left(); code != 124 || !strings.Contains(short.errs.String(), "when last seen, and the database is away") {
		t.Errorf("a wait that ran out: exit %d, %q", code, short.errs.String())
	}
	select {
	case <-whole.done:
		t.Errorf("told what nobody has seen: %q %q", whole.out.String(), whole.errs.String())
	default:
	}
	must(t, cluster.Ensure(context.Background()))
	if code := whole.left(); code != 0 || !strings.Contains(whole.out.String(), "job  FAILED") {
		t.Errorf("exit %d, %q %q", code, whole.out.String(), whole.errs.String())
	}
}

func TestNoteFromStdin(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "job", "--", "cat")
	s.is(s.ssh("note", "job"), 0, "")
	text := "next:\n\t- the docs, \"it's\" 日本 👨‍👩‍👧\n\n#(touch x) $(id) \\n"
	s.is(s.sshIn(text, "note", "job", "--set", "-"), 0, "job  DETACHED")
	if got := s.ok("note", "job"); got != text+"\n" {
		t.Errorf("note %q, want %q", got, text+"\n")
	}
	s.ok("note", "job", "--set", "-")
	s.is(s.ssh("note", "job"), 0, "")
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			if got := s.ssh("note", "job", "--append", fmt.Sprintf("line %d", i)); got.code != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
	wg.Wait()
	lines := strings.Split(strings.TrimSuffix(s.ok("note", "job"), "\n"), "\n")
	slices.Sort(lines)
	if got := strings.Join(lines, ","); got != "line 0,line 1,line 2,line 3,line 4,line 5" {
		t.Errorf("note %q", got)
	}
	s.is(s.sshIn("\x1b]0;x\a", "note", "job", "--append", "-"), 2, "control characters")
	s.is(s.sshIn(strings.Repeat("x", 64<<10+1), "note", "job", "--set", "-"), 2, "longer than 65536 bytes")
	s.is(s.sshIn("\x1b[2J", "new", "--note", "-", "--", "cat"), 2, "control characters")
	s.ok("note job --set=")
	if noted := only(s.events("job"), "noted"); len(noted) != 9 || *noted[8].Reason != "note cleared" {
		t.Errorf("events %+v", noted)
	}
	s.ok("stop", "job")
	s.is(s.ssh("note job --append 'why it was stopped'"), 0, "job  STOPPED")
	id := s.idOf("job")
	s.ok("close", "job")
	s.is(s.ssh("note", id), 0, "why it was stopped\n")
	s.is(s.ssh("note", id, "--set", "x"), 4, "job is closed")
}

func TestNewWithAnEnvironmentWhereAbsent(t *testing.T) {
	t.Parallel()
	s := start(t)
	line := `new --if-absent --title 'only one' --env 'A=it'"'"'s $HOME #(id)' --env B= --env LEAK=mine -- ` +
		`sh -c 'echo "<$A><$B><$LEAK>"; read x'`
	first := s.ok(line)
	s.captures("only-one", "<it's $HOME #(id)><><mine>")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := s.ssh(line); got.code != 0 || got.out != first {
				t.Errorf("again: %+v, want %q", got, first)
			}
		})
	}
	wg.Wait()
	if n := strings.Count(s.ok("ls"), "only-one"); n != 1 {
		t.Errorf("%d sessions", n)
	}
	s.is(s.ssh("show", "only-one", "--screen"), 0, "\n\n<it's $HOME #(id)><><mine>\n")
	var doc struct {
		Screen     string
		ScreenSeen *string `json:"screen_seen_at"`
	}
	must(t, json.Unmarshal([]byte(s.ok("show", "only-one", "--screen", "--json")), &doc))
	if doc.Screen != "<it's $HOME #(id)><><mine>\n" || doc.ScreenSeen != nil {
		t.Errorf("%+v", doc)
	}
	s.ok("stop", "only-one")
	must(t, json.Unmarshal([]byte(s.ok("show", "only-one", "--screen", "--json")), &doc))
	if doc.Screen != "<it's $HOME #(id)><><mine>\n" || doc.ScreenSeen == nil {
		t.Errorf("after its end: %+v", doc)
	}
	s.ok("restart", "only-one")
	s.captures("only-one", "<it's $HOME #(id)><><mine>")
	s.is(s.ssh("new --env 1A=x -- cat"), 2, "1A")
	s.is(s.ssh("new --if-absent -- cat"), 2, "needs a title")
}
