package menu

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/hitchpost/hitchpost"
)

// profileOf is how many colours the client's terminal shows. Only what the client told counts: the service's own
// output and environment say nothing about it. The terminal is not asked either, since its answer may come late.
func profileOf(t hitchpost.Terminal, environ []string) colorprofile.Profile {
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

// ink writes text in one style. It is the sequence itself: a frame has hundreds of pieces, and lipgloss, which lays out
// boxes, would take most of the time of a key press for them.
type ink string

// inked is the ink of the attributes and the colour; no colour where c is nil.
func inked(c color.Color, attributes ...ansi.Attr) ink {
	style := ansi.NewStyle(attributes...)
	if c != nil {
		style = style.ForegroundColor(c)
	}
	if len(style) == 0 {
		return ""
	}
	return ink(style.String())
}

func (i ink) Render(s string) string {
	if i == "" || s == "" {
		return s
	}
	return string(i) + s + ansi.ResetStyle
}

// theme holds the styles. Colour only repeats what a word says. The background is not known, so no style sets one:
// with 256 colours and more the hues have about the same contrast (4.5:1) to black and to white, with 16 they are the
// person's own palette, whose bright black and white would vanish on some backgrounds.
type theme struct {
	name     ink // the product, titles
	faint    ink // headings, ages, hints
	selected ink
	problem  ink
	good     ink
	key      ink
	states   map[hitchpost.State]ink
}

func newTheme(p colorprofile.Profile) theme {
	var amber, red, green, blue, grey color.Color
	switch {
	case p >= colorprofile.ANSI256:
		amber, red, green = lipgloss.Color("#AD6800"), lipgloss.Color("#DB3A34"), lipgloss.Color("#27864A")
		blue, grey = lipgloss.Color("#3478C6"), lipgloss.Color("#767676")
	case p == colorprofile.ANSI:
		amber, red, green, blue = lipgloss.Yellow, lipgloss.Red, lipgloss.Green, lipgloss.Blue
	}
	return theme{
		name: inked(nil, ansi.AttrBold), key: inked(nil, ansi.AttrBold), selected: inked(nil, ansi.AttrReverse),
		faint: inked(grey), problem: inked(red), good: inked(green),
		states: map[hitchpost.State]ink{
			hitchpost.WaitingForInput: inked(amber, ansi.AttrBold),
			hitchpost.Recoverable:     inked(amber),
			hitchpost.Failed:          inked(red),
			hitchpost.Running:         inked(green),
			hitchpost.Detached:        inked(blue),
			hitchpost.Starting:        inked(grey),
			hitchpost.Stopping:        inked(grey),
			hitchpost.Stopped:         inked(grey),
		},
	}
}
