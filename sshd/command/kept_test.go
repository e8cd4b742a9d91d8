package command_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
)

func TestCheckpointVerbs(t *testing.T) {
	t.Parallel()
	f := &fake{sessions: []hitchpost.Session{full(), bare()}}
	c := client{t: t, service: f}
	for line, want := range map[string]any{
		"checkpoint api":                       "checkpoint ",
		"checkpoint api -m 'a b'":              "checkpoint a b",
		"checkpoint --message x api":           "checkpoint x",
		"checkpoint ls api":                    "checkpoints",
		"checkpoint diff api 3":                3,
		"checkpoint restore api 3":             []any{3, ""},
		"checkpoint restore --branch b api 12": []any{12, "b"},
		"worktree rm api":                      "rm",
	} {
		f.asked = nil
		if r := c.line(line); r.status != 0 || len(f.asked) != 1 || !cmp.Equal(f.asked[0], want) {
			t.Errorf("%s: %+v, asked %v", line, r, f.asked)
		}
	}
	for line, say := range map[string]string{
		"checkpoint":                  "`checkpoint` needs a REF",
		"checkpoint api web":          "`checkpoint` does not take",
		"checkpoint diff api":         "`checkpoint diff` needs a number N",
		"checkpoint diff api x":       `"x" is no number of a checkpoint`,
		"checkpoint restore api 0":    `"0" is no number of a checkpoint`,
		"checkpoint ls":               "`checkpoint ls` needs a REF",
		"worktree":                    "`worktree` needs another word: use one of: ls, rm",
		"worktree mv":                 `no verb "worktree mv"`,
		"worktree rm":                 "`worktree rm` needs a REF",
		"new --worktree= -- cat":      "a branch has a name",
		"new --worktree topic -- cat": "`new` does not take \"topic\"",
	} {
		if r := c.line(line); r.status != 2 || r.out != "" || !strings.Contains(r.errors, say) {
			t.Errorf("%s: %+v, want %q", line, r, say)
		}
	}
}

// What is left out, cut or gone is told on stderr, and nothing on stdout does anything to a terminal unless asked for.
func TestCheckpointsSayWhatIsNotThere(t *testing.T) {
	t.Parallel()
	f := &fake{sessions: []hitchpost.Session{full(), bare()}}
	c := client{t: t, service: f}
	if r := c.line("checkpoint api"); strings.Count(r.errors, "left out: ") != 3 || !strings.Contains(r.errors, "left out: 1 more") ||
		strings.Contains(r.errors, "\x1b") || r.out != "3  0123456789ab  new\n" {
		t.Errorf("%+v", r)
	}
	f.unseen = true
	if r := c.line("checkpoint api"); r.out != "3  0123456789ab  nothing has changed since\n" || r.errors != "" {
		t.Errorf("%+v", r)
	}
	if r := c.line("checkpoint diff api 4"); !strings.Contains(r.errors, "only the first") ||
		r.out != "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+\uFFFD[31mtwo\uFFFD\uFFFD\uFFFD\n\tthree\n" {
		t.Errorf("%+v", r)
	}
	if r := c.line("checkpoint diff api 3 --raw"); r.out != somePatch || r.errors != "" {
		t.Errorf("%+v", r)
	}
	if r := c.line("worktree rm api"); !strings.Contains(r.errors, "ignored files that went with it: 2, such as node_modules/") ||
		strings.Contains(r.errors+r.out, "\x1b") {
		t.Errorf("%+v", r)
	}
}

func TestNewAsksForAWorktree(t *testing.T) {
	t.Parallel()
	f := &fake{sessions: []hitchpost.Session{full()}}
	for line, want := range map[string]hitchpost.StartRequest{
		"new --worktree -- cat":             {Worktree: true, Args: []string{"cat"}, Watch: 1e9},
		"new --worktree=topic/x -- cat":     {Worktree: true, Branch: "topic/x", Args: []string{"cat"}, Watch: 1e9},
		"new --force --kind claude":         {Force: true, Kind: hitchpost.Claude, Args: []string{}, Watch: 1e9},
		"new --worktree --kind claude -- x": {Worktree: true, Kind: hitchpost.Claude, Args: []string{"x"}, Watch: 1e9},
	} {
		f.asked = nil
		r := client{t: t, service: f}.line(line)
		if diff := cmp.Diff([]any{want}, f.asked); r.status != 0 || diff != "" {
			t.Errorf("%s: %+v\n%s", line, r, diff)
		}
	}
}

// A worktree that cannot go says why to scripts, kind by kind.
func TestObstaclesAsJSON(t *testing.T) {
	t.Parallel()
	err := hitchpost.Errorf(hitchpost.ConflictError, "it holds what would be lost").Hinted("commit")
	err.InTheWay = []hitchpost.Obstacle{{What: "untracked", Count: 1, First: []string{"x"}}, {What: "changed", Unknown: "took too long"}}
	r := client{t: t, service: &fake{err: err}}.line("worktree rm api --json")
	var got map[string]map[string]any
	if e := json.Unmarshal([]byte(r.errors), &got); e != nil || r.status != 4 || r.out != "" {
		t.Fatalf("%+v, %v", r, e)
	}
	want := []any{
		map[string]any{"what": "untracked", "count": 1.0, "first": []any{"x"}, "unknown": nil},
		map[string]any{"what": "changed", "count": 0.0, "first": []any{}, "unknown": "took too long"},
	}
	if diff := cmp.Diff(any(want), got["error"]["in_the_way"]); diff != "" {
		t.Error(diff)
	}
}
