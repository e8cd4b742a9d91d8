package menu

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/hitchpost/hitchpost"
)

// profileOf is how many colours the client's terminal shows. Only what the client told counts: the service's own
// output and environment say nothing about it. The terminal is not asked either, since its answer may come late.
func profileOf(t hitchpost.Terminal, environ []string) colorprofile.Profile {
	for _, v := range environ {
		if value, ok := strings.CutPrefix(v, "NO_COLOR="); ok && value != "" { // no-color.org: present and not empty
			return colorprofile.ASCII
		}
	}
	if t.NoColor || monochrome(t.Name) {
		return colorprofile.ASCII
	}
	return colorprofile.Env(clientEnviron(t, environ))
}

// monochrome reports whether a terminal of that name shows no colour; colorprofile takes all but dumb for coloured.
func monochrome(name string) bool {
	if name == "" || name == "dumb" || strings.HasSuffix(name, "-m") || strings.HasSuffix(name, "-mono") {
		return true
	}
	base, _, _ := strings.Cut(name, "-")
	if digits, ok := strings.CutPrefix(base, "vt"); ok && len(digits) > 0 && digits[0] >= '0' && digits[0] <= '9' {
		return true // vt52 to vt525; the vt525 and vt340 have colour, but not by these names in terminfo
	}
	return false
}

// clientEnviron is the environment with the one TERM that counts. A client cannot make the renderer trace to a file or
// ask the terminal anything by it.
func clientEnviron(t hitchpost.Terminal, environ []string) []string {
	env := []string{"TERM=" + t.Name}
	for _, v := range environ {
		if strings.HasPrefix(v, "COLORTERM=") || strings.HasPrefix(v, "LANG=") || strings.HasPrefix(v, "LC_") {
			env = append(env, v)
		}
	}
	return env
}

// theme holds the styles. Colour only repeats what a word says. The background is not known, so no style sets one:
// with 256 colours and more the hues have about the same contrast (4.5:1) to black and to white, with 16 they are the
// person's own palette, whose bright black and white would vanish on some backgrounds.
type theme struct {
	name     lipgloss.Style // the product, titles
	faint    lipgloss.Style // headings, ages, hints
	selected lipgloss.Style
	problem  lipgloss.Style
	good     lipgloss.Style
	key      lipgloss.Style
	states   map[hitchpost.State]lipgloss.Style
}

func newTheme(p colorprofile.Profile) theme {
	plain := lipgloss.NewStyle()
	amber, red, green, blue, grey := plain, plain, plain, plain, plain
	switch {
	case p >= colorprofile.ANSI256:
		amber = plain.Foreground(lipgloss.Color("#AD6800"))
		red = plain.Foreground(lipgloss.Color("#DB3A34"))
		green = plain.Foreground(lipgloss.Color("#27864A"))
		blue = plain.Foreground(lipgloss.Color("#3478C6"))
		grey = plain.Foreground(lipgloss.Color("#767676"))
	case p == colorprofile.ANSI:
		amber = plain.Foreground(lipgloss.Yellow)
		red = plain.Foreground(lipgloss.Red)
		green = plain.Foreground(lipgloss.Green)
		blue = plain.Foreground(lipgloss.Blue)
	}
	return theme{
		name: plain.Bold(true), faint: grey, selected: plain.Reverse(true), problem: red, good: green, key: plain.Bold(true),
		states: map[hitchpost.State]lipgloss.Style{
			hitchpost.WaitingForInput: amber.Bold(true),
			hitchpost.Recoverable:     amber,
			hitchpost.Failed:          red,
			hitchpost.Running:         green,
			hitchpost.Detached:        blue,
			hitchpost.Starting:        grey,
			hitchpost.Stopping:        grey,
			hitchpost.Stopped:         grey,
		},
	}
}
