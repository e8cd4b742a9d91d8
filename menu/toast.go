package menu

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// toast is the message that tells how something went.
type toast struct {
	text  string
	bad   bool
	until time.Time
}

// How long a message stays when no key takes it away. Bad news stays until somebody can have read it twice.
const (
	goodFor = 6 * time.Second
	badFor  = 30 * time.Second
)

func (m *model) tell(text string)     { m.toast = toast{text, false, m.now.Add(goodFor)} }
func (m *model) complain(text string) { m.toast = toast{text, true, m.now.Add(badFor)} }

func (t *toast) expire(now time.Time) {
	if !now.Before(t.until) {
		*t = toast{}
	}
}

// work is the acts under way, at most one for each session.
type work struct {
	acts     []underwayAct
	spinning bool
	frame    int
}

type underwayAct struct {
	id, text string
	since    time.Time
}

type spin struct{} // the spinner turns

const (
	spinAfter = 300 * time.Millisecond // what is quicker shows no spinner
	spinEvery = 120 * time.Millisecond
)

func (m *model) begin(id, text string) tea.Cmd {
	m.toast = toast{}
	m.work.acts = append(m.work.acts, underwayAct{id, text, m.now})
	if m.work.spinning {
		return nil
	}
	m.work.spinning = true
	return m.tasks.after(spinAfter, spin{})
}

func (w *work) on(id string) bool {
	for _, a := range w.acts {
		if a.id == id {
			return true
		}
	}
	return false
}

func (w *work) end(id string) {
	for i, a := range w.acts {
		if a.id == id {
			w.acts = append(w.acts[:i], w.acts[i+1:]...)
			return
		}
	}
}

func (m *model) spin() tea.Cmd {
	if len(m.work.acts) == 0 {
		m.work.spinning, m.work.frame = false, 0
		return nil
	}
	m.work.frame++
	return m.tasks.after(spinEvery, spin{})
}

// line is the oldest act that has taken long enough to be shown; empty when there is none.
func (w *work) line(now time.Time) string {
	for _, a := range w.acts {
		if w.frame > 0 && now.Sub(a.since) >= spinAfter {
			return a.text + ellipsis + " " + string(`|/-\`[w.frame%4])
		}
	}
	return ""
}
