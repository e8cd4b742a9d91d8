package menu

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hitchpost/hitchpost"
)

func stripped(s string) string { return ansi.Strip(s) }

var sizes = []hitchpost.Size{{Cols: 40, Rows: 20}, {Cols: 80, Rows: 24}, {Cols: 160, Rows: 45}}

const paneScreen = "\x1b[1m$ npm test\x1b[0m\n\n  \x1b[32m✓\x1b[0m retries a declined card (312 ms)\n  \x1b[31m✗ gives up after three\x1b[0m\n\n" +
	"\x1b[38;2;200;120;0mDo you want to run\x1b[m npm test\x1b[7m again\x1b[27m?\n"

// TestFrames holds what a person sees at each size against the golden frames.
func TestFrames(t *testing.T) {
	t.Parallel()
	awayStatus := hitchpost.Status{
		Database: hitchpost.Part{Reason: "connection refused", Since: ago(4 * time.Minute)},
		Nodes:    []hitchpost.Node{{Name: "gpu-1", State: hitchpost.Offline, Reason: "no answer in 5s", Since: ago(11 * time.Minute)}},
	}
	scenes := []struct {
		name   string
		keys   string
		fake   func() *fake
		change func(c *Config)
		after  func(m *model)
	}{
		{name: "list"},
		{name: "list-selected", keys: "jjj"},
		{name: "agent", keys: "j"},
		{name: "viewer", change: func(c *Config) { c.Actor.Role = hitchpost.Viewer }},
		{name: "notice", change: func(c *Config) { c.Notice = "api-tests ended (exit 3): r restarts it" }},
		{name: "empty", fake: func() *fake { return newFake() }},
		{name: "away", fake: func() *fake { f := newFake(team()...); f.status = awayStatus; return f }},
		{name: "filter", keys: "/shop-api"},
		{name: "filtered", keys: "/shop-api<enter>"},
		{name: "filter-none", keys: "/nothing<enter>"},
		{name: "help", keys: "?"},
		{name: "ask-stop", keys: "/deploy<enter>x"},
		{name: "ask-close", keys: "/train<enter>c"},
		{name: "offer", keys: "/migrate<enter><enter>"},
		{name: "rename", keys: "/docs<enter>R ünïcode"},
		{name: "form", keys: "n"},
		{name: "form-command", keys: "nnightly build<tab> <tab>make 'open<enter>"},
		{name: "form-dirs", keys: "n<up><ctrl-u>/home/anna/src/sh", after: func(m *model) {
			m.handle(completed{prefix: "/home/anna/src/sh", dirs: []string{"/home/anna/src/shop-api", "/home/anna/src/shop-web"}})
		}},
		{name: "refused", after: func(m *model) {
			m.handle(acted{verb: verbStop, id: "x", err: hitchpost.Errorf(hitchpost.ConflictError, "api-tests is STOPPED").
				Hinted("restart it, or close it")})
		}},
		{name: "early", after: func(m *model) {
			m.handle(acted{verb: verbRestart, id: "x", result: hitchpost.StartResult{
				Session: team()[5], Early: &hitchpost.Exit{Code: ptr(3)}, FirstLines: []string{"migrate: \x1b[31mno schema\x1b[0m found"},
			}})
		}},
		{name: "hostile", fake: func() *fake { return newFake(hostile()...) }},
	}
	for _, s := range scenes {
		for _, size := range sizes {
			name := fmt.Sprintf("%s-%dx%d", s.name, size.Cols, size.Rows)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f := newFake(team()...)
				if s.fake != nil {
					f = s.fake()
				}
				m := still(t, f, size, s.change)
				m.typed(s.keys)
				m.handle(captured{id: m.list.id, lines: screen([]byte(paneScreen))})
				if s.after != nil {
					s.after(m)
				}
				golden(t, name, draw(t, m))
			})
		}
	}
}

