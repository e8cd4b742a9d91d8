package menu

import (
	"strings"
)

// section is a part of a page: a heading and what stands below it.
type section struct {
	title string
	lines []pageLine
	aside bool // stands in the second column where there is one
}

// pageLine is clean text of one ink. It is wrapped to at most most lines, or cut where that is 0.
type pageLine struct {
	ink  ink
	text string
	most int
}

// twoColumns is the width from which a page has two.
const twoColumns = 120

// drawSections is the sections in lines of exactly w columns.
func (m *model) drawSections(parts []section, w int) []string {
	if w < twoColumns {
		return m.column(parts, w)
	}
	var left, right []section
	for _, s := range parts {
		if s.aside {
			right = append(right, s)
		} else {
			left = append(left, s)
		}
	}
	wide := (w - 3) / 2
	return m.beside(m.column(left, wide), m.column(right, w-3-wide), wide, w-3-wide)
}

// beside puts two columns next to each other.
func (m *model) beside(left, right []string, wide, other int) []string {
	bar := m.theme.faint.Render(" │ ")
	lines := make([]string, 0, max(len(left), len(right)))
	for i := range max(len(left), len(right)) {
		a, b := strings.Repeat(" ", wide), strings.Repeat(" ", other)
		if i < len(left) {
			a = left[i]
		}
		if i < len(right) {
			b = right[i]
		}
		lines = append(lines, a+bar+b)
	}
	return lines
}

// column is the sections one below the other.
func (m *model) column(parts []section, w int) []string {
	var lines []string
	for i, s := range parts {
		if i > 0 {
			lines = append(lines, strings.Repeat(" ", w))
		}
		lines = append(lines, m.theme.name.Render(fit(s.title, w)))
		for _, l := range s.lines {
			for _, text := range l.broken(w - pageIndent) {
				lines = append(lines, strings.Repeat(" ", min(pageIndent, w))+l.ink.Render(fit(text, w-pageIndent)))
			}
		}
	}
	return lines
}

// pageIndent is how far the lines of a section stand in.
const pageIndent = 2

// broken is the line as it stands in w columns.
func (l pageLine) broken(w int) []string {
	if l.most == 0 || w <= 0 {
		return []string{l.text}
	}
	if lines := wrap(l.text, w, l.most); len(lines) > 0 {
		return lines
	}
	return []string{""}
}

// scrolled is the n lines from *top on, which is moved to where there are some.
func scrolled(lines []string, top *int, n int) []string {
	*top = max(min(*top, len(lines)-n), 0)
	return lines[*top:min(*top+n, len(lines))]
}

// cardBody is the card in at most n lines of w columns.
func (m *model) cardBody(w, n int) []string {
	p := &m.card
	return scrolled(m.drawSections(m.cardSections(), w), &p.top, n)
}
