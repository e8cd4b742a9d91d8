package tmux

import (
	"strings"

	"github.com/hitchpost/hitchpost"
)

// class is what tmux is told of a terminal. Clients are parked by class, as it cannot change later.
type class struct {
	term      string // TERM of the tmux client
	trueColor bool
}

// anyTerminal is the class of nearly every terminal.
func anyTerminal() class { return class{term: "xterm-256color", trueColor: true} }

// classify goes by what is known of a terminal, not by whether its TERM is in this machine's terminfo: tmux refuses
// xterm-ghostty, xterm-kitty, foot and wezterm where it is not, and empty and dumb everywhere.
func classify(t hitchpost.Terminal) class {
	name := strings.ToLower(t.Name)
	switch {
	case strings.HasPrefix(name, "vt1"), strings.HasPrefix(name, "vt2"):
		return class{term: "vt100"} // no colours, and in the terminfo of every system
	case name == "linux", strings.HasPrefix(name, "xterm-mono"), name == "ansi", strings.HasPrefix(name, "cygwin"):
		return class{term: anyTerminal().term}
	default:
		return class{term: anyTerminal().term, trueColor: t.TrueColor}
	}
}

// features are the names for tmux's -T. A version that does not know one ignores it.
func (c class) features() string {
	if c.term == "vt100" {
		return "title"
	}
	f := "clipboard,ccolour,cstyle,extkeys,focus,hyperlinks,mouse,overline,strikethrough,title,usstyle,bpaste"
	if c.trueColor {
		f = "RGB," + f
	}
	return f
}
