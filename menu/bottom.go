package menu

import (
	"strings"

	"charm.land/bubbles/v2/key"

	"github.com/hitchpost/hitchpost"
)

// bottom is what stands below the list: about the selected session, what was asked or told, what is away, the keys.
func (m *model) bottom(w, h int) block {
	var b block
	if h < 3 {
		return b
	}
	if roomy(h) {
		b.add("")
	}
	if m.mode == modeList && h >= 14 && !m.wide() {
		b.add(m.detail(w)...)
	}
	m.message(&b, w, max(h/4, 1))
	if line := trouble(m.status, m.now); line != "" && h >= 5 {
		for _, l := range wrap(line, w, max(h/6, 1)) {
			b.add(m.theme.problem.Render(l))
		}
	}
	rows := 1
	if m.onPage() && h >= 14 {
		rows = 3
	}
	b.add(m.footer(w, rows)...)
	return b
}

// detail is what the columns had no room for.
func (m *model) detail(w int) []string {
	s, ok := m.list.selected()
	if !ok {
		return nil
	}
	title := clean(s.Title)
	dir := clean(s.Cwd)
	if room := w - gap - width(title); room >= 20 && dir != "" {
		title += strings.Repeat(" ", gap) + cutLeft(dir, room)
	}
	return []string{fit(title, w), m.theme.faint.Render(fit(story(s, m.now), w))}
}

// message is at most n lines of what is asked or told.
func (m *model) message(b *block, w, n int) {
	switch {
	case m.mode == modeFilter:
		m.prompt(b, wordFilter, w)
		return
	case m.mode == modeRename:
		m.prompt(b, wordRename, w)
	case m.mode == modeAsk:
		for _, line := range wrap(m.asked.text, w, max(n, 2)) {
			b.add(m.theme.name.Render(line))
		}
		return
	}
	if line := m.work.line(m.now); line != "" {
		b.add(fit(line, w))
	}
	style := m.theme.good
	if m.toast.bad {
		style = m.theme.problem
	}
	for _, line := range wrap(m.toast.text, w, n) {
		b.add(style.Render(line))
	}
}

// prompt is the line with the text field of the mode.
func (m *model) prompt(b *block, label string, w int) {
	label = head(label, max(w-8, 0))
	text, x := m.typing.view(w - width(label))
	b.put(label+text, width(label)+x)
}

// footer is the keys that mean something now, in at most n lines. Where they do not fit, those before the last two go
// first, so they stand in the order of their use.
func (m *model) footer(w, n int) []string {
	keys := m.applying()
	w = max(w-1, 1) // the last cell of a screen can be written only with autowrap off
	for {
		if lines, ok := m.keyLines(keys, w, n); ok {
			return lines
		}
		if len(keys) == 1 {
			return []string{head(keys[0].Help().Key+" "+keys[0].Help().Desc, w)}
		}
		drop := max(len(keys)-3, 0)
		keys = append(keys[:drop:drop], keys[drop+1:]...)
	}
}

// keyLines is the keys in lines of at most w columns; ok is false where they take more than n.
func (m *model) keyLines(keys []key.Binding, w, n int) (lines []string, ok bool) {
	line, used := "", 0
	for _, k := range keys {
		wide := width(k.Help().Key) + 1 + width(k.Help().Desc)
		switch {
		case wide > w:
			return nil, false
		case used > 0 && used+gap+wide > w:
			lines, line, used = append(lines, line), "", 0
		case used > 0:
			line += strings.Repeat(" ", gap)
			used += gap
		}
		line += m.theme.key.Render(k.Help().Key) + " " + k.Help().Desc
		used += wide
	}
	lines = append(lines, line)
	return lines, len(lines) <= n
}

// renamed is k with another word for what it does here.
func renamed(k key.Binding, does string) key.Binding {
	k.SetHelp(k.Help().Key, does)
	return k
}

// applying lists the keys of the mode that can be pressed with effect.
func (m *model) applying() []key.Binding {
	k := m.keys
	switch m.mode {
	case modeFilter:
		return []key.Binding{renamed(k.attach, doesKeep), renamed(k.cancel, doesClear)}
	case modeHelp:
		return []key.Binding{bind("j k", doesScroll, "j"), k.cancel}
	case modeAsk:
		return m.answers()
	case modeRename:
		return []key.Binding{renamed(k.submit, doesRename), k.cancel}
	case modeForm:
		return m.formKeys()
	case modeCard:
		return m.cardKeys()
	case modeBrief:
		return []key.Binding{renamed(k.yes, doesBrief), bind("j k", doesScroll, "j"), k.cancel}
	case modeNote:
		return m.noteKeys()
	case modeClash:
		return []key.Binding{k.theirs, k.mine, k.both, bind("↑ ↓", doesScroll, "up"), k.cancel}
	}
	var keys []key.Binding
	s, ok := m.list.selected()
	if ok && s.State.Live() {
		if m.mayDrive() {
			keys = append(keys, k.attach)
		} else {
			keys = append(keys, renamed(k.attach, wordAttachRead))
		}
	}
	if m.list.query != "" {
		keys = append(keys, renamed(k.cancel, doesClear))
	}
	if m.mayDrive() && !away(m.status) {
		keys = append(keys, m.acting(s, ok)...)
	}
	if len(m.list.all) > 0 {
		keys = append(keys, k.card, k.filter)
	}
	return append(keys, k.help, k.leave)
}

// acting is the keys that change something, those that suit the selected session first.
func (m *model) acting(s hitchpost.Session, ok bool) []key.Binding {
	k := m.keys
	var keys []key.Binding
	if ok && s.State.Ended() {
		keys = append(keys, k.restart)
	}
	keys = append(keys, k.create)
	if ok && s.State.Live() {
		keys = append(keys, k.stop)
	}
	if ok && s.State.Ended() {
		keys = append(keys, k.close)
	}
	if ok {
		keys = append(keys, k.rename)
	}
	return keys
}

// answers is the keys that answer the open question.
func (m *model) answers() []key.Binding {
	var keys []key.Binding
	if m.asked.confirm {
		return []key.Binding{renamed(m.keys.yes, m.asked.verbs[0]), renamed(m.keys.no, doesNo)}
	}
	for _, v := range m.asked.verbs {
		if v == verbRestart {
			keys = append(keys, m.keys.restart)
		} else {
			keys = append(keys, m.keys.close)
		}
	}
	return append(keys, m.keys.cancel)
}
