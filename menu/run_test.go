package menu

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// TestBytesBehindTheEndingKeyComeBack types Enter and 64 known bytes in one packet: the session must get all of them,
// in order, and the picker none.
func TestBytesBehindTheEndingKeyComeBack(t *testing.T) {
	t.Parallel()
	for i := range 200 {
		known := make([]byte, 64)
		for j := range known {
			known[j] = byte(i*7 + j*31) // escape, CR, controls and broken UTF-8 among them
		}
		s := sit(t, newFake(team()...), nil)
		keys := []string{"\r", "j\r", "/docs\r\r", "\x1b[B\r", "q", "\x03", "?q\r"}[i%7]
		if i%2 == 0 {
			s.hand.press(keys + string(known))
		} else {
			s.hand.press(keys)
			s.hand.press(string(known))
		}
		got, err := s.left()
		if err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		if want := keys != "q" && keys != "\x03"; (got.Attach != "") != want {
			t.Fatalf("round %d: keys %q gave %+v", i, keys, got)
		}
		if after := s.hand.next(); after != string(known) {
			t.Fatalf("round %d: after %q\n%q came back of\n%q", i, keys, after, known)
		}
	}
}

// TestNobodyReadsAfterTheEnd types after the picker has ended: the key waits for the next stage.
func TestNobodyReadsAfterTheEnd(t *testing.T) {
	t.Parallel()
	s := sit(t, newFake(team()...), nil)
	s.see("checkout-flow")
	s.hand.press("<enter>")
	if _, err := s.left(); err != nil {
		t.Fatal(err)
	}
	s.hand.press("typed later")
	if got := s.hand.next(); got != "typed later" {
		t.Errorf("%q was left for the next stage", got)
	}
	if s.hand.reading != 0 {
		t.Errorf("%d reads still block", s.hand.reading)
	}
}

// TestNoQuestionsAndACleanEnd looks at every byte sent: nothing that a terminal would answer, and each mode that was
// set is set back.
func TestNoQuestionsAndACleanEnd(t *testing.T) {
	t.Parallel()
	questions := regexp.MustCompile(`\x1b\[[?>=]?[0-9;]*(?:c|n|\$p|q|u|x)|\x1b\[[?][0-9;]*\$p|\x1b\]1[0-9];\?|\x1bP|\x1b\[1[4-9]t|\x05`)
	for _, env := range [][]string{nil, {"TERM_PROGRAM=WezTerm"}, {"WT_SESSION=1"}, {"SSH_TTY=/dev/pts/1"}} {
		for _, term := range []string{"xterm-kitty", "xterm-ghostty", "xterm-256color", "vt100", "tmux-256color"} {
			for _, leave := range []string{"<enter>", "q", "n<ctrl-c>q", "/x<enter>q", "Rx<ctrl-c>q"} {
				s := sit(t, newFake(team()...), func(c *Config) { c.Environ, c.Terminal.Name = env, term })
				s.see("checkout-flow")
				s.hand.press(leave)
				if _, err := s.left(); err != nil {
					t.Fatal(err)
				}
				sent := s.glass.sent()
				if q := questions.FindString(sent); q != "" {
					t.Errorf("%s %v: the terminal was asked %q", term, env, q)
				}
				if rest := s.hand.next(); rest != "" {
					t.Errorf("%s: %q was answered", term, rest)
				}
				for _, mode := range regexp.MustCompile(`\x1b\[\?([0-9]+)h`).FindAllStringSubmatch(sent, -1) {
					on, off := strings.LastIndex(sent, "\x1b[?"+mode[1]+"h"), strings.LastIndex(sent, "\x1b[?"+mode[1]+"l")
					if mode[1] == "25" {
						on, off = off, on // the cursor is what has to be on
					}
					if on > off {
						t.Errorf("%s, keys %s: mode %s is not set back: %q", term, leave, mode[1], sent[max(0, len(sent)-120):])
					}
				}
				if s.glass.vt.IsAltScreen() || s.glass.vt.CursorHidden() {
					t.Errorf("%s: alternate screen %v, cursor hidden %v", term, s.glass.vt.IsAltScreen(), s.glass.vt.CursorHidden())
				}
			}
		}
	}
}

