package sshd

import (
	"strings"

	"github.com/hitchpost/hitchpost"
)

// terminalOf is what is known of a client's terminal from its name and the environment it sent.
func terminalOf(term string, size hitchpost.Size, env *environment) hitchpost.Terminal {
	return hitchpost.Terminal{
		Name:      term,
		Size:      size,
		TrueColor: trueColor(term, env.value("COLORTERM")),
		NoColor:   env.value("NO_COLOR") != "",
	}
}

// trueColor is false only for terminals that are known not to show 24-bit colour. Most that can do not say so over
// SSH, where COLORTERM is not sent by default.
func trueColor(term, colorterm string) bool {
	switch strings.ToLower(colorterm) {
	case "truecolor", "24bit":
		return true
	}
	term = strings.ToLower(term)
	for _, old := range []string{"vt", "linux", "ansi", "cons25", "sun", "wy", "rxvt", "putty-vt"} {
		if strings.HasPrefix(term, old) {
			return strings.HasSuffix(term, "-direct")
		}
	}
	for _, few := range []string{"-color", "-16color", "-88color", "-mono", "-m"} {
		if strings.HasSuffix(term, few) {
			return false
		}
	}
	return true
}
