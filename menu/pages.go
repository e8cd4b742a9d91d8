package menu

import (
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
)

// helpPage is the keys and the states; it scrolls where it is higher than n lines.
func (m *model) helpPage(w, n int) []string {
	help := helpLines(m.mayDrive())
	m.helpTop = max(min(m.helpTop, len(help)-n), 0)
	var lines []string
	for _, h := range help[m.helpTop:min(m.helpTop+n, len(help))] {
		if w < helpKeys+10 {
			lines = append(lines, fit(h[0]+" "+h[1], w))
			continue
		}
		lines = append(lines, "  "+m.theme.key.Render(fit(h[0], helpKeys))+fit(h[1], w-helpKeys-gutter))
	}
	return lines
}

const helpKeys = 13 // columns for the keys and states of the help page

// formPage is the form for a new session.
func (m *model) formPage(w, n int) block {
	var b block
	f := &m.form
	if n > 6 {
		b.add(m.theme.name.Render(fit(wordNewTitle, w)), "")
	}
	m.formField(&b, formTitle, wordFormTitle, wordTitleHint, &f.title, w)
	m.formKindLine(&b, w)
	if f.command {
		m.formField(&b, formWords, wordFormWords, wordWordsHint, &f.words, w)
	}
	m.formField(&b, formDir, wordFormDir, "", &f.dir, w)
	for i, d := range f.found {
		if room := n - len(b.lines) - 3; i >= room && i < len(f.found)-1 {
			b.add(m.theme.faint.Render(fit(strings.Repeat(" ", formLabel)+strconv.Itoa(len(f.found)-i)+wordMore, w)))
			break
		}
		b.add(m.theme.faint.Render(fit(strings.Repeat(" ", formLabel)+cutLeft(clean(d), w-formLabel), w)))
	}
	if f.note != "" {
		b.add("")
		for _, line := range wrap(f.note, w-gutter, 3) {
			b.add("  " + m.theme.problem.Render(line))
		}
	}
	return b
}

const formLabel = 13 // columns for the mark and the name of a field

func (m *model) formField(b *block, i int, label, hint string, f *field, w int) {
	mark := "  "
	if m.form.focus == i {
		mark = "> "
	}
	left := fit(mark+label, min(formLabel, max(w-6, 0)))
	text, x := f.view(w - width(left))
	if f.value() == "" {
		text = m.theme.faint.Render(fit(hint, w-width(left)))
	}
	if m.form.focus == i && !m.form.busy {
		b.put(left+text, width(left)+x)
		return
	}
	b.add(left + text)
}

// formKindLine shows both kinds, the chosen one in brackets so that it is seen without colour too.
func (m *model) formKindLine(b *block, w int) {
	mark := "  "
	if m.form.focus == formKind {
		mark = "> "
	}
	kinds := "[shell]  command "
	if m.form.command {
		kinds = " shell  [command]"
	}
	b.add(fit(fit(mark+wordFormKind, min(formLabel, max(w-6, 0)))+kinds, w))
}

func (m *model) formKeys() []key.Binding {
	k := m.keys
	if m.form.busy {
		return []key.Binding{k.cancel}
	}
	keys := []key.Binding{k.submit}
	switch m.form.focus {
	case formDir:
		keys = append(keys, bind("↑ ↓", doesMove, "up"), k.complete)
	case formKind:
		keys = append(keys, k.change, k.next)
	default:
		keys = append(keys, k.next)
	}
	return append(keys, k.cancel)
}
