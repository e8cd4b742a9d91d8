package sshd

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"
)

// However much a client tries, what is kept of it is little.
func TestTriesAreBounded(t *testing.T) {
	t.Parallel()
	var t1 tries
	for i := range 1000 {
		t1.attempted("password\x1b"+strings.Repeat("x", 1<<16), errors.New("no"))
		t1.attempted("publickey", fmt.Errorf("ssh: algorithm %q not accepted", strings.Repeat("y", i)))
		t1.attempted("publickey", errors.New(refusedByUs))
		t1.attempted("none", errors.New("no auth passed yet"))
	}
	if got := t1.why(); len(got) > 600 || strings.Contains(got, "\x1b") || strings.Count(got, "; ") != keptReasons-1 ||
		!strings.HasPrefix(got, "only keys are taken, not ") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

func TestWhyNobodyCameIn(t *testing.T) {
	t.Parallel()
	for want, tr := range map[string]tries{
		"no key was tried":                          {},
		"a known key was offered and did not sign":  {offered: true, end: &gossh.ServerAuthError{}},
		"a known key was offered and did not sign ": {offered: true, end: fmt.Errorf("read: %w", io.EOF)},
		"a known key did not prove itself: bad":     {offered: true, end: errors.New("bad")},
		"first; second":                             {offered: true, end: errors.New("bad"), reasons: []string{"first", "second"}},
	} {
		if got := tr.why(); got != strings.TrimSpace(want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
