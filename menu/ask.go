package menu

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/hitchpost/hitchpost"
)

// question is something that a person has to answer before it happens. With confirm the one verb waits for y; else
// each verb is offered under its own key.
type question struct {
	text    string
	verbs   []string
	confirm bool
	prompt  string // of the restart that is asked about
}

// ask opens q about s.
func (m *model) ask(q question, s hitchpost.Session) {
	m.mode, m.asked, m.subject, m.toast = modeAsk, q, s, toast{}
}

// askClose closes s; only a RECOVERABLE one, that somebody may still want back, is asked about.
func (m *model) askClose(s hitchpost.Session) tea.Cmd {
	switch s.State {
	case hitchpost.Stopped, hitchpost.Failed:
		return m.close(s)
	case hitchpost.Recoverable:
		m.ask(question{text: askClose(s), verbs: []string{verbClose}, confirm: true}, s)
	default:
		m.complain(noAct(verbClose, s))
	}
	return nil
}

// pressAsk answers the open question. Enter answers nothing: a hand that is quicker than the eye must end nothing.
func (m *model) pressAsk(k tea.KeyPressMsg) tea.Cmd {
	s, q := m.subject, m.asked
	if q.confirm {
		switch {
		case key.Matches(k, m.keys.yes):
			m.mode = modeList
			return m.do(q.verbs[0], s, q.prompt)
		case key.Matches(k, m.keys.no):
			m.mode = modeList
		}
		return nil
	}
	switch {
	case key.Matches(k, m.keys.restart) && len(q.verbs) > 0:
		m.mode = modeList
		return m.do(verbRestart, s, "")
	case key.Matches(k, m.keys.close) && len(q.verbs) > 0:
		m.mode = modeList
		if !m.allowed(s) {
			return nil
		}
		return m.askClose(s)
	case key.Matches(k, m.keys.cancel), key.Matches(k, m.keys.leave), len(q.verbs) == 0:
		m.mode = modeList
	}
	return nil
}

// do acts on s as it was when the question was asked; the service refuses what no longer fits.
func (m *model) do(verb string, s hitchpost.Session, prompt string) tea.Cmd {
	if !m.allowed(s) {
		return nil
	}
	switch verb {
	case verbStop:
		return m.stop(s)
	case verbClose:
		return m.close(s)
	default:
		return m.restart(verb, s, prompt)
	}
}

// pressRename types the new title.
func (m *model) pressRename(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(k, m.keys.cancel), k.String() == "ctrl+c":
		m.mode = modeList
	case key.Matches(k, m.keys.submit):
		title := strings.TrimSpace(m.typing.value())
		if title == "" {
			m.complain(wordNoTitle)
			return nil
		}
		m.mode = modeList
		if title == m.subject.Title || !m.allowed(m.subject) {
			return nil
		}
		return m.retitle(m.subject, title)
	default:
		m.typing.press(k, m.keys.field)
	}
	return nil
}
