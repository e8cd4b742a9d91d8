package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The tests of this file hold the command contract through the OpenSSH client: what scripts rely on.

// jsonError is the error object that --json prints on stderr.
type jsonError struct {
	Error struct{ Code, Message, Hint string }
}

func TestExitStatusAndStreams(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "job", "--", "cat")
	for _, c := range []struct {
		args []string
		code int
		kind string
	}{
		{[]string{"ls"}, 0, ""},
		{[]string{"frobnicate"}, 2, "usage"},
		{[]string{"ls", "--frobnicate"}, 2, "usage"},
		{[]string{"show"}, 2, "usage"},
		{[]string{"show", "a", "b"}, 2, "usage"},
		{[]string{"show", "nobody"}, 3, "not_found"},
		{[]string{"show", "jo"}, 3, "not_found"},
		{[]string{"attach", "job"}, 2, "usage"},
		{[]string{"restart", "job"}, 4, "conflict"},
		{[]string{"close", "job"}, 4, "conflict"},
		{[]string{"new", "--cwd", "/no/such/dir", "--", "true"}, 2, "usage"},
		{[]string{"new", "--", "no-such-program"}, 2, "usage"},
		{[]string{"stop", "job", "--timeout", "soon"}, 2, "usage"},
		{[]string{"ls 'unbalanced"}, 2, "usage"},
	} {
		got := s.ssh(c.args...)
		if got.code != c.code {
			t.Errorf("%v: exit %d, want %d\n%s%s", c.args, got.code, c.code, got.out, got.err)
		}
		if c.code == 0 {
			continue
		}
		if got.out != "" || strings.Count(got.err, "\n") != 1 || !strings.HasPrefix(got.err, "hitchpost: ") {
			t.Errorf("%v: stdout %q, stderr %q, want one line on stderr", c.args, got.out, got.err)
		}
		if strings.Contains(c.args[0], " ") {
			continue
		}
		words := append([]string{c.args[0], "--json"}, c.args[1:]...)
		got = s.ssh(words...)
		var e jsonError
		if err := json.Unmarshal([]byte(got.err), &e); err != nil || got.out != "" || got.code != c.code {
			t.Errorf("%v: exit %d, stdout %q, stderr %q", words, got.code, got.out, got.err)
		} else if e.Error.Code != c.kind || e.Error.Message == "" {
			t.Errorf("%v: error %+v, want code %s", words, e, c.kind)
		}
	}
}

func TestSessionDocument(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "A job", "--cwd", s.dir, "--note", "mind the step", "--check", "make check", "--project", "p", "--", "sh", "-c", "read x")
	var list struct {
		Version  int
		Sessions []map[string]any
	}
	out := s.ok("ls", "--json")
	must(t, json.Unmarshal([]byte(out), &list))
	if list.Version != 1 || len(list.Sessions) != 1 || strings.Contains(out, "\r") {
		t.Fatalf("list: %s", out)
	}
	one := list.Sessions[0]
	for _, field := range strings.Fields(`id handle title kind node project cwd repo branch worktree clash state state_reason state_source
		state_since attached args conversation_id agent exit_code exit_signal restarts note check created_at started_at ended_at
		last_output_at last_attached_at closed_at`) {
		if _, ok := one[field]; !ok {
			t.Errorf("no field %s", field)
		}
	}
	for field, want := range map[string]any{
		"handle": "a-job", "title": "A job", "kind": "command", "cwd": s.dir, "project": "p", "state": "DETACHED",
		"note": "mind the step", "check": "make check", "exit_code": nil, "conversation_id": nil, "agent": nil, "ended_at": nil,
		"attached": float64(0), "restarts": float64(0), "repo": nil, "worktree": nil, "clash": nil,
	} {
		if got := one[field]; got != want {
			t.Errorf("%s is %v, want %v", field, got, want)
		}
	}
	if _, err := time.Parse("2006-01-02T15:04:05.999999999Z", fmt.Sprint(one["created_at"])); err != nil {
		t.Errorf("created_at %v is not UTC RFC 3339 with Z", one["created_at"])
	}
	var shown map[string]any
	must(t, json.Unmarshal([]byte(s.ok("show", "--json", "a-job")), &shown))
	if shown["id"] != one["id"] {
		t.Errorf("show gives %v, ls %v", shown["id"], one["id"])
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "web 1", "--", "cat")
	s.ok("new", "--title", "web 10", "--", "cat")
	id := s.idOf("web-1")
	for _, ref := range []string{"web-1", id} {
		if got := s.show(ref); got.ID != id {
			t.Errorf("%s is %s", ref, got.Handle)
		}
	}
	// Ids made in the same moment begin alike.
	if got := s.ssh("show", id[:4]); got.code != 2 || !strings.Contains(got.err, "web-10") {
		t.Errorf("ambiguous: exit %d, %q", got.code, got.err)
	}
	if got := s.ssh("show", "last"); got.code != 3 {
		t.Errorf("last without an attach: exit %d, %q", got.code, got.err)
	}
	term := s.open(80, 24, "web-10")
	s.becomes("web-10", "RUNNING")
	term.keys("C-]")
	if code := term.left(); code != 0 {
		t.Errorf("exit %d after detach", code)
	}
	if got := s.show("last"); got.Handle != "web-10" {
		t.Errorf("last is %s", got.Handle)
	}
	s.ok("stop", "web-1")
	s.ok("close", "web-1")
	if got := s.ssh("show", "web-1"); got.code != 3 {
		t.Errorf("a closed handle: exit %d", got.code)
	}
	if got := s.show("web-10"); got.State != "DETACHED" {
		t.Errorf("web-10 is %s", got.State)
	}
}

