package menu

import (
	"context"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/hitchpost/hitchpost"
)

// cardPage is the card of one session, as far as it is known.
type cardPage struct {
	id    string
	card  hitchpost.Card
	known bool // the card has come, in part at least
	// found is whether a whole card is shown. While one is looked for anew, it stays until that is whole too.
	found   bool
	looking bool
	gen     int                // of the look; what an earlier one brings is dropped
	stop    context.CancelFunc // ends the look
	seen    cardMark           // of the session when the look began
	step    hitchpost.Step     // advised now
	advised time.Time          // since when
	err     string
	top     int // first visible line
}

// cardMark is what of a session tells that its card is another one now.
type cardMark struct {
	state    hitchpost.State
	restarts int
	note     string
}

func markOf(s hitchpost.Session) cardMark { return cardMark{s.State, s.Restarts, s.Note} }

// The messages of a card on its way.
type (
	cardShown struct {
		gen  int
		card hitchpost.Card
		more <-chan hitchpost.Card
	}
	cardFound struct {
		gen  int
		card hitchpost.Card
		err  error
	}
)

const (
	// cardLimit is more than a card takes by its own limits.
	cardLimit = 10 * time.Second
	// cardCalm is how long the advice must have stood before Enter follows it: the key that opened the page may come twice.
	cardCalm = 500 * time.Millisecond
)

// openCard shows the card of s.
func (m *model) openCard(s hitchpost.Session) tea.Cmd {
	m.mode, m.subject, m.toast = modeCard, s, toast{}
	if m.card.id == s.ID && m.card.found { // as it was left, while it is looked for anew
		m.card.top = 0
		return m.lookAtCard()
	}
	m.card = cardPage{id: s.ID, gen: m.card.gen, card: hitchpost.Card{Session: s}}
	return m.lookAtCard()
}

// lookAtCard looks for the card of the page, from now on.
func (m *model) lookAtCard() tea.Cmd {
	p := &m.card
	p.endLook()
	page, stop := context.WithCancel(m.tasks.ctx)
	p.gen, p.looking, p.stop, p.seen, p.err = p.gen+1, true, stop, markOf(m.session(p.card.Session)), ""
	gen, id, updates := p.gen, p.id, make(chan hitchpost.Card, 1)
	find := m.tasks.read(cardLimit, func(ctx context.Context) tea.Msg {
		defer close(updates)
		ctx, end := context.WithCancel(ctx)
		defer end()
		defer context.AfterFunc(page, end)()
		card, err := m.service.Card(ctx, m.actor, id, func(c hitchpost.Card) { putNewest(updates, c) })
		return cardFound{gen, card, err}
	})
	return tea.Batch(find, m.followCard(gen, updates))
}

// putNewest leaves c in updates, in place of what nobody has taken. There must be no other who puts.
func putNewest(updates chan hitchpost.Card, c hitchpost.Card) {
	select {
	case <-updates:
	default:
	}
	updates <- c
}

// followCard waits for more of a card.
func (m *model) followCard(gen int, updates <-chan hitchpost.Card) tea.Cmd {
	return m.tasks.read(0, func(ctx context.Context) tea.Msg {
		select {
		case c, ok := <-updates:
			if !ok {
				return nil
			}
			return cardShown{gen, c, updates}
		case <-ctx.Done():
			return nil
		}
	})
}

// endLook ends the look that is under way, if one is.
func (p *cardPage) endLook() {
	if p.stop != nil {
		p.stop()
	}
	p.stop, p.looking = nil, false
}

// cardShown takes what has come of a card so far.
func (m *model) cardShown(c cardShown) tea.Cmd {
	p := &m.card
	if c.gen != p.gen {
		return nil
	}
	if p.looking && !p.found {
		m.takeCard(c.card)
	}
	return m.followCard(c.gen, c.more)
}

// cardFound takes the end of a look.
func (m *model) cardFound(c cardFound) {
	p := &m.card
	if c.gen != p.gen {
		return
	}
	p.endLook()
	if c.err != nil {
		p.err = failure(c.err)
		return
	}
	m.takeCard(c.card)
	p.found = true
}

func (m *model) takeCard(c hitchpost.Card) {
	p := &m.card
	if c.Advice.Do != p.step || !p.known {
		p.step, p.advised = c.Advice.Do, m.now
	}
	p.card, p.known = c, true
}

