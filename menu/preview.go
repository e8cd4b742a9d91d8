package menu

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitchpost/hitchpost"
)

// preview is the screen of the selected session, as it was a moment ago.
type preview struct {
	id     string // whose screen it is
	lines  [][]span
	at     time.Time // when the session showed it, where that is not now
	err    string
	asking string // the session whose screen is on its way
}

type (
	settled  struct{ id string } // the selection has rested on id
	captured struct {
		id    string
		lines [][]span
		at    time.Time
		err   error
	}
)

const (
	settleAfter  = 80 * time.Millisecond // who runs down the list asks for no screen
	captureLimit = 2 * time.Second
	previewCols  = 120 // the narrowest terminal that has room for it
)

// settle asks for the preview of a new selection once it has rested.
func (m *model) settle() tea.Cmd {
	id := m.list.id
	if id == "" || m.preview.id == id || !m.wide() {
		return nil
	}
	return m.tasks.after(settleAfter, settled{id})
}

// refresh asks for the screen of a live session again.
func (m *model) refresh() tea.Cmd {
	if s, ok := m.list.selected(); ok && s.State.Live() {
		return m.look(s.ID)
	}
	return nil
}

// look asks for the screen of session id, if that is still the selected one. One request is under way at a time.
func (m *model) look(id string) tea.Cmd {
	if id != m.list.id || !m.wide() || m.preview.asking != "" {
		return nil
	}
	m.preview.asking = id
	return m.tasks.read(captureLimit, func(ctx context.Context) tea.Msg {
		c, err := m.service.Capture(ctx, m.actor, id, hitchpost.CaptureRequest{ANSI: true})
		return captured{id, screen(c.Text), c.At, err}
	})
}

// take keeps a screen that arrived.
func (p *preview) take(c captured) {
	p.asking = ""
	p.id, p.lines, p.at, p.err = c.id, c.lines, c.at, ""
	if c.err != nil {
		p.lines, p.err = nil, failure(c.err)
	}
}

// wide reports whether the terminal has room for the preview.
func (m *model) wide() bool { return m.size.Cols >= previewCols && m.size.Rows >= 10 }
