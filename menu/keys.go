package menu

import (
	"charm.land/bubbles/v2/key"
)

// keyMap is every key of the list, with the words that help and footer show.
type keyMap struct {
	up, down, pageUp, pageDown, top, bottom      key.Binding
	attach, create, restart, stop, close, rename key.Binding
	filter, help, cancel, leave                  key.Binding
	yes, no                                      key.Binding
	submit, next, previous, complete, change     key.Binding
	field                                        fieldKeys
}

// fieldKeys edit a text field, as readline has them.
type fieldKeys struct {
	left, right, home, end, back, delete, word, toStart, toEnd key.Binding
}

func bind(shown, does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, does))
}

func newKeys() keyMap {
	return keyMap{
		up:       bind("k ↑", "up", "up", "k", "ctrl+p"),
		down:     bind("j ↓", "down", "down", "j", "ctrl+n"),
		pageUp:   bind("PgUp", "a page up", "pgup", "ctrl+b"),
		pageDown: bind("PgDn", "a page down", "pgdown", "ctrl+f"),
		top:      bind("g", "first", "g", "home"),
		bottom:   bind("G", "last", "G", "end"),
		attach:   bind("enter", "attach", "enter", "ctrl+j"),
		create:   bind("n", "new", "n"),
		restart:  bind("r", "restart", "r"),
		stop:     bind("x", "stop", "x"),
		close:    bind("c", "close", "c"),
		rename:   bind("R", "rename", "R"),
		filter:   bind("/", "filter", "/"),
		help:     bind("?", "help", "?"),
		cancel:   bind("esc", "back", "esc"),
		leave:    bind("q", "leave", "q", "ctrl+c"),
		yes:      bind("y", "yes", "y", "Y"),
		no:       bind("n", "no", "n", "N", "esc", "q", "ctrl+c"),
		submit:   bind("enter", "start", "enter", "ctrl+j"),
		next:     bind("tab", "next", "tab", "down", "ctrl+n"),
		previous: bind("shift+tab", "back", "shift+tab", "up", "ctrl+p"),
		complete: bind("tab", "complete", "tab"),
		change:   bind("space", "change", "space", "left", "right"),
		field: fieldKeys{
			left:    key.NewBinding(key.WithKeys("left", "ctrl+b")),
			right:   key.NewBinding(key.WithKeys("right", "ctrl+f")),
			home:    key.NewBinding(key.WithKeys("home", "ctrl+a")),
			end:     key.NewBinding(key.WithKeys("end", "ctrl+e")),
			back:    key.NewBinding(key.WithKeys("backspace", "ctrl+h")),
			delete:  key.NewBinding(key.WithKeys("delete", "ctrl+d")),
			word:    key.NewBinding(key.WithKeys("ctrl+w", "alt+backspace")),
			toStart: key.NewBinding(key.WithKeys("ctrl+u")),
			toEnd:   key.NewBinding(key.WithKeys("ctrl+k")),
		},
	}
}
