package main

import (
	"bytes"
	"fmt"
	"strings"
)

// roff is a manual page under way, in the macros of man(7): they are the ones that every man program knows.
type roff struct{ bytes.Buffer }

// manHead is what the head and the foot of a page say.
type manHead struct {
	name, section string
	date          string // of the version, as 2026-01-31; may be empty
	version       string
	title         string // of the part of the manual
}

func newRoff(h manHead) *roff {
	r := &roff{}
	fmt.Fprintf(r, ".TH %s %s %q \"hitchpost %s\" %q\n.nh\n.ad l\n", strings.ToUpper(roffText(h.name)), h.section, h.date,
		roffText(h.version), h.title)
	return r
}

func (r *roff) section(name string) { fmt.Fprintf(r, ".SH %s\n", roffText(name)) }

func (r *roff) subsection(name string) { fmt.Fprintf(r, ".SS %s\n", roffText(name)) }

// text adds paragraphs, with blank lines between them.
func (r *roff) text(text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			r.WriteString(".PP\n")
		}
		for line := range strings.Lines(paragraph) {
			r.WriteString(roffText(strings.TrimSpace(line)) + "\n")
		}
	}
}

// item adds what is said about a term.
func (r *roff) item(term, text string) {
	fmt.Fprintf(r, ".TP\n.B %s\n", roffText(term))
	r.text(text)
}

// code adds lines as they are typed.
func (r *roff) code(lines string) {
	r.WriteString(".PP\n.RS 4\n.nf\n")
	for line := range strings.Lines(lines) {
		r.WriteString(roffText(strings.TrimSpace(line)) + "\n")
	}
	r.WriteString(".fi\n.RE\n")
}

// roffText escapes what roff would act on or show as another character: groff_man_style(7), Portability.
func roffText(text string) string {
	var b strings.Builder
	for i, c := range text {
		switch {
		case c == '\\':
			b.WriteString(`\e`)
		case c == '-':
			b.WriteString(`\-`)
		case c == '\'':
			b.WriteString(`\(aq`)
		case c == '`':
			b.WriteString(`\(ga`)
		case c == '^':
			b.WriteString(`\(ha`)
		case c == '~':
			b.WriteString(`\(ti`)
		case c == '.' && i == 0:
			b.WriteString(`\&.`)
		case c > '~':
			fmt.Fprintf(&b, `\[u%04X]`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
