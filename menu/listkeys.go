package menu

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/hitchpost/hitchpost"
)

// pressList is what the keys do in the list.
func (m *model) pressList(k tea.KeyPressMsg) tea.Cmd {
	page := max(m.rows()-1, 1)
	switch {
	case key.Matches(k, m.keys.up):
		m.list.move(-1)
	case key.Matches(k, m.keys.down):
		m.list.move(1)
	case key.Matches(k, m.keys.pageUp):
		m.list.move(-page)
	case key.Matches(k, m.keys.pageDown):
		m.list.move(page)
	case key.Matches(k, m.keys.top):
		m.list.move(-len(m.list.shown))
	case key.Matches(k, m.keys.bottom):
		m.list.move(len(m.list.shown))
	case key.Matches(k, m.keys.leave):
		return m.end("")
	case key.Matches(k, m.keys.help):
		m.mode, m.helpTop = modeHelp, 0
	case key.Matches(k, m.keys.filter):
		m.mode, m.typing = modeFilter, newField(m.list.query, filterMost)
	case key.Matches(k, m.keys.cancel):
		m.toast = toast{}
		m.list.filter("")
	case key.Matches(k, m.keys.attach):
		return m.pressAttach()
	case key.Matches(k, m.keys.create):
		m.openForm()
	default:
		return m.pressAct(k)
	}
	return nil
}

const filterMost = 200 // bytes

// pressAttach attaches to the selected session. One that has ended is never restarted by that: the person is told
// what it is, and offered the key; of one that was lost they see the card first.
func (m *model) pressAttach() tea.Cmd {
	s, ok := m.list.selected()
	switch {
	case !ok:
		return nil
	case s.State.Live():
		return m.end(s.ID)
	case s.State == hitchpost.Recoverable:
		return m.openCard(s)
	case s.State.Ended():
		m.ask(question{text: offer(s, m.mayDrive()), verbs: offered(m.mayDrive())}, s)
	default:
		m.complain(notYet(s))
	}
	return nil
}

// offered is what can be done with a session that has ended.
func offered(mayDrive bool) []string {
	if !mayDrive {
		return nil
	}
	return []string{verbRestart, verbClose}
}

// pressAct is the keys that do something with the selected session.
func (m *model) pressAct(k tea.KeyPressMsg) tea.Cmd {
	s, ok := m.list.selected()
	if !ok {
		return nil
	}
	switch {
	case key.Matches(k, m.keys.card):
		return m.openCard(s)
	case key.Matches(k, m.keys.note):
		return m.openNote(s)
	case key.Matches(k, m.keys.restart) && m.allowed(s):
		return m.restart(verbRestart, s, "")
	case key.Matches(k, m.keys.stop) && m.allowed(s):
		if !s.State.Live() {
			m.complain(noAct(verbStop, s))
			return nil
		}
		m.ask(question{text: askStop(s), verbs: []string{verbStop}, confirm: true}, s)
	case key.Matches(k, m.keys.close) && m.allowed(s):
		return m.askClose(s)
	case key.Matches(k, m.keys.rename) && m.allowed(s):
		m.mode, m.subject, m.typing = modeRename, s, newField(s.Title, titleMost)
	}
	return nil
}

const titleMost = 400 // bytes

// allowed reports whether the person may change s now, and tells them why not.
func (m *model) allowed(s hitchpost.Session) bool {
	switch {
	case !m.mayDrive():
		m.complain(wordDenied)
	case away(m.status):
		m.complain(wordAway)
	case m.work.on(s.ID):
		m.complain(wordBusy)
	default:
		return true
	}
	return false
}

// pressFilter types the filter; the list follows each key.
func (m *model) pressFilter(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(k, m.keys.cancel), k.String() == "ctrl+c":
		m.mode = modeList
		m.list.filter("")
	case key.Matches(k, m.keys.attach):
		m.mode = modeList
	case k.Code == tea.KeyUp:
		m.list.move(-1)
	case k.Code == tea.KeyDown:
		m.list.move(1)
	default:
		if m.typing.press(k, m.keys.field) {
			m.list.filter(m.typing.value())
		}
	}
	return nil
}

func (m *model) pressHelp(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(k, m.keys.down):
		m.helpTop++
	case key.Matches(k, m.keys.up):
		m.helpTop = max(m.helpTop-1, 0)
	case k.String() == "ctrl+c":
		return m.end("")
	default:
		m.mode = modeList
	}
	return nil
}
