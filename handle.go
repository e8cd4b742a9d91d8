package hitchpost

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxHandle is the length of the longest handle that Handle makes; a number may follow it where the handle is taken.
const maxHandle = 32

// maxTitle is the length of the longest title, in runes.
const maxTitle = 200

// Handle makes the short name that people type from a title: lower-case ASCII letters and digits in words joined by
// single dashes, 1 to 32 characters. It never makes what a REF could mean otherwise: last, a verb, or what reads like
// an id or the beginning of one. Accents are dropped; a title without a letter or digit of ASCII is called session.
func Handle(title string) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(title) {
		switch {
		case unicode.Is(unicode.Mn, r):
			continue // the accent that NFKD took off its letter
		case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(unicode.ToLower(r))
			gap = false
		default:
			gap = true
		}
		if b.Len() >= maxHandle {
			break
		}
	}
	h := b.String()
	if len(h) > maxHandle {
		h = h[:maxHandle]
	}
	h = strings.TrimRight(h, "-")
	switch {
	case h == "":
		return "session"
	case !reserved(h):
		return h
	}
	return strings.TrimRight(("s-" + h)[:min(len(h)+2, maxHandle)], "-")
}

// reserved reports whether h would mean something else where a REF or a verb stands, also with a number after it.
func reserved(h string) bool {
	hex := strings.Trim(h, "0123456789abcdef-") == ""
	return hex && len(h) >= 4 || slices.Contains(reservedWords(), h)
}

// reservedWords are last and the verbs, of SSH and of the machine. A user name equal to a handle chooses that session,
// so root, the likeliest user name of all, is none; and diff is none, for it would be taken for that of a checkpoint.
func reservedWords() []string {
	return []string{
		"attach", "backup", "capture", "card", "check", "checkpoint", "close", "completion", "connect", "diff", "doctor",
		"events", "help", "history", "hook", "key", "last", "ls", "migrate", "new", "node", "note", "rename", "restart",
		"restore", "root", "send", "serve", "service", "show", "status", "stop", "task", "version", "wait", "whoami",
		"worktree",
	}
}

// CheckTitle is nil for a title that can be shown to anybody: one line of 1 to 200 printable characters, of which one
// at least is seen. The error is a UsageError. An empty title is refused too; where one means "make one", ask before.
func CheckTitle(title string) error {
	refuse := func(why string) error {
		return Errorf(UsageError, "a title %s", why).For("title").Hinted("use 1 to %d printable characters on one line", maxTitle)
	}
	if !utf8.ValidString(title) {
		return refuse("must be UTF-8")
	}
	if utf8.RuneCountInString(title) > maxTitle {
		return refuse(fmt.Sprintf("can be no longer than %d characters", maxTitle))
	}
	seen := false
	for _, r := range title {
		switch {
		case unicode.IsControl(r):
			return refuse("cannot hold control characters")
		case unicode.Is(unicode.Bidi_Control, r):
			return refuse("cannot hold characters that turn the direction of text")
		case unicode.In(r, unicode.Zl, unicode.Zp):
			return refuse("cannot hold a line break")
		case unicode.IsGraphic(r) && !unicode.IsSpace(r):
			seen = true
		}
	}
	if !seen {
		return refuse("cannot be blank")
	}
	return nil
}
