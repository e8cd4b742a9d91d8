package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The tests of this file are the rows of the table "what survives which failure", one each, with the real OpenSSH
// client, tmux and PostgreSQL.

// seen is a session as scripts see it.
type seen struct {
	ID, Handle, Title, Cwd, State string
	Reason                        string   `json:"state_reason"`
	Source                        string   `json:"state_source"`
	Attached                      int      `json:"attached"`
	Restarts                      int      `json:"restarts"`
	ExitCode                      *int     `json:"exit_code"`
	ExitSignal                    *string  `json:"exit_signal"`
	Args                          []string `json:"args"`
}

func (s *stack) show(ref string) seen {
	s.t.Helper()
	var got seen
	must(s.t, json.Unmarshal([]byte(s.ok("show", "--json", ref)), &got))
	return got
}

// becomes waits until the session is in the state.
func (s *stack) becomes(ref, state string) seen {
	s.t.Helper()
	var now seen
	eventually(s.t, ref+" becomes "+state, func() bool { now = s.show(ref); return now.State == state },
		func() string { return fmt.Sprintf("%+v", now) })
	return now
}

// counter starts a session that prints numbered lines: 1 to 500 at once, then one for each line it is given.
func (s *stack) counter(title string) {
	s.t.Helper()
	script := s.path("counter.sh")
	must(s.t, writeFile(script, "i=0\nwhile [ $i -lt 500 ]; do i=$((i+1)); echo \"row $i\"; done\n"+
		"while read -r x; do i=$((i+1)); echo \"row $i $x\"; done\n"))
	s.ok("new", "--title", title, "--", "sh", script)
	handle := strings.ReplaceAll(title, " ", "-")
	s.eventually("the counter has counted", func() bool { return strings.Contains(s.ok("capture", handle), "row 500") })
}