// noColor is what the front door makes Terminal.NoColor of.
const noColor = "NO_COLOR=1"

// TestColourComesFromTheClient looks for colour in what is sent; the test itself runs without a terminal.
func TestColourComesFromTheClient(t *testing.T) {
	t.Parallel()
	direct, indexed, basic := regexp.MustCompile(`\x1b\[[0-9;]*38;2;`), regexp.MustCompile(`\x1b\[[0-9;]*38;5;`),
		regexp.MustCompile(`\x1b\[(?:[0-9;]*;)?(?:3[0-7]|4[0-7]|9[0-7])m`)
	for _, c := range []struct {
		term string
		env  []string
		want *regexp.Regexp // nil: no colour at all
	}{
		{"xterm-256color", []string{"COLORTERM=truecolor"}, direct},
		{"xterm-256color", nil, indexed},
		{"xterm", nil, basic},
		{"linux", nil, basic},
		{"vt100", nil, nil},
		{"vt220", []string{"COLORTERM="}, nil},
		{"xterm-256color", []string{"COLORTERM=truecolor", noColor}, nil},
	} {
		f := newFake(team()...)
		f.screen = func(context.Context, string) ([]byte, error) {
			return []byte("\x1b[38;2;200;30;99mDo you want to go on?\x1b[m"), nil
		}
		s := sit(t, f, func(cfg *Config) {
			cfg.Terminal = hitchpost.Terminal{Name: c.term, Size: hitchpost.Size{Cols: 160, Rows: 45}, NoColor: slices.Contains(c.env, noColor)}
			cfg.Environ = c.env
		})
		s.see("Do you want to go on?")
		s.hand.press("q")
		if _, err := s.left(); err != nil {
			t.Fatal(err)
		}
		sent := s.glass.sent()
		for _, kind := range []*regexp.Regexp{direct, indexed, basic} {
			if got := kind.FindString(sent); (got != "") != (kind == c.want) {
				t.Errorf("%s %v: colour %q, want %v", c.term, c.env, got, c.want)
			}
		}
	}
}

// TestScreenIsTheFrame draws hostile names through the whole program onto a terminal: what it shows is the frame.
func TestScreenIsTheFrame(t *testing.T) {
	t.Parallel()
	for _, size := range sizes {
		f := newFake(hostile()...)
		s := sit(t, f, func(c *Config) { c.Terminal.Size = size })
		m := still(t, f, size, nil)
		if m.wide() {
			s.see("$ echo id-00")
			m.handle(captured{id: "id-00", lines: screen([]byte("$ echo id-00\nid-00\n$ \n"))})
		}
		plainly := strings.NewReplacer("\u2068", "", "\u2069", "")
		want := plainly.Replace(draw(t, m))
		s.until(fmt.Sprintf("frame of %v\n%s\n", size, want), func() bool { return plainly.Replace(s.glass.text()) == want })
		if !strings.Contains(s.glass.text(), "esc\uFFFD[2J") {
			t.Errorf("an escape sequence in a name is not shown as text:\n%s", s.glass.text())
		}
	}
}

// TestListFollowsChanges runs with a clock that stands still, so that the list is never taken again by the timer: it is
// the wake-up that shows the change.
func TestListFollowsChanges(t *testing.T) {
	t.Parallel()
	f := newFake(team()...)
	s := sit(t, f, nil)
	s.see("DETACHED     12m")
	f.set(func(f *fake) {
		f.sessions[0].State, f.sessions[0].StateSince = hitchpost.WaitingForInput, ago(90*time.Minute)
		f.sessions[0].StateReason = "asks a question"
	})
	s.see("api-tests      WAITING       1h  asks a question")
	if lines := strings.Split(s.glass.text(), "\n"); !strings.Contains(lines[3], "api-tests") || !strings.HasPrefix(lines[4], "> checkout-flow") {
		t.Errorf("who waits longest is not first, or the selection moved:\n%s", s.glass.text())
	}
	f.set(func(f *fake) { f.sessions = f.sessions[:1] })
	s.notSee("checkout-flow")
	s.hand.press("<enter>")
	if got, err := s.left(); err != nil || got.Attach != "0190a1b2-0001" {
		t.Errorf("choice %+v, %v", got, err)
	}
}

