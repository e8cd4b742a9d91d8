package menu

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
)

func TestCleanAndWidth(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain text":          "plain text",
		"a\x1b[31mb":          "a\uFFFD[31mb",
		"a\u202eb\u2066c":     "a\uFFFDb\uFFFDc",
		"a\xffb":              "a\uFFFDb",
		"a\u2028b\u0085c":     "a\uFFFDb\uFFFDc",
		"👩\u200d💻 👍🏽 ❤\ufe0f": "👩💻 👍 ❤",
		"e\u0301\u0302\u0303": "e\u0301\u0302",
		"\u0301x":             "x",
		"a\u00a0b\u3000c":     "a b c",
		"שלום":                "שלום",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) is %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{"plain text that is long", "日本語のセッション", "שלום עולם וברכה", "👩💻👍❤ x", "e\u0301e\u0301e\u0301e\u0301"} {
		for w := range 30 {
			for name, got := range map[string]string{"fit": fit(in, w), "fitRight": fitRight(in, w)} {
				if width(got) != w {
					t.Errorf("%s(%q, %d) is %d wide: %q", name, in, w, width(got), got)
				}
			}
			if got := cutLeft(in, w); width(got) > w {
				t.Errorf("cutLeft(%q, %d) is %q", in, w, got)
			}
		}
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Hour: "<1m", 0: "<1m", 59 * time.Second: "<1m", time.Minute: "1m", 59 * time.Minute: "59m", time.Hour: "1h",
		47 * time.Hour: "47h", 48 * time.Hour: "2d", 24 * 5000 * time.Hour: "999d",
	} {
		if got := age(ago(d), testNow); got != want || len(got) > ageWidth {
			t.Errorf("age of %v is %q, want %q", d, got, want)
		}
	}
	if got := age(time.Time{}, testNow); got != "-" {
		t.Errorf("age of no time is %q", got)
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	s := team()
	s = append(s, hitchpost.Session{Handle: "starting", State: hitchpost.Starting}, hitchpost.Session{Handle: "stopping", State: hitchpost.Stopping})
	s = order(s, testNow)
	var got []string
	for _, x := range s {
		got = append(got, x.Handle)
	}
	want := []string{"checkout-flow", "docs", "train", "migrate-db", "api-tests", "deploy-shell", "api-server", "starting", "stopping", "notes"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestPlanFitsAndGrows(t *testing.T) {
	t.Parallel()
	n := measure(team(), "")
	shown := 0
	for w := range 300 {
		p := plan(w, n)
		total, count := gutter, 0
		for _, c := range p {
			if c > 0 {
				count++
				total += c
			}
		}
		total += gap * max(count-1, 0)
		if total > max(w, gutter) {
			t.Errorf("%d columns are planned for %d", total, w)
		}
		if count < shown {
			t.Errorf("at %d columns there are fewer than before", w)
		}
		shown = max(shown, count)
	}
	if shown != int(columnCount) {
		t.Errorf("the widest list shows %d columns", shown)
	}
}

func TestProfile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		term, env string
		none      bool
		want      colorprofile.Profile
	}{
		{"xterm-256color", "", false, colorprofile.ANSI256},
		{"xterm-256color", "COLORTERM=truecolor", false, colorprofile.TrueColor},
		{"xterm-256color", "COLORTERM=truecolor", true, colorprofile.ASCII},
		{"vt100", "COLORTERM=truecolor", false, colorprofile.ASCII},
		{"vt220-w", "", false, colorprofile.ASCII},
		{"xterm-mono", "", false, colorprofile.ASCII},
		{"linux", "", false, colorprofile.ANSI},
		{"", "", false, colorprofile.ASCII},
	} {
		if got := profileOf(hitchpost.Terminal{Name: c.term, NoColor: c.none}, []string{c.env}); got != c.want {
			t.Errorf("%s %s, no colour %v is %v, want %v", c.term, c.env, c.none, got, c.want)
		}
	}
}

