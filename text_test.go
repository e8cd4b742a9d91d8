package hitchpost_test

import (
	"testing"

	"github.com/hitchpost/hitchpost"
)

func TestOneLineHasNothingThatMovesACursor(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                  "",
		"plain, wörk & 日本":  "plain, wörk & 日本",
		"two\nlines\tand":   "two lines and",
		"a\x1b[2Jb\rc\x7fd": "a\ufffd[2Jb\ufffdc\ufffdd",
		"c1 \u009b2J":       "c1 \ufffd2J",
		"x\u202ey\u2066z":   "x\ufffdy\ufffdz",
		"x\u2028y\ufeffz":   "x\ufffdy\ufffdz",
		"\u200f\u061c\xff":  "\ufffd\ufffd\ufffd",
		"👨\u200d👩":          "👨\u200d👩",
		"\ue000":            "\ufffd",
	} {
		if got := hitchpost.OneLine(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
