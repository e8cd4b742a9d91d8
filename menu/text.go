package menu

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// All text from outside passes through clean at the edge, and is measured by width and shortened by cut after that.
// The measure is the renderer's own: it asks no terminal about mode 2027, so it counts a column for each code point
// (wcwidth) and not for each cluster. Text that the two ways would measure differently is what breaks tables, so
// clean also takes out what joins code points into one glyph.

// shown stands for a character that may not be shown.
const shown = '\uFFFD'

// maxMarks is how many combining marks one character keeps. Two are enough for every living script.
const maxMarks = 2

// clean makes s safe to show on one line of any terminal. Control characters, C1 controls, line separators, bidi
// controls and bytes that are no UTF-8 become U+FFFD, so that they are seen. Zero-width joiners, variation selectors
// and skin tones are dropped, since terminals do not agree on the width of what they make.
func clean(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	marks, based := 0, false
	for _, r := range s {
		switch {
		case joins(r):
			continue
		case r == utf8.RuneError, unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Cs):
			r, marks, based = shown, 0, true
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; !based || marks > maxMarks {
				continue
			}
		case unicode.Is(unicode.Zs, r):
			r, marks, based = ' ', 0, true
		default:
			marks, based = 0, true
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plain reports whether s is printable ASCII, as nearly all text is.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// joins reports whether r only changes how its neighbours are drawn.
func joins(r rune) bool {
	switch {
	case r == 0x200B, r == 0x200C, r == 0x200D, r == 0x2060, r == 0xFEFF, r == 0x00AD: // zero-width, soft hyphen
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0000 && r <= 0xE01EF: // variation selectors, tags
		return true
	case r >= 0x1F3FB && r <= 0x1F3FF: // skin tones
		return true
	}
	return false
}

// width is the number of columns that the clean text s takes.
func width(s string) int {
	if plain(s) {
		return len(s)
	}
	return ansi.StringWidthWc(s)
}

// cut shortens the clean text s to at most w columns, with an ellipsis where something was taken off.
func cut(s string, w int) string {
	if width(s) <= w {
		return s
	}
	if w <= 1 {
		return ellipsis[:len(ellipsis)*max(w, 0)]
	}
	return head(s, w-1) + ellipsis
}

const ellipsis = "…"

// head is the longest start of s that takes at most w columns, whole clusters only.
func head(s string, w int) string {
	n, used := 0, 0
	for n < len(s) {
		cluster, cw := ansi.FirstGraphemeCluster(s[n:], ansi.WcWidth)
		if used+cw > w {
			break
		}
		used += cw
		n += len(cluster)
	}
	return s[:n]
}

// cutLeft shortens s from its start, for paths: the end tells more.
func cutLeft(s string, w int) string {
	if width(s) <= w {
		return s
	}
	if w <= 1 {
		return ellipsis[:len(ellipsis)*max(w, 0)]
	}
	rest := s
	for width(rest) > w-1 {
		cluster, _ := ansi.FirstGraphemeCluster(rest, ansi.WcWidth)
		rest = rest[len(cluster):]
	}
	return ellipsis + rest
}

// fit makes the clean text s exactly w columns wide, and keeps right-to-left text in its own columns.
func fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	s = cut(s, w)
	return isolate(s) + strings.Repeat(" ", w-width(s))
}

// fitRight is fit with the text at the right.
func fitRight(s string, w int) string {
	if w <= 0 {
		return ""
	}
	s = cut(s, w)
	return strings.Repeat(" ", w-width(s)) + isolate(s)
}

// isolate wraps text that has right-to-left letters in a first-strong isolate (Unicode UAX #9, 2.5), so that a
// terminal with bidi does not take the neighbouring columns into the same run. Both marks take no column.
func isolate(s string) string {
	if plain(s) || !strings.ContainsFunc(s, rightToLeft) {
		return s
	}
	return "\u2068" + s + "\u2069"
}

// rightToLeft reports whether r lies in the blocks of Unicode that hold right-to-left scripts.
func rightToLeft(r rune) bool {
	return r >= 0x0590 && r <= 0x08FF || r >= 0xFB1D && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFC ||
		r >= 0x10800 && r <= 0x10FFF || r >= 0x1E800 && r <= 0x1EFFF
}

// wrap breaks the clean text s at blanks into at most n lines of w columns; the last one is cut.
func wrap(s string, w, n int) []string {
	if w <= 0 || n <= 0 || s == "" {
		return nil
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= w || len(lines) == n-1:
			line += " " + word
		default:
			lines = append(lines, cut(line, w))
			line = word
		}
	}
	return append(lines, cut(line, w))
}
