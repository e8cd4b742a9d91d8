package command

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/hitchpost/hitchpost"
)

// page is text for people in sections of labelled lines, each cleaned and folded to the width of the terminal.
type page struct {
	out     bytes.Buffer
	columns int // 0: any number
}

const (
	labelAt   = 2  // where labels begin
	textAt    = 15 // and texts
	narrowAt  = 4  // where texts begin on a narrow terminal, below their label
	narrowest = 60 // columns for labels and texts side by side
)

// section begins a new one.
func (p *page) section(name string) {
	if p.out.Len() > 0 {
		p.out.WriteString("\n")
	}
	p.out.WriteString(name + "\n")
}

// row is a label and its text, which is folded between words, and within one that is longer than a line.
func (p *page) row(label, text string) {
	text = hitchpost.OneLine(text)
	indent := textAt
	if p.columns > 0 && p.columns < narrowest {
		indent = narrowAt
		if label != "" {
			p.out.WriteString(strings.Repeat(" ", labelAt) + label + "\n")
			label = ""
		}
	}
	head := strings.Repeat(" ", labelAt) + label
	head += strings.Repeat(" ", max(indent-width(head), 1))
	for _, line := range wrapped(text, p.columns-indent, p.columns > 0) {
		p.out.WriteString(strings.TrimRight(head+line, " ") + "\n")
		head = strings.Repeat(" ", indent)
	}
}

// rows are a label and lines, each with a row of its own.
func (p *page) rows(label string, lines []string) {
	for _, line := range lines {
		p.row(label, line)
		label = ""
	}
}

// quote shows lines of a program, cut to the width.
func (p *page) quote(lines []string) {
	for _, line := range lines {
		line = "  | " + hitchpost.OneLine(line)
		if p.columns > 0 {
			line = fit(line, p.columns)
		}
		p.out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// wrapped are the lines of a text of so many cells each; one, where there is no limit.
func wrapped(text string, cells int, limited bool) []string {
	if !limited {
		return []string{text}
	}
	cells = max(cells, 1)
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case width(*last)+1+width(word) <= cells:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
		for last := &lines[len(lines)-1]; width(*last) > cells; last = &lines[len(lines)-1] {
			head := firstCells(*last, cells)
			rest := (*last)[len(head):]
			*last = head
			lines = append(lines, rest)
		}
	}
	return lines
}

// firstCells is the beginning of a text that takes at most so many cells, and one character at least.
func firstCells(text string, cells int) string {
	end := 0
	for end < len(text) {
		_, n := utf8.DecodeRuneInString(text[end:])
		if end > 0 && width(text[:end+n]) > cells {
			break
		}
		end += n
	}
	return text[:end]
}
