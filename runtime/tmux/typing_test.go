package tmux

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// typed starts a session whose program keeps what it is typed, byte by byte, after it printed the text first.
func typed(t *testing.T, s *Server, id, first string) (Pane, func() []byte) {
	t.Helper()
	file := filepath.Join(newDir(t), "typed")
	p := start(t, s, id, hitchpost.Size{Cols: 80, Rows: 24},
		sh("stty raw -echo; printf '%s'; printf ready; exec cat > %s", first, file)...)
	eventually(t, "the program is ready", func() bool {
		g, err := s.Look(t.Context(), id, 0)
		return err == nil && strings.Contains(g.Rows[0], "ready")
	})
	return p, func() []byte {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

// arrives waits until exactly want was typed.
func arrives(t *testing.T, got func() []byte, want string) {
	t.Helper()
	limit := time.Now().Add(patience)
	for len(got()) < len(want) && time.Now().Before(limit) {
		if err := pause(t.Context(), 2*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if b := got(); string(b) != want {
		at := 0
		for at < min(len(b), len(want)) && b[at] == want[at] {
			at++
		}
		t.Errorf("%d bytes, want %d; from byte %d: %.60q, want %.60q", len(b), len(want), at, b[at:], want[at:])
	}
}

func noBuffers(t *testing.T, s *Server) {
	t.Helper()
	if left := raw(t, s, "list-buffers"); left != "" {
		t.Errorf("buffers left: %s", left)
	}
}

// hostileText is all that a text may hold and a shell, tmux or a parser might take for its own.
func hostileText() string {
	var b strings.Builder
	for c := byte(' '); c < 0x7f; c++ {
		b.WriteByte(c)
	}
	return "-x ;" + b.String() + "\t\n\r\n~/a $HOME ${x} #{pid} #(touch x) %5 %% %1 'it''s' \"q\" \\n \\\\ \\\"; kill-server ;\n" +
		"é 日本 👨‍👩‍👧 \u202e \\\n;\n%end 1 1 1\n%begin 1 1 1\n;"
}

func TestTextArrivesAsItIs(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p, got := typed(t, s, "plain", "")
	long := strings.Repeat("0123456789 é日👍 'x' \"$~\\ #{pid}\n", 1<<20/45)
	want := ""
	for _, text := range []string{
		hostileText(), "-", ";", "--", "x;", "\n", "'", "a", strings.Repeat("é", chunk) + "z", long,
	} {
		if err := s.Type(t.Context(), p.PaneID, Typing{Text: text}); err != nil {
			t.Fatal(err)
		}
		want += text
	}
	keys := []string{"Enter", "C-c", "Escape", "-", ";", "é"}
	if err := s.Type(t.Context(), p.PaneID, Typing{Text: "end", Keys: keys}); err != nil {
		t.Fatal(err)
	}
	arrives(t, got, want+"end\r\x03\x1b-;é")
	noBuffers(t, s)
}

func TestPasteIsBracketedWhereTheProgramAsks(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p, got := typed(t, s, "brackets", `\033[?2004h`)
	if err := s.Type(t.Context(), p.PaneID, Typing{Text: "one\ntwo", Keys: []string{"Enter"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Type(t.Context(), p.PaneID, Typing{Keys: []string{"Up"}}); err != nil {
		t.Fatal(err)
	}
	arrives(t, got, "\x1b[200~one\ntwo\x1b[201~\r\x1b[A")
}

func TestTypingLeavesCopyMode(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p, got := typed(t, s, "copy", "")
	raw(t, s, "copy-mode", "-t", p.PaneID)
	raw(t, s, "clock-mode", "-t", p.PaneID)
	if err := s.Type(t.Context(), p.PaneID, Typing{Text: "q", Keys: []string{"q", "Enter"}}); err != nil {
		t.Fatal(err)
	}
	arrives(t, got, "qq\r")
	if mode := raw(t, s, "display-message", "-p", "-t", p.PaneID, "#{pane_in_mode}"); mode != "0" {
		t.Errorf("still in mode %s", mode)
	}
}

func TestNothingIsTypedIntoWhatDoesNotTake(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	dead := start(t, s, "dead", hitchpost.Size{}, "true")
	eventually(t, "it has ended", func() bool { g, err := s.Look(t.Context(), "dead", 0); return err == nil && g.Dead })
	off, got := typed(t, s, "off", "")
	raw(t, s, "select-pane", "-d", "-t", off.PaneID)
	for pane, want := range map[string]error{dead.PaneID: ErrNoSession, "%999": ErrNoSession, off.PaneID: ErrInputOff} {
		for _, typing := range []Typing{{Text: "x"}, {Keys: []string{"x"}}, {Text: "x", Keys: []string{"x"}}} {
			if err := s.Type(t.Context(), pane, typing); err != want {
				t.Errorf("%+v into %s: %v, want %v", typing, pane, err, want)
			}
		}
	}
	noBuffers(t, s)
	raw(t, s, "select-pane", "-e", "-t", off.PaneID)
	if err := s.Type(t.Context(), off.PaneID, Typing{Text: "y"}); err != nil {
		t.Error(err)
	}
	arrives(t, got, "y")
}

func TestCheckKeys(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	before := raw(t, s, "list-keys")
	good := []string{"Enter", "C-c", "Escape", "Up", "F5", "M-x", "C-M-a", "S-Up", "Tab", "BTab", "Space", "BSpace", "PPage",
		"a", "é", ";", "-", "'", `"`, "#", "~", "$", `\`, "0x41"}
	if err := s.CheckKeys(t.Context(), good); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "Foo", "enter enter", "ab", "C-", "Enter\n", "-x", "--", "#{pid}", "None", "日本"} {
		if err := s.CheckKeys(t.Context(), []string{"Enter", name}); hitchpost.KindOf(err) != hitchpost.UsageError {
			t.Errorf("%q: %v", name, err)
		}
	}
	if after := raw(t, s, "list-keys"); after != before {
		t.Errorf("keys were bound or unbound:\n%s\nwas\n%s", after, before)
	}
}

func TestTypingAtTheSameTimeDoesNotMix(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p, got := typed(t, s, "many", "")
	const n, size = 8, 2*chunk + 1000
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			text := strings.Repeat(string(rune('a'+i)), size)
			if err := s.Type(context.Background(), p.PaneID, Typing{Text: text, Keys: []string{"Enter"}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	eventually(t, "all arrived", func() bool { return len(got()) >= n*(size+1) })
	seen := map[byte]bool{}
	for text := range bytes.SplitSeq(bytes.TrimSuffix(got(), []byte("\r")), []byte("\r")) {
		if len(text) != size || bytes.Count(text, text[:1]) != size || seen[text[0]] {
			t.Errorf("%d bytes, of them %d %q", len(text), bytes.Count(text, text[:1]), text[:1])
		}
		seen[text[0]] = true
	}
	noBuffers(t, s)
}

func TestLook(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "rows", hitchpost.Size{Cols: 20, Rows: 5},
		sh("stty -echo; seq 1 10; printf 'here: '; read x; clear; printf '\\033[?1049hother'; read x")...)
	look := func(history int) Glance {
		g, err := s.Look(t.Context(), "rows", history)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	eventually(t, "it waits", func() bool { return strings.Contains(strings.Join(look(0).Rows, " "), "here:") })
	g := look(3)
	if got := strings.Join(g.Rows, ","); got != "4,5,6,7,8,9,10,here:" || g.History != 6 || g.Screen != 5 ||
		g.Cursor != [2]int{6, 4} || g.Alternate || g.Dead {
		t.Errorf("%+v", g)
	}
	if g := look(0); len(g.Rows) != 5 || g.Rows[0] != "7" {
		t.Errorf("%+v", g)
	}
	if g := look(100); len(g.Rows) != 11 || g.Rows[0] != "1" {
		t.Errorf("%+v", g)
	}
	if err := s.Type(t.Context(), g.Pane, Typing{Keys: []string{"Enter"}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other screen", func() bool {
		g := look(0)
		return g.Alternate && strings.Contains(strings.Join(g.Rows, ""), "other")
	})
	if _, err := s.Look(t.Context(), "none", 0); err != ErrNoSession {
		t.Error(err)
	}
}
