package menu

import (
	"strings"
	"unicode"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// field is a one-line text field. The one in bubbles measures text in another way than the renderer does, pastes from
// the clipboard of the machine it runs on, which here is the server, and blinks with timers that outlive the program.
type field struct {
	text []string // clusters
	at   int      // where the cursor stands, in clusters
	most int      // the most bytes that it takes
}

func newField(s string, most int) field {
	f := field{most: most}
	f.insert(s)
	return f
}

func (f *field) value() string { return strings.Join(f.text, "") }

func (f *field) set(s string) { f.text, f.at = nil, 0; f.insert(s) }

// insert types s. What may not stand in a title or a path by any rule, control characters and invisible ones, is left
// out: a pasted line end ends nothing.
func (f *field) insert(s string) {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && r != 0x200D:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	for len(s) > 0 {
		cluster, _ := ansi.FirstGraphemeCluster(s, ansi.WcWidth)
		s = s[len(cluster):]
		if len(f.value())+len(cluster) > f.most {
			return
		}
		f.text = append(f.text[:f.at], append([]string{cluster}, f.text[f.at:]...)...)
		f.at++
	}
}

// press edits the field and reports whether the key was one for it.
func (f *field) press(k tea.KeyPressMsg, keys fieldKeys) bool {
	switch {
	case key.Matches(k, keys.left):
		f.at = max(f.at-1, 0)
	case key.Matches(k, keys.right):
		f.at = min(f.at+1, len(f.text))
	case key.Matches(k, keys.home):
		f.at = 0
	case key.Matches(k, keys.end):
		f.at = len(f.text)
	case key.Matches(k, keys.back):
		f.remove(f.at - 1)
	case key.Matches(k, keys.delete):
		f.remove(f.at)
	case key.Matches(k, keys.word):
		for f.at > 0 && f.text[f.at-1] == " " {
			f.remove(f.at - 1)
		}
		for f.at > 0 && f.text[f.at-1] != " " && f.text[f.at-1] != "/" ||
			f.at > 0 && f.at == len(f.text) && f.text[f.at-1] == "/" {
			f.remove(f.at - 1)
		}
	case key.Matches(k, keys.toStart):
		f.text, f.at = f.text[f.at:], 0
	case key.Matches(k, keys.toEnd):
		f.text = f.text[:f.at]
	case k.Text != "" && !k.Mod.Contains(tea.ModAlt) && !k.Mod.Contains(tea.ModCtrl):
		f.insert(k.Text)
	default:
		return false
	}
	return true
}

func (f *field) remove(i int) {
	if i < 0 || i >= len(f.text) {
		return
	}
	f.text = append(f.text[:i], f.text[i+1:]...)
	if f.at > i {
		f.at--
	}
}

// view is the part of the text around the cursor in exactly w columns, and the column where the cursor stands.
func (f *field) view(w int) (string, int) {
	if w <= 1 {
		return strings.Repeat(" ", max(w, 0)), 0
	}
	before := clean(strings.Join(f.text[:f.at], ""))
	after := clean(strings.Join(f.text[f.at:], ""))
	before = tail(before, w-1)
	at := width(before)
	return fit(before+head(after, w-at), w), at
}

// tail is the longest end of the clean text s that takes at most w columns.
func tail(s string, w int) string {
	for width(s) > w {
		cluster, _ := ansi.FirstGraphemeCluster(s, ansi.WcWidth)
		s = s[len(cluster):]
	}
	return s
}
