package hitchpost

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxNote is the longest note of a session, in bytes. Notes are part of every list of sessions.
const MaxNote = 64 << 10

// CheckNote is nil for a text that may be a session's note: up to MaxNote bytes of UTF-8 that do nothing to a terminal
// but fill it with characters, lines and tabs. The error is a UsageError.
func CheckNote(text string) error {
	switch {
	case len(text) > MaxNote:
		return NoteTooLong()
	case !utf8.ValidString(text):
		return Errorf(UsageError, "a note must be UTF-8").For("note").Hinted("send text")
	case strings.ContainsFunc(text, unfitForNote):
		return Errorf(UsageError, "a note cannot hold control characters other than line feeds and tabs").For("note").
			Hinted("leave colours, carriage returns and the like out")
	}
	return nil
}

// NoteTooLong is the error for a note that is, or would become, longer than MaxNote.
func NoteTooLong() error {
	return Errorf(UsageError, "a note can be no longer than %d bytes", MaxNote).For("note").
		Hinted("make it shorter, or keep it in a file and name that")
}

// ShownNote is a note as it may be printed whatever wrote it: what CheckNote refuses becomes U+FFFD.
func ShownNote(note string) string {
	return strings.Map(func(r rune) rune {
		if unfitForNote(r) {
			return utf8.RuneError
		}
		return r
	}, note)
}

// unfitForNote is true for control characters, and for those that change the direction of text or break a line unseen.
func unfitForNote(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp) && r != '\n' && r != '\t'
}
