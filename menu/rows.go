package menu

import (
	"strconv"
	"strings"

	"github.com/hitchpost/hitchpost"
)

// headings is the row above the list.
func headings(w int, p widths) string {
	var cells []string
	for c := range columnCount {
		if p[c] > 0 {
			cells = append(cells, align(c, heading(c), p[c]))
		}
	}
	return fit(strings.Repeat(" ", gutter)+strings.Join(cells, strings.Repeat(" ", gap)), w)
}

func align(c column, s string, w int) string {
	if c == colOutput || c == colAttached {
		return fitRight(s, w)
	}
	return fit(s, w)
}

// row is one session in exactly w columns. The selected one has a mark as well as the reverse style, for terminals
// that cannot show the latter; it takes no colour, which would be unreadable in reverse on some palettes.
func (m *model) row(s hitchpost.Session, w int, p widths, selected bool) string {
	var b strings.Builder
	mark, used := "  ", gutter
	if selected {
		mark = "> "
	}
	b.WriteString(head(mark, w))
	first := true
	for c := range columnCount {
		if p[c] <= 0 {
			continue
		}
		if !first {
			b.WriteString(strings.Repeat(" ", gap))
			used += gap
		}
		first = false
		used += p[c]
		text := align(c, m.cell(s, c, p), p[c])
		if !selected {
			text = m.ink(s, c).Render(text)
		}
		b.WriteString(text)
	}
	b.WriteString(strings.Repeat(" ", max(w-used, 0)))
	if selected {
		return m.theme.selected.Render(b.String())
	}
	return b.String()
}

// cell is the clean text of one property.
func (m *model) cell(s hitchpost.Session, c column, p widths) string {
	switch c {
	case colHandle:
		return clean(s.Handle)
	case colState:
		return stateCell(s, p[c], m)
	case colReason:
		return waitsFor(s)
	case colKind:
		return clean(string(s.Kind))
	case colNode:
		return clean(s.Node)
	case colProject:
		return clean(s.Project)
	case colPlace:
		if len(s.Clash) > 0 {
			return wordClash + " " + clean(place(s, m.list.home))
		}
		return clean(place(s, m.list.home))
	case colOutput:
		return age(s.LastOutputAt, m.now)
	case colAttached:
		if s.Attached == 0 {
			return wordNone
		}
		return strconv.Itoa(s.Attached)
	default:
		return clean(s.Title)
	}
}

// stateCell is the state and, right of it, its age.
func stateCell(s hitchpost.Session, w int, m *model) string {
	word := stateWord(s.State, w < 17+1+ageWidth)
	if w < stateShort {
		return word
	}
	return fit(word, w-1-ageWidth) + " " + fitRight(age(s.StateSince, m.now), ageWidth)
}

// ink is the style of a column.
func (m *model) ink(s hitchpost.Session, c column) ink {
	switch c {
	case colState, colReason:
		return m.theme.states[s.State]
	case colPlace:
		if len(s.Clash) > 0 {
			return m.theme.problem
		}
	case colKind, colNode, colProject, colOutput, colAttached:
		return m.theme.faint
	}
	return ""
}
