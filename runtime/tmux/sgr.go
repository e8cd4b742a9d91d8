package tmux

import (
	"bytes"
	"slices"
	"strings"
)

// style is the state of SGR (ECMA-48 8.3.117): what a terminal would draw the next character with. Its parts are kept
// in the words they came in.
type style struct {
	attrs          []string // in the order they came, such as 1, 3, 4:3
	fg, bg, stroke string
}

func (s *style) plain() bool {
	return len(s.attrs) == 0 && s.fg == "" && s.bg == "" && s.stroke == ""
}

// appendTo adds the one sequence that brings a plain terminal to s; none when s is plain.
func (s *style) appendTo(b []byte) []byte {
	if s.plain() {
		return b
	}
	b = append(b, 0x1b, '[')
	first := true
	add := func(p string) {
		if p == "" {
			return
		}
		if !first {
			b = append(b, ';')
		}
		b, first = append(b, p...), false
	}
	for _, a := range s.attrs {
		add(a)
	}
	add(s.fg)
	add(s.bg)
	add(s.stroke)
	return append(b, 'm')
}

// take applies a sequence CSI ... m. Others are not looked at.
func (s *style) take(seq []byte) {
	if len(seq) < 3 || seq[1] != '[' || seq[len(seq)-1] != 'm' || seq[2] >= '<' && seq[2] <= '?' {
		return
	}
	if len(seq) == 3 || bytes.Equal(seq, []byte("\x1b[0m")) {
		s.reset()
		return
	}
	params := strings.Split(string(seq[2:len(seq)-1]), ";")
	for len(params) > 0 {
		params = params[s.one(params):]
	}
}

func (s *style) reset() { s.attrs, s.fg, s.bg, s.stroke = s.attrs[:0], "", "", "" }

// one applies the first parameter, with those that belong to it, and tells how many they were.
func (s *style) one(params []string) int {
	p := params[0]
	n := 1
	head, _, _ := strings.Cut(p, ":")
	switch head {
	case "38", "48", "58":
		if head == p { // the form with semicolons: 5;N or 2;R;G;B
			n = colourLength(params)
			p = strings.Join(params[:n], ";")
		}
		s.colour(head, p)
	case "39":
		s.fg = ""
	case "49":
		s.bg = ""
	case "59":
		s.stroke = ""
	case "", "0":
		s.reset()
	default:
		s.attribute(head, p)
	}
	return n
}

func colourLength(params []string) int {
	n := 1
	if len(params) > 1 {
		switch params[1] {
		case "5":
			n = 3
		case "2":
			n = 5
		}
	}
	return min(n, len(params))
}

func (s *style) colour(head, p string) {
	switch head {
	case "38":
		s.fg = p
	case "48":
		s.bg = p
	default:
		s.stroke = p
	}
}

func (s *style) attribute(head, p string) {
	switch {
	case len(head) == 2 && (head[0] == '3' || head[0] == '9'):
		s.fg = p
	case len(head) == 2 && head[0] == '4', len(head) == 3 && head[:2] == "10":
		s.bg = p
	case head == "22":
		s.drop("1", "2")
	case head == "24", p == "4:0":
		s.drop("4", "21")
	case head == "25":
		s.drop("5", "6")
	case head == "55":
		s.drop("53")
	case len(head) == 2 && head[0] == '2' && head != "21": // 23, 27, 28, 29
		s.drop(head[1:])
	case !slices.Contains(s.attrs, p):
		s.attrs = append(s.attrs, p)
	}
}

// drop removes attributes by their number, whatever their kind.
func (s *style) drop(heads ...string) {
	s.attrs = slices.DeleteFunc(s.attrs, func(a string) bool {
		head, _, _ := strings.Cut(a, ":")
		return slices.Contains(heads, head)
	})
}
