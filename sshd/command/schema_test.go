package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd/command"
	"github.com/hitchpost/hitchpost/sshd/command/commandtest"
)

// published are the schemas that help prints; see commandtest.Published.
var published = sync.OnceValues(func() (map[string]*commandtest.Schema, error) {
	return commandtest.Published(context.Background())
})

// formsOf are the lines that show each form of output with --json.
func formsOf() map[string][]string {
	return map[string][]string{
		"ls":                 {"ls --json", "--json ls --all", "--json"},
		"show":               {"show api --json", "show sh --json"},
		"show --screen":      {"show sh --screen --json"},
		"new":                {"new --json"},
		"restart":            {"restart api --json"},
		"restart --all":      {"restart --all --json"},
		"stop":               {"stop api --json"},
		"close":              {"close sh --json"},
		"rename":             {"rename sh x --json"},
		"capture":            {"capture sh --json"},
		"history":            {"history sh --ansi --json"},
		"send":               {"send api x --json"},
		"wait":               {"wait api --json"},
		"card":               {"card api --json", "card sh --json"},
		"check":              {"check api --json"},
		"check --set":        {"check api --set x --json"},
		"checkpoint":         {"checkpoint api --json"},
		"checkpoint ls":      {"checkpoint ls api --json", "checkpoint ls nothing --json"},
		"checkpoint diff":    {"checkpoint diff api 3 --json"},
		"checkpoint restore": {"checkpoint restore api 3 --json"},
		"worktree ls":        {"worktree ls --json"},
		"worktree rm":        {"worktree rm api --json"},
		"note":               {"note api --json", "note api --set x --json"},
		"events":             {"events --json"},
		"events --follow":    {"events --follow --json"},
		"task run":           {"task run --json -- make", "task run --wait --json -- make"},
		"task ls":            {"task ls --json"},
		"task show":          {"task show x --json"},
		"task wait":          {"task wait x --json"},
		"task cancel":        {"task cancel x --json"},
		"node ls":            {"node ls --json"},
		"key ls":             {"key ls --json"},
		"key add":            {"key add ssh-ed25519 k --json"},
		"key revoke":         {"key revoke SHA256:one --json"},
		"key revoke --actor": {"key revoke --actor bob --json"},
		"whoami":             {"whoami --json"},
		"status":             {"status --json"},
		"version":            {"version --json"},
		"":                   {"show nobody --json", "ls --nope --json", "--json", "events --follow --json"},
	}
}

// Each verb prints what its schema says, no more and no less.
func TestDocumentsAreAsTheirSchemas(t *testing.T) {
	t.Parallel()
	all, err := published()
	if err != nil {
		t.Fatal(err)
	}
	f := peopled()
	f.sessions = append(f.sessions, bare())
	for form, lines := range formsOf() {
		for _, line := range lines {
			c := client{t: t, service: f}
			if form == "" && line == "--json" {
				c.service = &fake{err: errors.New("plain")}
			}
			r := c.line(line)
			text := r.out
			if form == "" {
				text = r.errors
			}
			if text == "" {
				t.Errorf("%s: nothing: %+v", line, r)
			}
			for one := range strings.Lines(text) {
				if s := all[form]; s == nil {
					t.Errorf("no schema of %q", form)
				} else if err := s.Check([]byte(one)); err != nil {
					t.Errorf("%s is not as `help --schema %s`: %v", line, form, err)
				}
			}
		}
	}
	for form := range all {
		if formsOf()[form] == nil {
			t.Errorf("no line here shows what `help --schema %s` is about", form)
		}
	}
}

// A verb that takes --json either has a schema or says that it is for errors alone, and no schema is left over.
func TestEveryDocumentHasASchema(t *testing.T) {
	t.Parallel()
	all, err := published()
	if err != nil {
		t.Fatal(err)
	}
	commandtest.Verbs(command.Tree(), func(path string, cmd *cobra.Command) {
		flag := cmd.Flags().Lookup("json")
		switch {
		case flag == nil:
			t.Errorf("%s takes no --json", path)
		case flag.Usage != "errors as JSON" && all[path] == nil:
			t.Errorf("%s prints JSON and has no schema", path)
		case flag.Usage == "errors as JSON" && all[path] != nil:
			t.Errorf("%s has a schema and prints no JSON", path)
		}
	})
	files, err := os.ReadDir("schemas")
	if err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	for form := range all {
		printed.WriteString(client{t: t, service: &fake{}}.line("help --schema " + form).out)
	}
	for _, file := range files {
		if id := `"urn:hitchpost:` + strings.TrimSuffix(file.Name(), ".json") + `"`; !strings.Contains(printed.String(), `"$id": `+id) {
			t.Errorf("nothing prints %s", file.Name())
		}
	}
}