// rows are the numbers of the counter's lines in text, in order.
func rows(text string) []int {
	var out []int
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "row "); ok {
			if n, err := strconv.Atoi(strings.Fields(rest)[0]); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// wholeHistory fails unless text holds the counter's lines 1 to last, each once and in order.
func wholeHistory(t *testing.T, text string, last int) {
	t.Helper()
	got := rows(text)
	if len(got) != last {
		t.Fatalf("%d lines, want %d\n%s", len(got), last, text)
	}
	for i, n := range got {
		if n != i+1 {
			t.Fatalf("line %d is number %d\n%s", i+1, n, text)
		}
	}
}

func TestRow01TerminalClosed(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	first := s.open(80, 24, "attach", "job")
	first.sees("row 500")
	first.line("typed")
	first.sees("row 501 typed")
	s.becomes("job", "RUNNING")
	first.kill()
	s.becomes("job", "DETACHED")

	again := s.open(80, 24, "attach", "job")
	again.sees("row 501 typed")
	wholeHistory(t, again.all(), 501)
	again.line("more")
	again.sees("row 502 more")
	again.keys("C-]")
	if code := again.left(); code != 0 {
		t.Errorf("exit status %d after detach, want 0", code)
	}
	wholeHistory(t, again.all(), 502)
}

// TestRow03PhoneSuspended stops the client as a phone stops an app: the connection stays open and nobody reads. The
// server must free it by its own probes.
func TestRow03PhoneSuspended(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	phone := s.open(40, 20, "attach", "job")
	phone.sees("row 500")
	s.becomes("job", "RUNNING")
	must(t, syscall.Kill(phone.ssh(), syscall.SIGSTOP))
	desk := s.open(80, 24)
	desk.sees("job")
	desk.keys("Enter") // the session used last is selected
	desk.sees("row 500")
	within(t, 60*time.Second, "the phone is freed", func() bool { return s.show("job").Attached == 1 }, desk.screen)
	desk.line("alive")
	desk.sees("row 501 alive")
}

func TestRow05ServiceStopped(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	pid := s.panePid("job")
	term := s.open(80, 24, "attach", "job")
	term.sees("row 500")
	s.down(syscall.SIGTERM)
	if code := term.left(); code != 75 {
		t.Errorf("exit status %d, want 75\n%s", code, term.screen())
	}
	if n := strings.Count(term.screen(), "stopping"); n != 1 {
		t.Errorf("the reason stands %d times on the screen:\n%s", n, term.screen())
	}
	s.up()
	if got := s.panePid("job"); got != pid {
		t.Errorf("process %s, was %s", got, pid)
	}
	s.becomes("job", "DETACHED")
	again := s.open(80, 24, "attach", "job")
	again.sees("row 500")
	wholeHistory(t, again.all(), 500)
}

func TestRow06ServiceKilled(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	s.ok("new", "--title", "brief", "--", "sh", "-c", "read x; exit 3")
	pid, brief := s.panePid("job"), s.idOf("brief")
	term := s.open(80, 24, "attach", "job")
	term.sees("row 500")
	s.becomes("job", "RUNNING")
	s.down(syscall.SIGKILL)
	if code := term.left(); code == 0 {
		t.Errorf("exit status 0 after the server was killed")
	}
	// A process that ends meanwhile is recorded all the same.
	_, err := s.tmux("send-keys", "-t", "=hp-"+brief+":", "Enter")
	must(t, err)
	s.up()
	if got := s.panePid("job"); got != pid {
		t.Errorf("process %s, was %s", got, pid)
	}
	s.becomes("job", "DETACHED")
	if got := s.becomes("brief", "FAILED"); got.ExitCode == nil || *got.ExitCode != 3 {
		t.Errorf("exit code %v, want 3", got.ExitCode)
	}
	again := s.open(80, 24, "attach", "job")
	again.sees("row 500")
	wholeHistory(t, again.all(), 500)
}

func TestRow10ProcessExits(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, c := range []struct {
		title, script, state string
		code                 int
		signal               string
	}{
		{"well", "read x; exit 0", "STOPPED", 0, ""},
		{"badly", "echo about to fail; read x; exit 3", "FAILED", 3, ""},
		{"killed", "read x; kill -KILL $$", "FAILED", 128 + 9, "KILL"},
	} {
		s.ok("new", "--title", c.title, "--", "sh", "-c", c.script)
		term := s.open(80, 24, "attach", c.title)
		s.becomes(c.title, "RUNNING")
		term.keys("Enter")
		term.sees("ended (")
		got := s.becomes(c.title, c.state)
		if c.signal == "" && (got.ExitCode == nil || *got.ExitCode != c.code) {
			t.Errorf("%s: exit code %v, want %d", c.title, got.ExitCode, c.code)
		}
		if c.signal != "" && (got.ExitSignal == nil || *got.ExitSignal != c.signal) {
			t.Errorf("%s: signal %v, want %s", c.title, got.ExitSignal, c.signal)
		}
		term.keys("q")
		if code := term.left(); code != c.code {
			t.Errorf("%s: exit status %d, want %d", c.title, code, c.code)
		}
		if got := s.show(c.title); got.Restarts != 0 {
			t.Errorf("%s was restarted by itself", c.title)
		}
	}
	if text := s.ok("history", "badly"); !strings.Contains(text, "about to fail") {
		t.Errorf("history of an ended session: %q", text)
	}
	s.ok("restart", "badly")
	s.becomes("badly", "DETACHED")
}

func TestRow11SessionKilledFromOutside(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	s.counter("job 10")
	before := s.show("job")
	_, err := s.tmux("kill-session", "-t", "=hp-"+before.ID)
	must(t, err)
	lost := s.becomes("job", "RECOVERABLE")
	if lost.Source != "tmux" {
		t.Errorf("source %q, want tmux", lost.Source)
	}
	if other := s.show("job-10"); other.State != "DETACHED" {
		t.Errorf("the other session is %s", other.State)
	}
	s.ok("restart", "job")
	after := s.becomes("job", "DETACHED")
	if after.ID != before.ID || after.Handle != before.Handle || after.Title != before.Title || after.Cwd != before.Cwd {
		t.Errorf("restarted as %+v, was %+v", after, before)
	}
	if after.Restarts != 1 {
		t.Errorf("%d restarts, want 1", after.Restarts)
	}
}

// TestRow12Reboot kills every process of the stack at once, the private PostgreSQL included, and starts again.
func TestRow12Reboot(t *testing.T) {
	t.Parallel()
	s := prepare(t)
	s.up()
	s.counter("job")
	s.ok("new", "--title", "shell", "--kind", "shell", "--cwd", s.dir)
	s.ok("new", "--title", "done", "--", "sh", "-c", "read x")
	s.ok("stop", "done")
	before := map[string]seen{"job": s.show("job"), "shell": s.show("shell")}
	fingerprint := s.hostKey()
	s.eventually("the screen is kept", func() bool {
		_, err := os.Stat(s.path("data/sessions/" + before["job"].ID + "/screen.gz"))
		return err == nil
	})

	pids := append(s.tmuxPids(), s.postgresPids()...)
	must(t, s.serve.Process.Kill())
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-s.ended
	for _, pid := range pids {
		s.eventually("every process is gone", func() bool { return !alive(pid) })
	}
	s.up()
	if got := s.hostKey(); got != fingerprint {
		t.Errorf("host key %s, was %s", got, fingerprint)
	}
	for _, verb := range []string{"capture", "history"} {
		got := s.ssh(verb, "job")
		if got.code != 0 || !strings.Contains(got.out, "row 500") || !strings.Contains(got.err, "last showed") {
			t.Errorf("%s of a lost session: %+v", verb, got)
		}
	}
	for handle, was := range before {
		lost := s.becomes(handle, "RECOVERABLE")
		if lost.Restarts != was.Restarts {
			t.Errorf("%s was restarted by itself", handle)
		}
		s.ok("restart", handle)
		now := s.becomes(handle, "DETACHED")
		if now.ID != was.ID || now.Handle != was.Handle || now.Title != was.Title || now.Cwd != was.Cwd {
			t.Errorf("restarted as %+v, was %+v", now, was)
		}
	}
	if got := s.show("done"); got.State != "STOPPED" {
		t.Errorf("a stopped session came back as %s", got.State)
	}
	again := s.open(80, 24, "attach", "job")
	again.sees("row 500")
}

// panePid is the process that tmux runs for a session.
func (s *stack) panePid(ref string) string {
	s.t.Helper()
	out, err := s.tmux("list-panes", "-t", "=hp-"+s.idOf(ref), "-F", "#{pane_pid}")
	if err != nil {
		s.t.Fatalf("list-panes: %v\n%s", err, out)
	}
	return out
}

// ids remembers ids, for the time in which there is no service to ask.
func (s *stack) idOf(ref string) string {
	s.t.Helper()
	s.mu.Lock()
	id := s.ids[ref]
	s.mu.Unlock()
	if id == "" {
		id = s.show(ref).ID
		s.mu.Lock()
		s.ids[ref] = id
		s.mu.Unlock()
	}
	return id
}

func (s *stack) postgresPids() []int {
	s.t.Helper()
	raw, err := os.ReadFile(s.path("data/postgres/data/postmaster.pid"))
	must(s.t, err)
	pid, err := strconv.Atoi(strings.SplitN(string(raw), "\n", 2)[0])
	must(s.t, err)
	return append([]int{pid}, descendants(pid)...)
}

func (s *stack) hostKey() string {
	s.t.Helper()
	raw, err := os.ReadFile(s.path("data/hostkeys/ssh_host_ed25519_key.pub"))
	must(s.t, err)
	return string(raw)
}

// TestPrivatePostgreSQLCrashes kills the private server of a running Hitchpost: it comes back by itself, what happened
// meanwhile is caught up, and an open terminal notices nothing.
func TestPrivatePostgreSQLCrashes(t *testing.T) {
	t.Parallel()
	s := prepare(t)
	s.up()
	s.counter("job")
	term := s.open(80, 24, "attach", "job")
	term.sees("row 500")
	s.becomes("job", "RUNNING")
	for _, pid := range s.postgresPids() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	term.line("meanwhile")
	term.sees("row 501 meanwhile")
	eventually(t, "the database is back", func() bool { return s.ssh("ls").code == 0 }, s.log.String)
	term.keys("C-]")
	if code := term.left(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	s.becomes("job", "DETACHED")
}
