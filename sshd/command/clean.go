package command

import (
	"strings"
	"unicode"

	"github.com/clipperhouse/displaywidth"
)

// clean makes a text fit for one line of a terminal. What would move the cursor, colour, hide or turn round the text
// around it becomes U+FFFD, which has the width of one cell: a name is somebody else's. Line ends and tabs become
// blanks.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case harmful(r):
			return '\ufffd'
		}
		return r
	}, text)
}

// harmful reports whether r is a control or format character, bidirectional overrides included. The joiner of emoji
// families stays.
func harmful(r rune) bool {
	return r != '\u200d' && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs))
}

// width is the number of cells that text takes.
func width(text string) int { return displaywidth.String(text) }

// fit cuts text to so many cells.
func fit(text string, cells int) string {
	return displaywidth.TruncateString(text, max(cells, 1), "…")
}
