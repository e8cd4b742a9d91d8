package menu

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/hitchpost/hitchpost"
)

// brief is what the agent of a restarted session would be told first, for the person to read before it is.
type brief struct {
	text string
	top  int
}

// openBrief shows what a restart of s with its note would say, where it can say anything.
func (m *model) openBrief(s hitchpost.Session) {
	if !s.State.Ended() {
		m.complain(noAct(verbRestart, s))
		return
	}
	if err := hitchpost.CanBrief(s); err != nil {
		m.complain(failure(err))
		return
	}
	c := m.card.card
	c.Session = s
	m.mode, m.subject, m.brief = modeBrief, s, brief{text: hitchpost.Briefing(c)}
}

// pressBrief restarts with what is shown, by a key of its own, or goes back to the card.
func (m *model) pressBrief(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.scroll(k, &m.brief.top):
	case key.Matches(k, m.keys.yes):
		m.leaveCard()
		return m.do(verbRestart, m.subject, m.brief.text)
	case key.Matches(k, m.keys.cancel), key.Matches(k, m.keys.leave):
		m.mode = modeCard
	}
	return nil
}

// briefBody is the text in at most n lines of w columns.
func (m *model) briefBody(w, n int) []string {
	s := section{title: wordBrief, lines: noteLines(m.brief.text)}
	return scrolled(m.column([]section{s}, w), &m.brief.top, n)
}

// onPage reports whether a page about one session is shown.
func (m *model) onPage() bool {
	return m.mode == modeCard || m.mode == modeBrief || m.mode == modeNote || m.mode == modeClash
}

// pageTitle is what the first line says on a page about one session.
func (m *model) pageTitle() string {
	if !m.onPage() {
		return ""
	}
	s := m.session(m.subject)
	return strings.TrimSpace(clean(s.Handle) + "  " + stateWord(s.State, true) + " " + age(s.StateSince, m.now))
}
