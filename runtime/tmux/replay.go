package tmux

import (
	"bytes"
	"strconv"
)

// replay is what a terminal is sent before the first redraw.
type replay struct {
	modes   []byte // see startModes
	clear   bool
	history []byte // as capture-pane -e -J gives it, cut to the lines that are wanted
	rows    int    // rows that history takes on this terminal, where that is known; else -1
	height  int
}

const plain = "\x1b[m"

// bytes writes it out. Afterwards all of the history is in the scrollback and nothing else between it and the screen,
// and the cursor is at home, where tmux believes it to be.
func (r replay) bytes() []byte {
	b := make([]byte, 0, len(r.modes)+len(r.history)+len(r.history)/8+r.height+128)
	b = append(b, r.modes...)
	b = append(b, plain...)
	lines := bytes.Count(r.history, []byte("\n"))
	if len(r.history) > 0 && r.history[len(r.history)-1] != '\n' {
		lines++ // -J output whose last line goes on on the screen
	}
	// The history must end right above the cursor, and all above the cursor must then be scrolled away. Where the
	// terminal is cleared and the rows are known, it starts at the top. Where it is not, nobody knows the cursor's row;
	// a history as long as the screen ends at the bottom by itself, a shorter one is started there.
	push := r.height - 1
	switch {
	case r.clear && r.rows >= 0 && r.rows < push:
		b = append(b, "\x1b[H\x1b[2J\x1b[3J"...)
		push = r.rows
	case r.clear:
		b = append(b, "\x1b[H\x1b[2J\x1b[3J"...)
		if lines < r.height {
			b = bottom(b, r.height)
		}
	case lines < r.height:
		b = bottom(b, r.height)
	}
	b = appendHistory(b, r.history)
	b = bottom(b, r.height)
	for range push {
		b = append(b, '\n')
	}
	return append(b, "\x1b[r\x1b[m\x1b[H"...)
}

func bottom(b []byte, height int) []byte {
	b = append(b, "\x1b["...)
	b = strconv.AppendInt(b, int64(height), 10)
	return append(b, ";1H"...)
}

// appendHistory writes captured lines for a terminal: ended by CRLF, each plain at its end, so that a row that is
// scrolled in is not filled with the colour of the one before, and with the open style again at the start of the next.
// Line drawing comes as SO and SI, which only terminals with such a G1 understand; it goes out as ESC ( 0 and ESC ( B.
//
// A last line without an end goes on on the screen. It gets its end here all the same: else the screen would be drawn
// over it.
func appendHistory(b, history []byte) []byte {
	var open style
	drawing := false
	for len(history) > 0 {
		var l []byte
		l, history, _ = bytes.Cut(history, []byte("\n"))
		b = open.appendTo(b)
		if drawing {
			b = append(b, "\x1b(0"...)
		}
		b, drawing = appendLine(b, l, &open, drawing)
		b = endLine(b, &open, drawing)
	}
	return b
}

func appendLine(b, l []byte, open *style, drawing bool) ([]byte, bool) {
	if bytes.IndexByte(l, 0x1b) < 0 && bytes.IndexByte(l, 0x0e) < 0 && bytes.IndexByte(l, 0x0f) < 0 {
		return append(b, l...), drawing
	}
	for len(l) > 0 {
		i := bytes.IndexAny(l, "\x1b\x0e\x0f")
		if i < 0 {
			return append(b, l...), drawing
		}
		b = append(b, l[:i]...)
		l = l[i:]
		n := 1
		switch l[0] {
		case 0x0e:
			drawing = true
			b = append(b, "\x1b(0"...)
		case 0x0f:
			drawing = false
			b = append(b, "\x1b(B"...)
		default:
			n = sequence(l)
			open.take(l[:n])
			b = append(b, l[:n]...)
		}
		l = l[n:]
	}
	return b, drawing
}

func endLine(b []byte, open *style, drawing bool) []byte {
	if drawing {
		b = append(b, "\x1b(B"...)
	}
	if !open.plain() {
		b = append(b, plain...)
	}
	return append(b, "\r\n"...)
}