// freshenCard looks again where the session of the page is not what it was when the last look began.
func (m *model) freshenCard() tea.Cmd {
	p := &m.card
	if m.mode != modeCard || p.looking || markOf(m.session(p.card.Session)) == p.seen {
		return nil
	}
	return m.lookAtCard()
}

// session is s as the list has it now; as it was where it has left the list.
func (m *model) session(s hitchpost.Session) hitchpost.Session {
	for _, now := range m.list.all {
		if now.ID == s.ID {
			return now
		}
	}
	return s
}

// leaveCard goes back to the list.
func (m *model) leaveCard() {
	m.card.endLook()
	m.mode = modeList
}

// cardStep is what Enter does on the page: to attach or to restart, where that is the advice; else it is empty.
func (m *model) cardStep() hitchpost.Step {
	p := &m.card
	switch s := m.session(p.card.Session); p.step {
	case hitchpost.StepAttach, hitchpost.StepAnswer:
		if s.State.Live() {
			return hitchpost.StepAttach
		}
	case hitchpost.StepRestart:
		if p.found && !p.looking && s.State.Ended() && m.mayDrive() && !away(m.status) {
			return hitchpost.StepRestart
		}
	}
	return ""
}

// pressCard is what the keys do on the page.
func (m *model) pressCard(k tea.KeyPressMsg) tea.Cmd {
	s := m.session(m.card.card.Session)
	switch {
	case key.Matches(k, m.keys.cancel), key.Matches(k, m.keys.leave):
		m.leaveCard()
	case m.scroll(k, &m.card.top):
	case key.Matches(k, m.keys.attach):
		return m.enterCard(s)
	case key.Matches(k, m.keys.again):
		return m.lookAtCard()
	case key.Matches(k, m.keys.note):
		return m.openNote(s)
	case key.Matches(k, m.keys.restart) && m.allowed(s):
		m.leaveCard()
		return m.restart(verbRestart, s, "")
	case key.Matches(k, m.keys.brief) && m.allowed(s):
		m.openBrief(s)
	case key.Matches(k, m.keys.close) && m.allowed(s):
		m.leaveCard()
		return m.askClose(s)
	}
	return nil
}

// enterCard follows the advice.
func (m *model) enterCard(s hitchpost.Session) tea.Cmd {
	switch m.cardStep() {
	case hitchpost.StepAttach:
		m.card.endLook()
		return m.end(s.ID)
	case hitchpost.StepRestart:
		if m.now.Sub(m.card.advised) < cardCalm || !m.allowed(s) {
			return nil
		}
		m.leaveCard()
		return m.restart(verbRestart, s, "")
	}
	return nil
}

// scroll moves top as the key says, and reports whether it was one of those. What is too far is taken back when the page is
// drawn.
func (m *model) scroll(k tea.KeyPressMsg, top *int) bool {
	page := max(m.rows()-1, 1)
	switch {
	case key.Matches(k, m.keys.up):
		*top--
	case key.Matches(k, m.keys.down):
		*top++
	case key.Matches(k, m.keys.pageUp):
		*top -= page
	case key.Matches(k, m.keys.pageDown):
		*top += page
	case key.Matches(k, m.keys.top):
		*top = 0
	case key.Matches(k, m.keys.bottom):
		*top = scrollEnd
	default:
		return false
	}
	*top = max(*top, 0)
	return true
}

// scrollEnd is below the end of every page.
const scrollEnd = 1 << 20

// cardKeys are the keys of the page that can be pressed with effect.
func (m *model) cardKeys() []key.Binding {
	k := m.keys
	s := m.session(m.card.card.Session)
	var keys []key.Binding
	switch m.cardStep() {
	case hitchpost.StepAttach:
		does := doesAttach
		if !m.mayDrive() {
			does = wordAttachRead
		}
		keys = append(keys, renamed(k.attach, does))
	case hitchpost.StepRestart:
		keys = append(keys, renamed(k.attach, doesRestart))
	}
	if m.mayDrive() && !away(m.status) {
		if s.State.Ended() {
			keys = append(keys, k.restart)
			if hitchpost.CanBrief(s) == nil {
				keys = append(keys, k.brief)
			}
			keys = append(keys, k.close)
		}
		keys = append(keys, k.note)
	}
	return append(keys, k.again, bind("j k", doesScroll, "j"), k.cancel)
}
