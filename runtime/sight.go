package runtime

import (
	"slices"
	"strings"
	"unicode"

	"github.com/hitchpost/hitchpost/runtime/tmux"
)

// sight tells whether what was typed into a terminal can be seen there.
type sight struct {
	before tmux.Glance
	tail   string // the end of the text that was typed; empty: any change of the terminal will do
}

const (
	// sightRows is how many rows that scrolled away since are looked through.
	sightRows = 2000
	// tailRunes is how much of the end of a text is looked for. Programs wrap lines and put frames around them.
	tailRunes = 16
)

// tailOf is the end of the last line of text that is not blank, without white space.
func tailOf(text string) string {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	text = text[strings.LastIndexAny(text, "\r\n")+1:]
	runes := []rune(squeeze(text))
	return string(runes[max(0, len(runes)-tailRunes):])
}

// seen reports whether the terminal now shows the text more often than before, or where there was none, another picture.
func (s sight) seen(after tmux.Glance) bool {
	if s.tail != "" {
		return s.count(after) > s.count(s.before)
	}
	was, now := s.before, after
	return now.Dead || now.Cursor != was.Cursor || now.Alternate != was.Alternate || now.History != was.History ||
		!slices.Equal(onScreen(now), onScreen(was))
}

// count is how often the text is seen on what was the screen before, and on all that came below it.
func (s sight) count(g tmux.Glance) int {
	rows := g.Rows
	if above := len(rows) - g.Screen - max(0, g.History-s.before.History); above > 0 {
		rows = rows[above:]
	}
	return s.countIn(strings.Join(rows, ""))
}

func (s sight) countIn(text string) int { return strings.Count(squeeze(text), s.tail) }

func onScreen(g tmux.Glance) []string { return g.Rows[max(0, len(g.Rows)-g.Screen):] }

// squeeze takes the white space out of text.
func squeeze(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}
