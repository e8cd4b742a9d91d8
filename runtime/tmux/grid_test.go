package tmux

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// grid is a terminal with a scrollback, as exact as its tests need: a line that scrolls off the top of a full-screen
// region is kept, a wide character that does not fit wraps whole, the cursor waits at the right edge. It takes what
// tmux sends to an xterm; anything else is a panic, so that nothing is misread in silence.
type grid struct {
	w, h        int
	rows        [][]string // of h rows, w cells; "" continues a wide character
	kept        []string
	x, y        int
	pending     bool // at the right edge: the next character wraps
	top, bottom int
	rest        []byte // the beginning of a sequence
}

func newGrid(w, h int) *grid {
	g := &grid{w: w, h: h, bottom: h - 1}
	for range h {
		g.rows = append(g.rows, g.blank())
	}
	return g
}

func (g *grid) blank() []string {
	row := make([]string, g.w)
	for i := range row {
		row[i] = " "
	}
	return row
}

// text is the scrollback and the screen, a row each, without blanks at their ends.
func (g *grid) text() []string {
	lines := append([]string(nil), g.kept...)
	for _, row := range g.rows {
		lines = append(lines, strings.TrimRight(strings.Join(row, ""), " "))
	}
	return lines
}

func (g *grid) screen() []string { return g.text()[len(g.kept):] }

func (g *grid) Write(p []byte) (int, error) {
	b := append(g.rest, p...)
	g.rest = nil
	for len(b) > 0 {
		n := g.step(b)
		if n == 0 {
			g.rest = append([]byte(nil), b...)
			break
		}
		b = b[n:]
	}
	return len(p), nil
}

// step takes one character or sequence; 0 where it is not whole yet.
func (g *grid) step(b []byte) int {
	switch c := b[0]; {
	case c == '\r':
		g.x, g.pending = 0, false
	case c == '\n':
		g.feed()
	case c == '\b':
		g.x, g.pending = max(g.x-1, 0), false
	case c == 0x1b:
		return g.escape(b)
	case c < 0x20:
	default:
		if !utf8.FullRune(b) {
			return 0
		}
		r, n := utf8.DecodeRune(b)
		g.put(r)
		return n
	}
	return 1
}

func (g *grid) put(r rune) {
	width := runewidth.RuneWidth(r)
	if width == 0 {
		return
	}
	if g.pending || g.x+width > g.w {
		g.x, g.pending = 0, false
		g.feed()
	}
	g.rows[g.y][g.x] = string(r)
	if width == 2 {
		g.rows[g.y][g.x+1] = ""
	}
	if g.x += width; g.x >= g.w {
		g.x, g.pending = g.w-1, true
	}
}

func (g *grid) feed() {
	g.pending = false
	switch {
	case g.y == g.bottom:
		g.scroll(1)
	case g.y < g.h-1:
		g.y++
	}
}

// scroll moves the region up; what leaves a region that begins at the top is kept.
func (g *grid) scroll(n int) {
	for range n {
		if g.top == 0 {
			g.kept = append(g.kept, strings.TrimRight(strings.Join(g.rows[0], ""), " "))
		}
		copy(g.rows[g.top:g.bottom], g.rows[g.top+1:g.bottom+1])
		g.rows[g.bottom] = g.blank()
	}
}

func (g *grid) scrollDown(top, n int) {
	for range n {
		copy(g.rows[top+1:g.bottom+1], g.rows[top:g.bottom])
		g.rows[top] = g.blank()
	}
}

func (g *grid) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	n := sequence(b)
	if n == len(b) && !complete(b) {
		return 0
	}
	switch b[1] {
	case '[':
		g.csi(string(b[2:n-1]), b[n-1])
	case 'M':
		if g.y == g.top {
			g.scrollDown(g.top, 1)
		} else {
			g.y = max(g.y-1, 0)
		}
	case ']', 'P', '(', ')', '=', '>', 'k', '_', '^', '\\':
	default:
		panic("grid: " + strconv.Quote(string(b[:n])))
	}
	return n
}

// complete reports whether b, one sequence to its last byte, has its end.
func complete(b []byte) bool {
	last := b[len(b)-1]
	switch b[1] {
	case '[':
		return len(b) > 2 && last >= 0x40 && last <= 0x7e
	case ']', 'P', '_', '^', 'X', 'k':
		return len(b) > 2 && (last == 7 || last == '\\' && b[len(b)-2] == 0x1b)
	case '(', ')':
		return len(b) > 2
	}
	return true
}

func (g *grid) csi(params string, final byte) {
	if params != "" && params[0] >= '<' && params[0] <= '?' || final == 'm' || strings.HasSuffix(params, " ") {
		return // modes, styles, questions
	}
	arg := func(i, otherwise int) int {
		f := strings.Split(params, ";")
		if i >= len(f) || f[i] == "" {
			return otherwise
		}
		n, err := strconv.Atoi(f[i])
		if err != nil {
			panic("grid: CSI " + params + string(final))
		}
		return n
	}
	at := func(x, y int) { g.x, g.y, g.pending = min(max(x, 0), g.w-1), min(max(y, 0), g.h-1), false }
	n := max(arg(0, 1), 1)
	switch final {
	case 'H', 'f':
		at(arg(1, 1)-1, arg(0, 1)-1)
	case 'A':
		at(g.x, g.y-n)
	case 'B':
		at(g.x, g.y+n)
	case 'C':
		at(g.x+n, g.y)
	case 'D':
		at(g.x-n, g.y)
	case 'G':
		at(n-1, g.y)
	case 'd':
		at(g.x, n-1)
	case 'r':
		g.top, g.bottom = arg(0, 1)-1, arg(1, g.h)-1
		at(0, 0)
	case 'J':
		g.erase(arg(0, 0))
	case 'K':
		g.eraseLine(arg(0, 0))
	case 'X':
		for x := g.x; x < min(g.x+n, g.w); x++ {
			g.rows[g.y][x] = " "
		}
	case 'L':
		g.scrollDown(g.y, n)
	case 'M':
		for range n {
			copy(g.rows[g.y:g.bottom], g.rows[g.y+1:g.bottom+1])
			g.rows[g.bottom] = g.blank()
		}
	case 'P':
		row := append(g.rows[g.y][:g.x:g.x], g.rows[g.y][min(g.x+n, g.w):]...)
		g.rows[g.y] = append(row, g.blank()[:g.w-len(row)]...)
	case '@':
		row := append(g.rows[g.y][:g.x:g.x], g.blank()[:min(n, g.w-g.x)]...)
		g.rows[g.y] = append(row, g.rows[g.y][g.x:]...)[:g.w]
	case 'T':
		g.scrollDown(g.top, n)
	case 't', 'n', 'c':
	default: // S among them: what it scrolls off is kept by no terminal
		panic("grid: CSI " + params + string(final))
	}
}

func (g *grid) erase(what int) {
	switch what {
	case 0:
		g.eraseLine(0)
		for y := g.y + 1; y < g.h; y++ {
			g.rows[y] = g.blank()
		}
	case 1:
		g.eraseLine(1)
		for y := range g.y {
			g.rows[y] = g.blank()
		}
	case 2:
		for y := range g.h {
			g.rows[y] = g.blank()
		}
	case 3:
		g.kept = nil
	}
}

func (g *grid) eraseLine(what int) {
	from, to := g.x, g.w
	if what == 1 {
		from, to = 0, g.x+1
	} else if what == 2 {
		from = 0
	}
	copy(g.rows[g.y][from:to], g.blank())
}
