package menu

import (
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// span is a piece of a line in one style.
type span struct {
	style uv.Style
	text  string // clean
}

// The most of a captured screen that is looked at.
const (
	screenRows  = 500
	screenBytes = 1 << 20
)

// screen turns captured text into lines of styled spans. Colours and attributes are all that is kept of what is in it:
// every other sequence is dropped here, since the renderer hands some of them through to the terminal. Blanks at the
// end and empty lines below the last text are left out. A style goes on into the next line, as tmux writes it.
func screen(b []byte) [][]span {
	if len(b) > screenBytes {
		b = b[len(b)-screenBytes:]
	}
	parser := ansi.GetParser()
	defer ansi.PutParser(parser)
	var (
		lines [][]span
		line  []span
		style uv.Style
		state byte
	)
	for len(b) > 0 {
		seq, _, n, next := ansi.DecodeSequenceWc(b, state, parser)
		state = next
		b = b[n:]
		switch {
		case len(seq) == 1 && seq[0] == '\n':
			lines, line = append(lines, line), nil
		case len(seq) == 1 && seq[0] == '\t':
			line = extend(line, style, " ")
		case ansi.HasCsiPrefix(seq) && parser.Command() == 'm':
			uv.ReadStyle(parser.Params(), &style)
			style.Attrs &^= uv.AttrBlink | uv.AttrRapidBlink | uv.AttrConceal
		case seq[0] >= ' ' && seq[0] != 0x7F && (seq[0] < 0x80 || seq[0] >= 0xC0):
			line = extend(line, style, clean(string(seq)))
		}
	}
	lines = append(lines, line)
	if len(lines) > screenRows {
		lines = lines[len(lines)-screenRows:]
	}
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func extend(line []span, style uv.Style, text string) []span {
	if n := len(line); n > 0 && line[n-1].style.Equal(&style) {
		line[n-1].text += text
		return line
	}
	return append(line, span{style, text})
}

func blank(line []span) bool {
	for _, s := range line {
		if strings.TrimSpace(s.text) != "" {
			return false
		}
	}
	return true
}

// paint is the line in exactly w columns. The style ends with it.
func paint(line []span, w int) string {
	var b strings.Builder
	for _, s := range line {
		if w <= 0 {
			break
		}
		text := s.text
		if width(text) > w {
			text = head(text, w)
		}
		w -= width(text)
		if s.style.IsZero() {
			b.WriteString(isolate(text))
		} else {
			b.WriteString(s.style.Styled(isolate(text)))
		}
	}
	b.WriteString(strings.Repeat(" ", max(w, 0)))
	return b.String()
}
