package runtime

import (
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost/runtime/tmux"
)

func TestTailOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                   "",
		" \n\t\r\n":          "",
		"y":                  "y",
		"run the tests":      "runthetests",
		"one\ntwo three\n\n": "twothree",
		"a\rb":               "b",
		"日本 語\r\n":           "日本語",
		strings.Repeat("x", 100) + "0123456789abcdef": "0123456789abcdef",
	} {
		if got := tailOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// shows is a glance at a screen of three rows below others of history.
func shows(history int, rows ...string) tmux.Glance {
	return tmux.Glance{Rows: rows, Screen: 3, History: history}
}

func TestSightOfText(t *testing.T) {
	t.Parallel()
	before := shows(2, "go", "go", "$ go", "done", "$")
	for name, c := range map[string]struct {
		text  string
		after tmux.Glance
		want  bool
	}{
		"nothing yet":                   {"go", before, false},
		"echoed":                        {"go", shows(2, "go", "go", "$ go", "done", "$ go"), true},
		"echoed, blanks apart":          {"g o", shows(2, "go", "go", "$ go", "done", "$ g o"), true},
		"wrapped":                       {"long text", shows(2, "go", "go", "$ long", "te", "xt"), true},
		"scrolled away since":           {"go", shows(6, "go", "go", "$ go", "done", "$ go", "1", "2", "3", "$"), true},
		"only what was there":           {"go", shows(6, "go", "go", "$ go", "done", "$", "1", "2", "3", "$"), false},
		"the old one scrolled away":     {"go", shows(3, "go", "go", "$ go", "done", "$", "$"), false},
		"cleared":                       {"go", shows(2, "go", "go", "$", "", ""), false},
		"cleared with its history":      {"go", shows(0, "$ go", "go", ""), true},
		"another text":                  {"go", shows(2, "go", "go", "$ go", "done", "$ stay"), false},
		"more of it scrolled than seen": {"go", shows(9000, "7", "8", "$ go go", "9", "$"), true},
	} {
		s := sight{before: before, tail: tailOf(c.text)}
		if got := s.seen(c.after); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSightOfKeys(t *testing.T) {
	t.Parallel()
	before := shows(0, "a", "b", "c")
	with := func(change func(*tmux.Glance)) tmux.Glance {
		g := shows(0, "a", "b", "c")
		change(&g)
		return g
	}
	for name, after := range map[string]tmux.Glance{
		"cursor":           with(func(g *tmux.Glance) { g.Cursor[0]++ }),
		"text":             with(func(g *tmux.Glance) { g.Rows[1] = "x" }),
		"alternate screen": with(func(g *tmux.Glance) { g.Alternate = true }),
		"scrolled":         with(func(g *tmux.Glance) { g.History, g.Rows = 1, []string{"a", "a", "b", "c"} }),
		"ended":            with(func(g *tmux.Glance) { g.Dead = true }),
	} {
		if !(sight{before: before}).seen(after) {
			t.Errorf("%s: not seen", name)
		}
	}
	if (sight{before: before}).seen(before) {
		t.Error("seen where nothing changed")
	}
}
