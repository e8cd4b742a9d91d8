package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost/sshd/command/commandtest"
)

// TestDocumentsAreAsTheirSchemas runs every verb that prints JSON, and some that fail, and holds what they print to the
// schemas that help prints.
func TestDocumentsAreAsTheirSchemas(t *testing.T) {
	t.Parallel()
	s := start(t)
	published, err := commandtest.Published(t.Context())
	must(t, err)
	shown := map[string]bool{}
	check := func(form, text, what string) {
		t.Helper()
		shown[form] = true
		if text == "" {
			t.Errorf("%s: nothing was printed", what)
		}
		for line := range strings.Lines(text) {
			if schema := published[form]; schema == nil {
				t.Errorf("no schema of %q", form)
			} else if err := schema.Check([]byte(line)); err != nil {
				t.Errorf("%s is not as `help --schema %s`: %v", what, form, err)
			}
		}
	}
	ok := func(form string, words ...string) {
		t.Helper()
		check(form, s.ok(append(words, "--json")...), strings.Join(words, " "))
	}
	fails := func(code int, stdin string, words ...string) answer {
		t.Helper()
		got := s.sshIn(stdin, append([]string{words[0], "--json"}, words[1:]...)...)
		if got.code != code {
			t.Errorf("%q: exit %d, want %d\n%s%s", words, got.code, code, got.out, got.err)
		}
		check("", got.err, strings.Join(words, " "))
		return got
	}
	check("new", s.ok("new", "--json", "--title", "job", "--note", "x", "--", "sh", "-c", "stty -echo; read x; exit 3"), "new")
	check("new", s.ok("new", "--json", "--title", "bare"), "new")
	s.sessionDocuments(ok)
	check("send", fails(6, "", "send", "job", "hidden").out, "send that nobody sees")
	check("wait", s.ok("wait", "--json", "bare", "--for", "DETACHED"), "wait")
	ok("stop", "stop", "job")
	ok("ls", "ls")
	ok("show --screen", "show", "--screen", "job")
	ok("restart", "restart", "job")
	ok("restart --all", "restart", "--all")
	s.ok("stop", "job")
	ok("close", "close", "job")

	s.keptDocuments(ok)
	id := s.task("sh", "-c", "exit 3")
	wait := s.ssh("task", "wait", id, "--json")
	check("task wait", wait.out, "task wait")
	check("task run", s.ok("task", "run", "--json", "--session", "bare", "--wait", "--name", "n", "--", "true"), "task run --wait")
	long := s.task("sleep", "1000")
	ok("task ls", "task", "ls")
	ok("task show", "task", "show", long)
	ok("task cancel", "task", "cancel", long)

	for _, verb := range []string{"whoami", "status", "version", "node ls", "key ls"} {
		ok(verb, strings.Fields(verb)...)
	}
	s.keyDocuments(check)
	ok("events", "events")
	lines := s.script("", "events", "--follow", "--since", "1h", "--json")
	s.eventually("events are followed", func() bool { return strings.Count(lines.out.String(), "\n") > 10 })
	must(t, lines.cmd.Process.Kill())
	lines.left()
	whole := lines.out.String()
	check("events --follow", whole[:strings.LastIndexByte(whole, '\n')+1], "events --follow")

	fails(2, "", "ls", "--nope")
	fails(2, "", "attach", "bare")
	fails(2, "\x1b", "note", "bare", "--set", "-")
	fails(3, "", "show", "nobody")
	fails(4, "", "close", "bare")
	fails(124, "", "wait", "bare", "--for", "FAILED", "--timeout", "1ms")
	fails(1, "", "new", "--", "false")
	for form := range published {
		if !shown[form] {
			t.Errorf("nothing here prints what `help --schema %s` is about", form)
		}
	}
	if got := s.ok("help", "--schema", "events", "--follow"); !strings.Contains(got, `"$id": "urn:hitchpost:event"`) {
		t.Errorf("help --schema: %s", got)
	}
}

// sessionDocuments has every verb that shows a live session print it.
func (s *stack) sessionDocuments(ok func(form string, words ...string)) {
	s.t.Helper()
	s.captures("bare", "#")
	ok("show", "show", "job")
	ok("show --screen", "show", "--screen", "bare")
	ok("send", "send", "bare", "echo typed", "--enter")
	ok("capture", "capture", "bare", "--lines", "2")
	ok("history", "history", "bare", "--ansi")
	ok("note", "note", "job", "--append", "more")
	ok("note", "note", "job")
	ok("rename", "rename", "job", "job")
	ok("check --set", "check", "job", "--set", "sh -c 'echo checked'")
	ok("check", "check", "job")
	ok("card", "card", "job")
}

// keyDocuments has the verbs of keys print them, over ssh and on the machine itself.
func (s *stack) keyDocuments(check func(form, text, what string)) {
	s.t.Helper()
	for _, name := range []string{"one", "two"} {
		public, err := os.ReadFile(s.newKey(name) + ".pub")
		must(s.t, err)
		got := s.sshIn(string(public), "key", "add", "--actor", "guest", "--expires", "90d", "--json", "-")
		check("key add", got.out, "key add")
	}
	check("key revoke", s.ok("key", "revoke", "--json", fingerprint(s.t, s.path("one"))), "key revoke")
	check("key revoke --actor", s.ok("key", "revoke", "--json", "--actor", "guest"), "key revoke --actor")
	cmd := exec.Command(built, "key", "ls", "--json", "--data-dir", s.path("data"), "--database-url", s.flags[len(s.flags)-1])
	cmd.Env = s.env
	out, err := cmd.Output()
	must(s.t, err)
	check("key ls", string(out), "hitchpost key ls")
}