// TestWordsArriveAsWritten gives quoting, formats and shell syntax as words of a program: no shell and no format of
// tmux may touch them.
func TestWordsArriveAsWritten(t *testing.T) {
	t.Parallel()
	s := start(t)
	out := s.path("words")
	must(t, writeFile(s.path("say.sh"), `for w; do printf '<%s>\n' "$w"; done > "$OUT.new"; mv "$OUT.new" "$OUT"; read x`))
	words := []string{"a b", "c;d", "$(touch " + s.path("pwned") + ")", "`id`", "it's", "", "#(touch " + s.path("pwned") + ")", "#{pid}", "-x", "*", "é 日 🙂", ";", `\`, "\t"}
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
	}
	line := "new --title '" + "#(touch " + s.path("pwned") + ")' -- env OUT=" + out + " sh " + s.path("say.sh") + " " + strings.Join(quoted, " ")
	s.ok(line)
	var want strings.Builder
	for _, w := range words {
		fmt.Fprintf(&want, "<%s>\n", w)
	}
	var raw []byte
	eventually(t, "the program has its words", func() bool { raw, _ = os.ReadFile(out); return len(raw) > 0 }, func() string { return s.ok("ls") })
	if string(raw) != want.String() {
		t.Errorf("words:\n%q\nwant\n%q", raw, want.String())
	}
	if _, err := os.Stat(s.path("pwned")); err == nil {
		t.Error("a word was run as a command")
	}
	huge := strings.Repeat("x", 100_000)
	s.ok("new --title huge -- sh -c 'read x' " + huge)
	if got := s.show("huge"); len(got.Args) != 4 || got.Args[3] != huge {
		t.Errorf("a word of 100 kB did not arrive whole")
	}
}

func TestWithoutATerminal(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "job", "--", "cat")
	got := s.ssh("-T")
	head, _, _ := strings.Cut(s.ok("ls"), "\n")
	if got.code != 0 || !strings.HasPrefix(got.out, head+"\njob ") {
		t.Errorf("no terminal and no command: exit %d, %q", got.code, got.out)
	}
	got = s.sshIn("rename job pwned\nexit\n", "-T")
	if s.show("job").Title != "job" {
		t.Errorf("piped text was executed: %+v", got)
	}
	for _, args := range [][]string{{"-s", "sftp"}, {"-W", "127.0.0.1:22"}} {
		more := s.sshArgs(append(args[:1:1], args[1:]...)...)
		if args[0] == "-s" {
			more = append(s.sshArgs("-s"), "sftp")
		}
		if args[0] == "-W" {
			more = append([]string{"-W", args[1]}, s.sshArgs()...)
		}
		cmd := exec.Command("timeout", append([]string{"10", "ssh"}, more...)...)
		cmd.Env = s.env
		if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() == 124 {
			t.Errorf("ssh %v: %v %s", args, err, out)
		}
	}
}

func TestParallelCommandsOnOneConnection(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "job", "--", "cat")
	master := exec.Command("ssh", append([]string{"-M", "-S", s.path("mux"), "-N"}, s.sshArgs()...)...)
	master.Env = s.env
	must(t, master.Start())
	t.Cleanup(func() { _ = master.Process.Signal(syscall.SIGTERM); _ = master.Wait() })
	s.eventually("the shared connection is up", func() bool { _, err := os.Stat(s.path("mux")); return err == nil })
	term := s.open(80, 24, "-S", s.path("mux"), "attach", "job")
	s.becomes("job", "RUNNING")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got := s.ssh("-S", s.path("mux"), "ls", "--json"); got.code != 0 || !strings.HasSuffix(strings.TrimSpace(got.out), "}") {
				t.Errorf("exit %d, %q %q", got.code, got.out, got.err)
			}
		})
	}
	wg.Wait()
	term.line("still here")
	term.sees("still here")
}

func TestOutputIsComplete(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i := range 30 {
		s.ok("new", "--title", fmt.Sprintf("job %02d with a rather long title to make the answer longer", i), "--", "cat")
	}
	want := len(s.ok("ls"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				var doc struct{ Sessions []any }
				if err := json.Unmarshal([]byte(s.ok("ls", "--json")), &doc); err != nil || len(doc.Sessions) != 30 {
					t.Errorf("%d sessions: %v", len(doc.Sessions), err)
				}
			}
		})
	}
	wg.Wait()
	if got := len(s.ok("ls")); got < want-60 || got > want+60 {
		t.Errorf("table of %d bytes, was %d", got, want)
	}
}

func TestKeysAndRoles(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "job", "--", "cat")
	for _, role := range []string{"viewer", "operator"} {
		file := s.path(role)
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", role, "-f", file).CombinedOutput()
		if err != nil {
			t.Fatalf("ssh-keygen: %v %s", err, out)
		}
		public, err := os.ReadFile(file + ".pub")
		must(t, err)
		if got := s.sshIn(string(public), "key", "add", "--actor", role, "--role", role, "-"); got.code != 0 {
			t.Fatalf("key add: %+v", got)
		}
	}
	as := func(role string, args ...string) answer {
		t.Helper()
		cmd := s.sshArgs(args...)
		for i, a := range cmd {
			if a == s.path("home/.ssh/id_ed25519") {
				cmd[i] = s.path(role)
			}
		}
		c := exec.Command("ssh", cmd...)
		var out, errs bytes.Buffer
		c.Env, c.Stdout, c.Stderr = s.env, &out, &errs
		_ = c.Run()
		return answer{out.String(), errs.String(), c.ProcessState.ExitCode()}
	}
	for role, codes := range map[string]map[string]int{
		"viewer":   {"ls": 0, "show job": 0, "capture job": 0, "whoami": 0, "rename job x": 5, "stop job": 5, "new -- cat": 5, "key ls": 5},
		"operator": {"ls": 0, "rename job job": 0, "key ls": 5, "new --title other -- cat": 0},
	} {
		for line, want := range codes {
			if got := as(role, line); got.code != want {
				t.Errorf("%s: %s: exit %d, want %d\n%s", role, line, got.code, want, got.err)
			}
		}
	}
	var who struct{ Actor, Role, Fingerprint string }
	must(t, json.Unmarshal([]byte(as("viewer", "whoami", "--json").out), &who))
	if who.Actor != "viewer" || who.Role != "viewer" {
		t.Errorf("whoami: %+v", who)
	}
	s.ok("key", "revoke", who.Fingerprint)
	if got := as("viewer", "ls"); got.code != 77 || got.out != "" {
		t.Errorf("revoked key: exit %d, %q %q", got.code, got.out, got.err)
	}
}

func TestKeyCommandOnTheMachine(t *testing.T) {
	t.Parallel()
	s := prepare(t)
	run := func(stdin string, args ...string) answer {
		t.Helper()
		cmd := exec.Command(built, args...)
		var out, errs bytes.Buffer
		cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.env, strings.NewReader(stdin), &out, &errs
		_ = cmd.Run()
		return answer{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
	}
	public, err := os.ReadFile(s.path("home/.ssh/id_ed25519.pub"))
	must(t, err)
	data := []string{"--data-dir", s.path("data")}
	// Without a running serve.
	got := run(string(public), append([]string{"key", "add", "--actor", "ada", "--role", "operator", "-"}, data...)...)
	if got.code != 0 {
		t.Fatalf("key add: %+v", got)
	}
	s.up()
	var who struct{ Actor, Role string }
	must(t, json.Unmarshal([]byte(s.ok("whoami", "--json")), &who))
	if who.Actor != "ada" || who.Role != "operator" {
		t.Errorf("whoami: %+v", who)
	}
	// Beside a running serve.
	if got := run("", append([]string{"key", "ls", "--json"}, data...)...); got.code != 0 || !strings.Contains(got.out, `"ada"`) {
		t.Errorf("key ls: %+v", got)
	}
	if got := run("", append([]string{"serve", "--listen", "127.0.0.1:0"}, data...)...); got.code != 4 || !strings.Contains(got.err, "in use") {
		t.Errorf("second serve: %+v", got)
	}
	s.ok("ls")
	for _, args := range [][]string{{"frobnicate"}, {"serve", "--frobnicate"}, {"serve", "--replay-lines", "many"}, {"serve", "--detach-key", "Enter"}} {
		if got := run("", args...); got.code != 2 || strings.Count(got.err, "\n") != 1 {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

func TestHostileTmuxConf(t *testing.T) {
	t.Parallel()
	s := prepare(t)
	must(t, os.WriteFile(s.path("home/.tmux.conf"), []byte("set -g base-index 1\nset -g default-command cat\nset -g remain-on-exit off\n"+
		"set -g history-limit 10\nset -g prefix None\nset-hook -g session-created 'run-shell \"touch "+s.path("pwned")+"\"'\nbroken line\n"), 0o600))
	s.up()
	s.counter("job")
	if n := len(rows(s.ok("history", "job"))); n != 500 {
		t.Errorf("%d lines of history", n)
	}
	if _, err := os.Stat(s.path("pwned")); err == nil {
		t.Error("the user's own hook ran")
	}
}
