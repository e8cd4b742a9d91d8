package hitchpost_test

import (
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
)

func TestCheckNote(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "next: tests", "- one\n\t- two\n", "日本 👨‍👩‍👧 é", strings.Repeat("x", hitchpost.MaxNote),
	} {
		if err := hitchpost.CheckNote(text); err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
		if got := hitchpost.ShownNote(text); got != text {
			t.Errorf("%.40q is shown as %.40q", text, got)
		}
	}
	for _, text := range []string{
		"\x1b[2J", "a\rb", "a\r\n", "\x00", "\a", "\x7f", "\u009b31m", "\u202eevil", "a\u2028b", "\xff",
		strings.Repeat("x", hitchpost.MaxNote+1),
	} {
		if err := hitchpost.CheckNote(text); hitchpost.KindOf(err) != hitchpost.UsageError {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	if got := hitchpost.ShownNote("a\x1b[31m\u202e\xff\nb\t\u009b"); got != "a\ufffd[31m\ufffd\ufffd\nb\t\ufffd" {
		t.Errorf("shown as %q", got)
	}
}