// TestKeyboardDecodes feeds each byte by itself: what is decoded is the same as of one packet.
func TestKeyboardDecodes(t *testing.T) {
	t.Parallel()
	in := "aé日\x1b[A\x1b[1;5C\x1bOP\x1b[200~x\ry\x1b[201~q\x1b[?62;1c\x1b]11;rgb:0000/0000/0000\x1b\\\x1bP>|xterm\x1b\\\x1b[I\r"
	want := []string{"a", "é", "日", "up", "ctrl+right", "f1", "paste x\ry", "q", "enter"}
	for name, r := range map[string]io.Reader{
		"one packet": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in)), "halves": iotest.HalfReader(strings.NewReader(in)),
	} {
		var got []string
		k := keyboard{in: &stream{Reader: r}, deliver: func(ev tea.Msg) (bool, bool) {
			switch ev := ev.(type) {
			case tea.PasteMsg:
				got = append(got, "paste "+ev.Content)
			case tea.KeyPressMsg:
				got = append(got, ev.String())
			}
			return true, false
		}}
		if err := k.run(nil); !errors.Is(err, io.EOF) {
			t.Errorf("%s: ends with %v", name, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// stream is an Input without a next stage.
type stream struct {
	io.Reader
	back []byte
}

func (s *stream) Interrupt()      {}
func (s *stream) Unread(p []byte) { s.back = append(s.back, p...) }

func TestLongPasteIsCutAndLeavesNoKeys(t *testing.T) {
	t.Parallel()
	in := pasteStart + strings.Repeat("x", 300_000) + pasteEnd + "z"
	var pasted int
	var keys []string
	k := keyboard{in: &stream{Reader: strings.NewReader(in)}, deliver: func(ev tea.Msg) (bool, bool) {
		switch ev := ev.(type) {
		case tea.PasteMsg:
			pasted += len(ev.Content)
		case tea.KeyPressMsg:
			keys = append(keys, ev.String())
		}
		return true, false
	}}
	_ = k.run(nil)
	if pasted != pasteMost || strings.Join(keys, "") != "z" {
		t.Errorf("%d bytes were pasted, and keys %q came", pasted, keys)
	}
}

func FuzzKeyboard(f *testing.F) {
	f.Add([]byte("j\x1b[A\x1b[200~x\x1b[201~\r\x1b"))
	f.Fuzz(func(t *testing.T, in []byte) {
		k := keyboard{in: &stream{Reader: bytes.NewReader(in)}, deliver: func(tea.Msg) (bool, bool) { return true, false }}
		if err := k.run(nil); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
}

func FuzzScreen(f *testing.F) {
	f.Add([]byte(paneScreen))
	f.Add([]byte("\x1b]0;x\x07\x1b_G\x1b\\\u202e日\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, line := range screen(in) {
			for _, s := range line {
				if clean(s.text) != s.text && width(clean(s.text)) != width(s.text) {
					t.Errorf("%q is not clean", s.text)
				}
			}
			if got := width(stripped(paint(line, 40))); got != 40 {
				t.Errorf("a line is %d wide: %q", got, paint(line, 40))
			}
		}
	})
}

func TestField(t *testing.T) {
	t.Parallel()
	keys := newKeys().field
	f := newField("", 20)
	for _, ev := range decodeKeys("ab日本<left><left>é<back>X\x01<right>Y\x05 end<ctrl-w>") {
		f.press(ev.(tea.KeyPressMsg), keys)
	}
	if f.value() != "aYbX日本 " {
		t.Errorf("value %q", f.value())
	}
	f.insert(strings.Repeat("z", 100) + "\x1b\n\u202e")
	if len(f.value()) > 20 {
		t.Errorf("%d bytes", len(f.value()))
	}
	for w := range 12 {
		if text, at := f.view(w); width(text) != w || at > max(w-1, 0) {
			t.Errorf("view(%d) is %q, cursor %d", w, text, at)
		}
	}
}

func many(n int) []hitchpost.Session {
	var out []hitchpost.Session
	states := []hitchpost.State{hitchpost.Detached, hitchpost.Running, hitchpost.Stopped, hitchpost.WaitingForInput}
	for i := range n {
		s := team()[i%8]
		s.ID, s.Handle = fmt.Sprintf("id-%04d", i), fmt.Sprintf("session-%04d", i)
		s.State, s.StateSince = states[i%len(states)], ago(time.Duration(i)*time.Minute)
		out = append(out, s)
	}
	return out
}

// BenchmarkKeyToFrame is one key in a list of 1,000 sessions, up to the finished frame.
func BenchmarkKeyToFrame(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("%dx%d", size.Cols, size.Rows), func(b *testing.B) {
			m := still(b, newFake(many(1000)...), size, nil)
			down := decodeKeys("j")[0]
			b.ReportAllocs()
			for b.Loop() {
				if m.list.at == len(m.list.shown)-1 {
					m.typed("g")
				}
				m.handle(down)
				m.frame()
			}
		})
	}
}

// BenchmarkSnapshot is a change in a list of 1,000 sessions, up to the finished frame.
func BenchmarkSnapshot(b *testing.B) {
	m := still(b, newFake(many(1000)...), desk, nil)
	s := m.take()
	for b.Loop() {
		m.handle(s)
		m.frame()
	}
}

// TestThousandSessionsScroll goes to the end of a long list and back.
func TestThousandSessionsScroll(t *testing.T) {
	t.Parallel()
	s := sit(t, newFake(many(1000)...), nil)
	s.see("1000 sessions")
	s.hand.press("G")
	s.until("last row", func() bool { return strings.Contains(s.glass.text(), "> session-0998") })
	s.hand.press("<pgup><pgup>g")
	s.until("first row", func() bool { return strings.Contains(s.glass.text(), "> session-0999") })
	s.hand.press("/0500<enter><enter>")
	if got, err := s.left(); err != nil || got.Attach != "id-0500" {
		t.Errorf("choice %+v, %v", got, err)
	}
}
