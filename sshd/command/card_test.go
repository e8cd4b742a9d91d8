package command_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd/command"
)

func (c client) at(columns int) client {
	c.terminal = &hitchpost.Terminal{Name: "xterm", Size: hitchpost.Size{Cols: columns, Rows: 20}}
	return c
}

// A card fits a phone and a wide screen, says the same on both, and does a terminal no harm.
func TestCardFitsTheTerminal(t *testing.T) {
	t.Parallel()
	f := &fake{sessions: []hitchpost.Session{full(), bare()}}
	for _, ref := range []string{"api", "sh"} {
		var said []string
		for _, columns := range []int{40, 80, 160} {
			r := client{t: t, service: f}.at(columns).line("card " + ref)
			if r.status != 0 || r.errors != "" || strings.ContainsAny(r.out, "\x1b\r\x07\u009b\u202e") || !utf8.ValidString(r.out) {
				t.Fatalf("%d columns: %+v", columns, r)
			}
			var kept strings.Builder
			for row := range strings.Lines(r.out) {
				row = strings.TrimSuffix(row, "\n")
				if command.Width(row) > columns || strings.HasSuffix(row, " ") {
					t.Errorf("%d columns: %d in %q", columns, command.Width(row), row)
				}
				if !strings.HasPrefix(row, "  | ") { // lines of programs are cut
					kept.WriteString(strings.Join(strings.Fields(row), ""))
				}
			}
			said = append(said, kept.String())
		}
		for _, other := range said[1:] {
			if diff := cmp.Diff(said[0], other); diff != "" {
				t.Errorf("%s says something else on another width: %s", ref, diff)
			}
		}
	}
}

// The command of a card is one that can be typed, with a terminal where it needs one.
func TestCardSaysWhatToType(t *testing.T) {
	t.Parallel()
	f := &fake{sessions: []hitchpost.Session{full(), bare()}}
	out := client{t: t, service: f}.line("card api").out
	for _, want := range []string{
		"command      ssh -t host attach web\n", "then         ssh host restart api\n", "would run make 'a b'",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if out = (client{t: t, service: f}).line("card sh").out; !strings.HasSuffix(out, "command      ssh host node ls\n") {
		t.Error(out)
	}
}

func TestCardAsJSON(t *testing.T) {
	t.Parallel()
	f := &fake{sessions: []hitchpost.Session{full(), bare()}}
	doc := document(t, client{t: t, service: f}.line("card api --json"))
	repo, advice := doc["repository"].(map[string]any), doc["advice"].(map[string]any)
	if repo["branch"] != "b"+evil || repo["changed"].(map[string]any)["first"].([]any)[2] != "not utf-8 \ufffd" ||
		doc["session"].(map[string]any)["check"] != "make test" || advice["do"] != "hold" ||
		advice["restart"].(map[string]any)["argv"].([]any)[1] != "a b" {
		t.Errorf("%v, %v", repo, advice)
	}
	doc = document(t, client{t: t, service: f}.line("card sh --json"))
	if repo := doc["repository"].(map[string]any); repo["unknown"] != "broken repository: fatal: "+evil || repo["branch"] != nil {
		t.Errorf("%v", repo)
	}
	if last := doc["check"].(map[string]any)["last"]; last != nil {
		t.Errorf("%v", last)
	}
}

func TestCheckShowsWhatItPrints(t *testing.T) {
	t.Parallel()
	task := ranTask()
	code := 3
	task.State, task.ExitCode, task.ExitSignal = hitchpost.TaskFailed, &code, ""
	f := &fake{sessions: []hitchpost.Session{full()}, tasks: fakeTasks{task: task, ended: task, log: "FAIL: it\n"}}
	if r := (client{t: t, service: f}).line("check api"); r.status != 3 || r.out != "FAIL: it\n" || f.refs[0] != "api" {
		t.Errorf("%+v, %v", r, f.refs)
	}
	f.asked = nil
	if r := (client{t: t, service: f}).line("check api --set 'make test'"); r.status != 0 || f.asked[0] != "set check make test" {
		t.Errorf("%+v, %v", r, f.asked)
	}
	none := hitchpost.Errorf(hitchpost.ConflictError, "api has no check").For("check").Hinted("give it one")
	if r := (client{t: t, service: &fake{err: none}}).line("check api"); r.status != 4 ||
		r.errors != "hitchpost: api has no check: give it one (`check REF --set CMD`)\n" {
		t.Errorf("%+v", r)
	}
}

// What a card advises can be typed: each command is a verb with flags that it has.
func TestAdviceCanBeTyped(t *testing.T) {
	t.Parallel()
	code := 0
	well := &hitchpost.Exit{Code: &code}
	passed := &hitchpost.Check{TaskID: ranTask().ID, State: hitchpost.TaskSucceeded, Exit: well}
	base := hitchpost.Standing{Ref: "api", State: hitchpost.Recoverable, Database: true, Alive: hitchpost.IsGone}
	seen := map[string]bool{}
	for _, change := range []func(*hitchpost.Standing){
		func(s *hitchpost.Standing) { s.Closed = true },
		func(s *hitchpost.Standing) { s.Database = false },
		func(s *hitchpost.Standing) { s.Node, s.Alive = hitchpost.Offline, hitchpost.NotCertain },
		func(s *hitchpost.Standing) { s.State = hitchpost.Starting },
		func(s *hitchpost.Standing) { s.State = hitchpost.Running },
		func(s *hitchpost.Standing) { s.State, s.Alive = hitchpost.Running, hitchpost.IsAlive },
		func(s *hitchpost.Standing) { s.Left = []hitchpost.OtherProcess{{Pid: 7}, {Pid: 8}} },
		func(s *hitchpost.Standing) { s.Conflict = 1 },
		func(s *hitchpost.Standing) {
			s.HasCheck, s.Last = true, &hitchpost.Check{TaskID: "0198c4e2", State: hitchpost.TaskRunning}
		},
		func(s *hitchpost.Standing) { s.HasCheck = true },
		func(s *hitchpost.Standing) { s.Exit = well },
		func(s *hitchpost.Standing) {
			s.HasCheck, s.Last, s.Stale, s.Since, s.Unpushed = true, passed, hitchpost.Fresh, 1, 1
		},
		func(s *hitchpost.Standing) { s.Dirty = true },
		func(*hitchpost.Standing) {},
	} {
		s := base
		change(&s)
		a := hitchpost.Advise(s)
		for _, words := range [][]string{a.Command, a.Then} {
			if words == nil {
				continue
			}
			verb, rest, err := command.Tree().Find(words)
			if err != nil || !verb.Runnable() {
				t.Errorf("%s: %q is no verb: %v", a.Row, words, err)
				continue
			}
			if err := verb.ParseFlags(rest); err != nil || verb.ValidateArgs(verb.Flags().Args()) != nil {
				t.Errorf("%s: %q: %v", a.Row, words, err)
			}
			seen[verb.CommandPath()] = true
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %v were advised", seen)
	}
}
