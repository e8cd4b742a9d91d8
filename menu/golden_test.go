package menu

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"github.com/hitchpost/hitchpost"
)

var update = flag.Bool("update", false, "write the golden frames anew")

// still is a model at rest: no program runs, commands are not executed.
func still(t testing.TB, f *fake, size hitchpost.Size, change func(c *Config)) *model {
	t.Helper()
	c := Config{
		Actor: anna, Service: f, Terminal: hitchpost.Terminal{Name: "xterm-256color", Size: size},
		Now: func() time.Time { return testNow }, Home: "/home/anna",
	}
	if change != nil {
		change(&c)
	}
	m := newModel(t.Context(), c.filled())
	t.Cleanup(m.tasks.end)
	return m
}

// typed presses each key of a sequence such as "/docs<enter>".
func (m *model) typed(keys string) {
	for _, k := range decodeKeys(keys) {
		m.handle(k)
	}
}

// decodeKeys decodes what a terminal sends; names in angle brackets stand for the keys that have no letter.
func decodeKeys(keys string) []tea.Msg {
	var k keyboard
	var events []tea.Msg
	buf := []byte(wire(keys))
	for len(buf) > 0 {
		n, ev := k.next(buf, true)
		if ev != nil {
			events = append(events, ev)
		}
		buf = buf[n:]
	}
	return events
}

func wire(keys string) string {
	return strings.NewReplacer("<enter>", "\r", "<esc>", "\x1b", "<tab>", "\t", "<up>", "\x1b[A", "<down>", "\x1b[B",
		"<pgdn>", "\x1b[6~", "<pgup>", "\x1b[5~", "<back>", "\x7f", "<left>", "\x1b[D", "<right>", "\x1b[C",
		"<ctrl-c>", "\x03", "<ctrl-u>", "\x15", "<ctrl-w>", "\x17", "<backtab>", "\x1b[Z").Replace(keys)
}

// draw lays the frame into cells as the program's renderer does, and gives them back as lines of text. It fails when a
// line or the frame is larger than the screen.
func draw(t testing.TB, m *model) string {
	t.Helper()
	content, _ := m.frame()
	lines := strings.Split(content, "\n")
	if len(lines) > m.size.Rows {
		t.Errorf("%d lines on a screen of %d", len(lines), m.size.Rows)
	}
	for i, l := range lines {
		if w := width(stripped(l)); w > m.size.Cols {
			t.Errorf("line %d is %d columns wide on a screen of %d: %q", i, w, m.size.Cols, l)
		}
	}
	buf := uv.NewScreenBuffer(m.size.Cols, m.size.Rows)
	uv.NewStyledString(content).Draw(buf, buf.Bounds())
	var b strings.Builder
	for y := range m.size.Rows {
		line := ""
		for x := 0; x < m.size.Cols; x++ {
			if c := buf.CellAt(x, y); c != nil && c.Width > 0 {
				line += c.Content
				x += c.Width - 1
			} else {
				line += " "
			}
		}
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(line, " "))
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden frame (go test ./menu -update writes it): %v", err)
	}
	if got != string(want) {
		t.Errorf("frame %s is\n%s\nwant\n%s", name, got, want)
	}
}