func TestLastSessionIsPreselected(t *testing.T) {
	t.Parallel()
	f := newFake(team()...)
	f.last = "0190a1b2-0008"
	s := sit(t, f, nil)
	s.see("> api-server")
	s.hand.press("q")
	if got, err := s.left(); err != nil || got != (Choice{}) {
		t.Errorf("choice %+v, %v", got, err)
	}
	s = sit(t, f, func(c *Config) { c.Selected = "0190a1b2-0003" })
	s.see("> docs")
}

func TestViewerAttachesReadOnlyAndActsNot(t *testing.T) {
	t.Parallel()
	f := newFake(team()...)
	s := sit(t, f, func(c *Config) { c.Actor.Role = hitchpost.Viewer })
	s.see("read-only")
	s.hand.press("xRcrn")
	s.see("your key may only look")
	s.see("attach, read-only")
	s.hand.press("jj<enter>")
	s.see("its process is gone")
	s.hand.press("rewc<esc>")
	s.notSee("its process is gone")
	s.hand.press("kk<enter>")
	if got, err := s.left(); err != nil || got.Attach != "0190a1b2-0002" {
		t.Errorf("choice %+v, %v", got, err)
	}
	if calls := f.called(); calls != "" {
		t.Errorf("a viewer's keys asked the service: %s", calls)
	}
}

func TestEndOfInputAndOfContext(t *testing.T) {
	t.Parallel()
	s := sit(t, newFake(team()...), nil)
	s.see("docs")
	s.hand.hangUp()
	if _, err := s.left(); !errors.Is(err, io.EOF) {
		t.Errorf("a person who is gone gives %v", err)
	}
	s = sit(t, newFake(team()...), nil)
	s.see("docs")
	why := errors.New("the service stops")
	s.stop(why)
	if _, err := s.left(); !errors.Is(err, why) {
		t.Errorf("a cancelled picker gives %v", err)
	}
	if s.glass.vt.IsAltScreen() || s.glass.vt.CursorHidden() {
		t.Error("a cancelled picker leaves the terminal as it is")
	}
}

func TestResize(t *testing.T) {
	t.Parallel()
	s := sit(t, newFake(team()...), nil)
	s.see("WHERE")
	for _, size := range []hitchpost.Size{{Cols: 1, Rows: 1}, {Cols: 20, Rows: 5}, {Cols: 300, Rows: 90}, {}, {Cols: 40, Rows: 20}} {
		s.glass.mu.Lock()
		s.glass.vt.Resize(min(max(size.Cols, 1), 1000), min(max(size.Rows, 1), 500))
		s.glass.mu.Unlock()
		s.sizes <- size
	}
	s.see("? help  q leave")
	s.notSee("WHERE")
}

// TestGoroutinesStayFlat runs a picker to its end many times: what it started is gone when Run returns.
func TestGoroutinesStayFlat(t *testing.T) {
	run := func() {
		s := sit(t, newFake(team()...), func(c *Config) { c.Terminal.Size = hitchpost.Size{Cols: 160, Rows: 45} })
		s.see("$ echo")
		s.hand.press("jj<enter>qq")
		if _, err := s.left(); err != nil {
			t.Fatal(err)
		}
	}
	run()
	picker := func() int {
		buf := make([]byte, 8<<20)
		n := 0
		for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "bubbletea") || strings.Contains(g, "menu.(*tasks)") || strings.Contains(g, "menu.(*keyboard)") {
				n++
			}
		}
		return n
	}
	for range 5 {
		run()
	}
	s := &seat{t: t, glass: newGlass(t, newHand(), desk), fake: newFake()}
	s.until("end of the picker's goroutines", func() bool { return picker() == 0 })
}