// Whoever holds documents to a published schema is not surprised when they grow, and is when they shrink.
func TestSchemasAllowMoreAndNotLess(t *testing.T) {
	t.Parallel()
	all, err := published()
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{sessions: []hitchpost.Session{full()}}
	doc := document(t, client{t: t, service: f}.line("show api --json"))
	doc["weather"] = "fine"
	if err := all["show"].Allows(doc); err != nil {
		t.Errorf("a new field is refused: %v", err)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if err := all["show"].Check(append(text, '\n')); err == nil {
		t.Error("a field that the schema does not know passes the tests")
	}
	for field := range fullDocument {
		less := document(t, client{t: t, service: f}.line("show api --json"))
		delete(less, field)
		if all["show"].Allows(less) == nil {
			t.Errorf("%s may be left out", field)
		}
	}
	for field := range agentDocument {
		less := document(t, client{t: t, service: f}.line("show api --json"))
		delete(less["agent"].(map[string]any), field)
		if all["show"].Allows(less) == nil {
			t.Errorf("%s of an agent may be left out", field)
		}
	}
}

// The words of the schemas are those of the program.
func TestSchemasKnowEveryWord(t *testing.T) {
	t.Parallel()
	for _, s := range hitchpost.States() {
		f := &fake{sessions: []hitchpost.Session{full()}}
		f.sessions[0].State = s
		document(t, client{t: t, service: f}.line("show api --json"))
	}
	for _, k := range []hitchpost.Kind{hitchpost.Claude, hitchpost.Shell, hitchpost.Command} {
		f := &fake{sessions: []hitchpost.Session{full()}}
		f.sessions[0].Kind = k
		document(t, client{t: t, service: f}.line("show api --json"))
	}
	for _, source := range []hitchpost.Source{hitchpost.FromPerson, hitchpost.FromTmux, hitchpost.FromExit, hitchpost.FromHook,
		hitchpost.FromRegistry, hitchpost.FromReconciler} {
		f := &fake{sessions: []hitchpost.Session{full()}}
		f.sessions[0].StateSource = source
		document(t, client{t: t, service: f}.line("show api --json"))
	}
	for _, s := range hitchpost.TaskStates() {
		task := ranTask()
		task.State = s
		document(t, client{t: t, service: &fake{tasks: fakeTasks{task: task}}}.line("task show x --json"))
	}
	for _, k := range errorKinds() {
		client{t: t, service: &fake{err: hitchpost.Errorf(k, "it broke")}}.line("ls --json")
	}
}

func TestHelpOfSchemas(t *testing.T) {
	t.Parallel()
	c := client{t: t, service: &fake{}}
	for _, line := range []string{"help --schema events --follow", "help events --follow --schema", "--json help --schema events --follow"} {
		if r := c.line(line); r.status != 0 || !strings.Contains(r.out, `"$id": "urn:hitchpost:event",`) || !json.Valid([]byte(r.out)) {
			t.Errorf("%s: %+v", line, r)
		}
	}
	for line, say := range map[string]string{
		"help --schema attach":                "`attach` prints no JSON: errors are as `ssh host help --schema` says",
		"help --schema ls --follow":           "`ls` prints no other JSON with --follow: leave --follow out",
		"help --schema key":                   "`key` prints no JSON",
		"help --schema nope":                  `no verb "nope"`,
		"help --schema --follow":              "prints no other JSON with --follow",
		"help events --follow":                "--follow goes with --schema",
		"help --schema events --follow --all": "--all and --follow do not go together",
		"help --schema events --since":        "unknown flag: --since",
	} {
		r := c.line(line)
		if r.status != 2 || r.out != "" || !strings.Contains(r.errors, say) || strings.Count(r.errors, "\n") != 1 {
			t.Errorf("%s: %+v, want %q", line, r, say)
		}
	}
	if help := c.line("help --help").out; slices.ContainsFunc([]string{"--follow ", "--screen"}, func(flag string) bool {
		return strings.Contains(help, "      "+flag)
	}) {
		t.Errorf("help tells of flags that are not its own:\n%s", help)
	}
}
