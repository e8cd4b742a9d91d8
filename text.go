package hitchpost

import (
	"strings"
	"unicode"
)

// OneLine makes a text that somebody else has chosen fit for one line of a terminal. What would move the cursor,
// colour, hide or turn round the text around it becomes U+FFFD, which has the width of one cell; line ends and tabs
// become blanks. The joiner of emoji families stays.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r == '\u200d':
			return r
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
