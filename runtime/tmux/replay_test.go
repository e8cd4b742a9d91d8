package tmux

import (
	"strings"
	"testing"
)

func TestAppendHistory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"a\n", "a\r\n"},
		{"a\nb", "a\r\nb\r\n"}, // its end is on the screen
		{"\n\n", "\r\n\r\n"},
		{"\x1b[31mred\nstill\x1b[0m not\n", "\x1b[31mred\x1b[m\r\n\x1b[31mstill\x1b[0m not\r\n"},
		{"\x1b[1;44ma\n\x1b[39mb\x1b[m\n", "\x1b[1;44ma\x1b[m\r\n\x1b[1;44m\x1b[39mb\x1b[m\r\n"},
		{"\x1b[38;2;1;2;3;48;5;7;4:3;58:2::9:8:7ma\nb\n",
			"\x1b[38;2;1;2;3;48;5;7;4:3;58:2::9:8:7ma\x1b[m\r\n\x1b[4:3;38;2;1;2;3;48;5;7;58:2::9:8:7mb\x1b[m\r\n"},
		{"\x0eqqq\nqq\x0f|\n", "\x1b(0qqq\x1b(B\r\n\x1b(0qq\x1b(B|\r\n"},
		{"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\r\n"},
		{"cut \x1b[3", "cut \x1b[3\r\n"},
	} {
		if got := string(appendHistory(nil, []byte(c.in))); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestStyle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"\x1b[1m\x1b[3m\x1b[1m", "\x1b[1;3m"},
		{"\x1b[1;3m\x1b[22m", "\x1b[3m"},
		{"\x1b[4:3m\x1b[21m\x1b[24m", ""},
		{"\x1b[4:3m\x1b[4:0m", ""},
		{"\x1b[5;7;8;9;53m\x1b[25;27m\x1b[28;29;55m", ""},
		{"\x1b[31m\x1b[92m", "\x1b[92m"},
		{"\x1b[41m\x1b[103m", "\x1b[103m"},
		{"\x1b[31;41m\x1b[39m", "\x1b[41m"},
		{"\x1b[31;41m\x1b[49m", "\x1b[31m"},
		{"\x1b[58;5;1m\x1b[59m", ""},
		{"\x1b[38;5m", "\x1b[38;5m"}, // short, but what it is
		{"\x1b[1;31m\x1b[;32m", "\x1b[32m"},
		{"\x1b[1m\x1b[m", ""},
		{"\x1b[>4;2m\x1b[?1m\x1b[2J", ""},
	} {
		var s style
		in := []byte(c.in)
		for len(in) > 0 {
			n := sequence(in)
			s.take(in[:n])
			in = in[n:]
		}
		if got := string(s.appendTo(nil)); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestStartModes(t *testing.T) {
	t.Parallel()
	in := "\x1b[?1h\x1b=\x1b[m\x1b[?25h\x1b(B\x1b[1;24r\x1b[>c\x1b[>q\x1b[c\x1b]0;t\x1b[?9h\a\x1b[?2026htext\x1b[K\x1b[?2026l" +
		"\x1bP>|x\x1b\\\x1b[>4;2m\x1b[?1004h\x1b[=1;1u\x1b[2 q\x1b[?996n\x1b"
	if got, want := string(startModes([]byte(in))), "\x1b[?1h\x1b=\x1b[?25h\x1b[>4;2m\x1b[?1004h\x1b[=1;1u"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Wherever the cursor was and whatever stood on the terminal, the history ends up whole, right above the screen.
func TestReplayAnywhere(t *testing.T) {
	t.Parallel()
	const height = 10
	for before := 0; before <= 2*height; before++ {
		for lines := range 3 * height {
			for _, r := range []replay{
				{height: height, rows: -1},
				{height: height, rows: lines},
				{height: height, rows: -1, clear: true},
				{height: height, rows: lines, clear: true},
			} {
				g := newGrid(20, height)
				g.Write([]byte(strings.Repeat("before\r\n", before)))
				r.history = []byte(strings.Repeat("history\n", lines))
				g.Write(r.bytes())
				if g.x != 0 || g.y != 0 {
					t.Fatalf("the cursor is at %d,%d", g.x, g.y)
				}
				text := strings.Join(g.kept, "\n")
				if got := strings.Count(text, "history"); got != lines {
					t.Fatalf("%d before, %d lines, %+v: %d lines are kept:\n%s", before, lines, r.clear, got, text)
				}
				if lines > 0 && g.kept[len(g.kept)-1] != "history" {
					t.Fatalf("%d before, %d lines, clear %v, rows %d: the history does not end above the screen:\n%s", before, lines, r.clear, r.rows, text)
				}
				if want := before; !r.clear && strings.Count(text, "before") != want || r.clear && strings.Contains(text, "before") {
					t.Fatalf("%d before, %d lines, clear %v: what stood there:\n%s", before, lines, r.clear, text)
				}
				if strings.TrimSpace(strings.Join(g.screen(), "")) != "" {
					t.Fatalf("on the screen stands %q", g.screen())
				}
			}
		}
	}
}

func TestLastLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 3, ""}, {"a", 1, "a"}, {"a\n", 1, "a\n"}, {"a\nb\n", 1, "b\n"}, {"a\nb", 1, "b"}, {"a\nb\n", 2, "a\nb\n"},
		{"a\nb\n", 9, "a\nb\n"}, {"a\nb\n", 0, ""}, {"\n\n", 1, "\n"},
	} {
		if got := c.text[lastLines([]byte(c.text), c.n):]; got != c.want {
			t.Errorf("%d of %q: %q, want %q", c.n, c.text, got, c.want)
		}
	}
}
