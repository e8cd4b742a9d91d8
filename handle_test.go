package hitchpost

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHandle(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Fix the login page":                   "fix-the-login-page",
		"  api -- v2!  ":                       "api-v2",
		"Café déjà":                            "cafe-deja",
		"ﬁx №5":                                "fix-no5",
		"日本語":                                  "session",
		"":                                     "session",
		"---":                                  "session",
		"$(reboot) `id` #{pane}":               "reboot-id-pane",
		"x\x1b[31m\u202e\xffy":                 "x-31m-y",
		"../../etc/passwd":                     "etc-passwd",
		"last":                                 "s-last",
		"LS":                                   "s-ls",
		"whoami":                               "s-whoami",
		"root":                                 "s-root",
		"cafe":                                 "s-cafe",
		"2024":                                 "s-2024",
		"abc":                                  "abc",
		"dead beef":                            "s-dead-beef",
		"018f2c3a-1b2c-7def-8123-456789abcdef": "s-018f2c3a-1b2c-7def-8123-456789",
		"a word that is somewhat longer than they are": "a-word-that-is-somewhat-longer-t",
		"thirty-one-characters-and-then- more":         "thirty-one-characters-and-then-m",
		"thirty-two-characters-and-then-x more":        "thirty-two-characters-and-then-x",
		"exactly-thirty-one-chars-here-x more":         "exactly-thirty-one-chars-here-x",
	} {
		if got := Handle(title); got != want {
			t.Errorf("Handle(%q) = %q, want %q", title, got, want)
		}
	}
}

var handlePattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func FuzzHandle(f *testing.F) {
	for _, title := range []string{"", "last", "cafe", "Fix it", "日本", "\xff\x00", strings.Repeat("é-", 200)} {
		f.Add(title)
	}
	prefix := regexp.MustCompile(`^[0-9a-f-]{4,}$`)
	f.Fuzz(func(t *testing.T, title string) {
		h := Handle(title)
		switch {
		case !handlePattern.MatchString(h) || len(h) > maxHandle:
			t.Errorf("Handle(%q) = %q", title, h)
		case slices.Contains(reservedWords(), h):
			t.Errorf("Handle(%q) = %q, which means something else", title, h)
		case prefix.MatchString(h):
			t.Errorf("Handle(%q) = %q, which reads like an id", title, h)
		case Handle(h) != h:
			t.Errorf("Handle(%q) = %q, and of that %q", title, h, Handle(h))
		}
	})
}

func TestCheckTitle(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"a", "Fix the login page", "#(reboot) #{pane_id} $(id) `id`", "日本語", "שלום", "👩‍💻 pairing", "é\u0301",
		"-rf", strings.Repeat("é", 200),
	} {
		if err := CheckTitle(good); err != nil {
			t.Errorf("CheckTitle(%q): %v", good, err)
		}
	}
	for _, bad := range []string{
		"", " ", "\u3000\u00a0", "\u200b", "\u200d\u200d", "a\nb", "a\rb", "a\tb", "\x1b[31m", "nul\x00", "\x7f", "\u009b31m",
		"\u202eevil", "\u2066a\u2069", "\u200fa", "a\u061c", "line\u2028break", "para\u2029graph", "\xff", "a\xc3",
		strings.Repeat("a", 201),
	} {
		if err := CheckTitle(bad); !errors.Is(err, &Error{Kind: UsageError}) {
			t.Errorf("CheckTitle(%q): %v, want a usage error", bad, err)
		}
	}
}

func FuzzCheckTitle(f *testing.F) {
	for _, title := range []string{"", "ok", "\x1b]0;x\a", "\u202e", "\xff", "a\u2028"} {
		f.Add(title)
	}
	f.Fuzz(func(t *testing.T, title string) {
		err := CheckTitle(title)
		if err != nil {
			if KindOf(err) != UsageError || !utf8.ValidString(err.Error()) || strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Errorf("CheckTitle(%q): %v", title, err)
			}
			return
		}
		for _, r := range title {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
				t.Errorf("CheckTitle(%q) lets %U through", title, r)
			}
		}
		if strings.TrimSpace(title) == "" || !utf8.ValidString(title) || utf8.RuneCountInString(title) > 200 {
			t.Errorf("CheckTitle(%q) lets it through", title)
		}
	})
}