// hostile is names that try to leave their place.
func hostile() []hitchpost.Session {
	names := []string{
		"plain", "esc\x1b[2J\x1b[H\x1b]0;pwned\x07", "line\nbreak\ttab\rcr", "nul\x00bel\x07del\x7fc1\u009b31m",
		"bidi\u202Eelcitra\u202C\u2066x\u2069", "日本語のセッション名前がとても長い", "👩‍👩‍👧‍👦 family 👍🏽", "z̸̧̢͔̣̭̲͖̗̍͗̿̈́͛͊a̷̛̺̯͍l̵̜̈g̷̬̃o̴͚̚",
		"שלום עולם", "مرحبا بالعالم", "bad\xff\xfeutf8", "❤️ vs16 🇩🇪", "apc\x1b_Gf=100;AAAA\x1b\\", "x" + string(make([]byte, 300)),
		"\u0301starts with a mark", "soft\u00adhyphen\u200bzero\ufeffwidth",
	}
	var out []hitchpost.Session
	for i, n := range names {
		out = append(out, hitchpost.Session{
			ID: fmt.Sprintf("id-%02d", i), Handle: n, Title: n, Kind: hitchpost.Kind(n), Node: n, Repo: n, Branch: n, Cwd: "/" + n,
			State: hitchpost.Detached, StateReason: n, StateSource: hitchpost.Source(n), StateSince: ago(time.Duration(i) * time.Hour),
			Args: []string{n}, Clash: []hitchpost.OtherProcess{{Program: n, Agent: n, Session: n}}, Project: n, CreatedAt: ago(time.Duration(i+2) * time.Hour),
			Agent: &hitchpost.Agent{Title: n + n, LastPrompt: n, LastAnswer: n, Uncertain: n, Hooks: hitchpost.HooksNotSeen},
		})
	}
	return out
}

// TestAnySize draws every mode at odd sizes: nothing panics, and no line is too long.
func TestAnySize(t *testing.T) {
	t.Parallel()
	modes := []string{
		"", "?", "/x", "/nothing<enter>", "x", "n", "n<tab> <tab>a", "R", "<enter>", "jjjj<enter>", "jjjc", "i", "jjiG", "e", "eab\rc",
	}
	for _, keys := range modes {
		for _, f := range []*fake{newFake(team()...), newFake(hostile()...), newFake()} {
			for _, cols := range []int{1, 2, 3, 7, 12, 13, 20, 28, 40, 61, 80, 120, 200} {
				for _, rows := range []int{1, 2, 3, 5, 8, 14} {
					m := still(t, f, hitchpost.Size{Cols: cols, Rows: rows}, nil)
					m.typed(keys)
					m.handle(captured{id: m.list.id, lines: screen([]byte(paneScreen)), err: nil})
					m.complain(failure(errors.New("something long that has to be cut or wrapped somewhere")))
					draw(t, m)
				}
			}
		}
	}
	m := still(t, newFake(team()...), hitchpost.Size{Cols: 80, Rows: 24}, nil)
	m.handle(tea.WindowSizeMsg{Width: 0, Height: 0})
	if content, _ := m.frame(); content != "" {
		t.Errorf("a frame of no size is %q", content)
	}
}

// TestStyles holds the sequences of a frame, by what the client's terminal can show.
func TestStyles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		term string
		env  []string
	}{
		"truecolor": {"xterm-256color", []string{"COLORTERM=truecolor"}},
		"16":        {"xterm", nil},
		"none":      {"xterm-256color", []string{"COLORTERM=truecolor", noColor}},
	} {
		m := still(t, newFake(team()...), hitchpost.Size{Cols: 160, Rows: 20}, func(cfg *Config) {
			cfg.Terminal.Name, cfg.Environ, cfg.Terminal.NoColor = c.term, c.env, slices.Contains(c.env, noColor)
		})
		m.handle(captured{id: m.list.id, lines: screen([]byte(paneScreen))})
		m.complain("something went wrong: try again")
		content, _ := m.frame()
		golden(t, "styles-"+name, strings.ReplaceAll(content, "\x1b", "^["))
	}
}
