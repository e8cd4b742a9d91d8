package menu

import (
	"charm.land/bubbles/v2/key"
)

// keyMap is every key of the list, with the words that help and footer show.
type keyMap struct {
	up, down, pageUp, pageDown, top, bottom      key.Binding
	attach, create, restart, stop, close, rename key.Binding
	filter, help, cancel, leave                  key.Binding
	card, again, note, brief                     key.Binding
	save, drop, template, draft                  key.Binding // of the note
	theirs, mine, both                           key.Binding // of a note that two have changed
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
		up:       bind("k ↑", doesUp, "up", "k", "ctrl+p"),
		down:     bind("j ↓", doesDown, "down", "j", "ctrl+n"),
		pageUp:   bind("PgUp", doesAPageUp, "pgup", "ctrl+b"),
		pageDown: bind("PgDn", doesAPageDown, "pgdown", "ctrl+f"),
		top:      bind("g", doesFirst, "g", "home"),
		bottom:   bind("G", doesLast, "G", "end"),
		attach:   bind("enter", doesAttach, "enter", "ctrl+j"),
		create:   bind("n", doesNew, "n"),
		restart:  bind("r", doesRestart, "r"),
		stop:     bind("x", doesStop, "x"),
		close:    bind("c", doesClose, "c"),
		rename:   bind("R", doesRename, "R"),
		filter:   bind("/", doesFilter, "/"),
		help:     bind("?", doesHelp, "?"),
		cancel:   bind("esc", doesBack, "esc"),
		leave:    bind("q", doesLeave, "q", "ctrl+c"),
		card:     bind("i", doesCard, "i"),
		again:    bind("u", doesAgain, "u"),
		note:     bind("e", doesNote, "e"),
		brief:    bind("w", doesBrief, "w"),
		save:     bind("ctrl-s", doesSave, "ctrl+s"),
		drop:     bind("ctrl-c", doesDrop, "ctrl+c"),
		template: bind("ctrl-t", doesTemplate, "ctrl+t"),
		draft:    bind("ctrl-o", doesDraft, "ctrl+o"),
		theirs:   bind("t", doesTheirs, "t"),
		mine:     bind("m", doesMine, "m"),
		both:     bind("b", doesBoth, "b"),
		yes:      bind("y", doesYes, "y", "Y"),
		no:       bind("n", doesNo, "n", "N", "esc", "q", "ctrl+c"),
		submit:   bind("enter", doesStart, "enter", "ctrl+j"),
		next:     bind("tab", doesNext, "tab", "down", "ctrl+n"),
		previous: bind("shift+tab", doesBack, "shift+tab", "up", "ctrl+p"),
		complete: bind("tab", doesComplete, "tab"),
		change:   bind("space", doesChange, "space", "left", "right"),
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
