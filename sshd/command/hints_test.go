package command_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd/command"
)

func TestVerbsAreWhatTheHelpLists(t *testing.T) {
	t.Parallel()
	want := []string{
		"attach", "capture", "card", "check", "checkpoint", "close", "events", "help", "history", "key", "ls", "new", "node", "note",
		"rename", "restart", "send", "show", "status", "stop", "task", "version", "wait", "whoami",
		"worktree",
	}
	if d := cmp.Diff(want, command.Verbs()); d != "" {
		t.Error(d)
	}
}

// A field of a request is named by the flag that gives it, where the verb has that flag.
func TestHintsNameTheFlagOfAField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ field, line, want string }{
		{"cwd", "new --cwd /x", "mend it (--cwd)"}, {"kind", "new", "mend it (--kind)"}, {"title", "new", "mend it (--title)"},
		{"preset", "new", "mend it (--preset)"}, {"check", "new", "mend it (--check)"},
		{"check", "check x", "mend it (`check REF --set CMD`)"},
		{"command", "new", "mend it (behind --)"}, {"signal", "stop x", "mend it (--signal)"},
		{"timeout", "stop x", "mend it (--timeout)"}, {"session", "show x", "mend it (`ls --all`)"},
		{"task", "task show x", "mend it (`task ls`)"}, {"name", "task run -- x", "mend it (--name)"},
		{"command", "task run -- x", "mend it (behind --)"}, {"node", "new", "mend it (`node ls`)"}, {"key", "key ls", "mend it (`key ls`)"},
		{"force", "restart x", "mend it (--force)"}, {"force", "new", "mend it (--force)"},
		{"worktree", "new", "mend it (--worktree)"}, {"worktree", "worktree rm x", "mend it"},
		{"branch", "checkpoint restore x 1", "mend it (--branch)"}, {"message", "checkpoint x", "mend it (--message)"},
		{"checkpoint", "checkpoint diff x 1", "mend it (`checkpoint ls REF`)"},
		{"conversation", "restart x", "mend it (`new --kind claude -- --resume ID --fork-session`)"},
		{"title", "rename x y", "mend it"}, {"cwd", "restart x", "mend it"}, {"command", "restart x", "mend it"},
		{"", "new", "mend it"}, {"weather", "new", "mend it"},
	} {
		f := &fake{err: hitchpost.Errorf(hitchpost.UsageError, "it broke").Hinted("mend it").For(c.field)}
		if r := (client{t: t, service: f}).line(c.line); r.errors != "hitchpost: it broke: "+c.want+"\n" {
			t.Errorf("%s in %q: %q", c.field, c.line, r.errors)
		}
	}
}

func TestHelpNamesTheProgramThatWasTyped(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"key add --help": "hitchpost key add [KEY|-]\n", "key --nope": "see `hitchpost key --help`", "key nope": "`hitchpost key --help` lists",
	} {
		var out, errs strings.Builder
		words, err := command.Split(line)
		if err != nil {
			t.Fatal(err)
		}
		command.Run(t.Context(), command.Invocation{
			Words: words, Program: "hitchpost", Service: &fake{}, Stdin: untouched{t}, Stdout: &out, Stderr: &errs,
		})
		if got := out.String() + errs.String(); !strings.Contains(got, want) || strings.Contains(got, "ssh host") {
			t.Errorf("%s: %q", line, got)
		}
	}
}
