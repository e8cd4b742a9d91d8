package menu

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitchpost/hitchpost"
)

// acted is the end of an act that a person asked for.
type acted struct {
	verb   string
	id     string // of the session; empty for a start
	on     hitchpost.Session
	result hitchpost.StartResult
	err    error
	prompt string // of a restart
}

// actLimit bounds an act: a stop waits 10 s for the program before it kills, and each call below has its own limit.
const actLimit = 30 * time.Second

// earlyWatch is how long a new command is watched, so that one which ends at once is reported with its first lines. A
// person who starts a shell is not kept waiting for that.
const earlyWatch = time.Second

// perform starts an act and shows it as under way.
func (m *model) perform(verb string, s hitchpost.Session, f func(ctx context.Context) (hitchpost.StartResult, error)) tea.Cmd {
	return m.performAs(acted{verb: verb, on: s}, f)
}

// performAs is perform for an act whose end is told as a, with the result.
func (m *model) performAs(a acted, f func(ctx context.Context) (hitchpost.StartResult, error)) tea.Cmd {
	a.id = a.on.ID
	cmd := m.tasks.act(actLimit, func(ctx context.Context) tea.Msg {
		a.result, a.err = f(ctx)
		return a
	})
	return tea.Batch(cmd, m.begin(a.id, underWay(a.verb, a.on.Handle)))
}

func one(s hitchpost.Session, err error) (hitchpost.StartResult, error) {
	return hitchpost.StartResult{Session: s}, err
}

func (m *model) stop(s hitchpost.Session) tea.Cmd {
	return m.perform(verbStop, s, func(ctx context.Context) (hitchpost.StartResult, error) {
		return one(m.service.Stop(ctx, m.actor, s.ID, hitchpost.StopRequest{}))
	})
}

func (m *model) close(s hitchpost.Session) tea.Cmd {
	return m.perform(verbClose, s, func(ctx context.Context) (hitchpost.StartResult, error) {
		return one(m.service.CloseSession(ctx, m.actor, s.ID))
	})
}

func (m *model) retitle(s hitchpost.Session, title string) tea.Cmd {
	return m.perform(verbRename, s, func(ctx context.Context) (hitchpost.StartResult, error) {
		return one(m.service.Rename(ctx, m.actor, s.ID, title))
	})
}

// restart asks for a fresh process, that is told prompt first where there is one; with verbForce beside what the last one
// left running.
func (m *model) restart(verb string, s hitchpost.Session, prompt string) tea.Cmd {
	if !s.State.Ended() {
		m.complain(noAct(verbRestart, s))
		return nil
	}
	r := hitchpost.RestartRequest{Size: m.size, Watch: watchOf(s.Kind), Force: verb == verbForce, Prompt: prompt}
	return m.performAs(acted{verb: verb, on: s, prompt: prompt}, func(ctx context.Context) (hitchpost.StartResult, error) {
		return m.service.Restart(ctx, m.actor, s.ID, r)
	})
}

func (m *model) start(r hitchpost.StartRequest) tea.Cmd {
	r.Size, r.Watch = m.size, watchOf(r.Kind)
	title := r.Title
	if title == "" {
		title = wordNewTitle
	}
	return m.perform(verbStart, hitchpost.Session{Handle: title}, func(ctx context.Context) (hitchpost.StartResult, error) {
		return m.service.Start(ctx, m.actor, r)
	})
}

func watchOf(k hitchpost.Kind) time.Duration {
	if k == hitchpost.Shell {
		return 0
	}
	return earlyWatch
}

// acted shows how an act ended. A session that was made in the form is what the person wants to be in: it is attached
// to, unless it has ended already or the form was left meanwhile.
func (m *model) acted(a acted) tea.Cmd {
	m.work.end(a.id)
	waiting := a.verb == verbStart && m.mode == modeForm && m.form.busy
	if waiting {
		m.form.busy = false
	}
	switch {
	case m.mode == modeList && a.verb == verbRestart && hitchpost.Forcible(a.err):
		m.ask(question{text: askForce(a.err), verbs: []string{verbForce}, confirm: true, prompt: a.prompt}, a.on)
		return nil
	case a.err != nil:
		m.complain(failure(a.err))
		if waiting {
			m.form.point(a.err)
		}
		return nil
	case a.result.Early != nil:
		m.complain(early(a.result))
	case waiting:
		return m.end(a.result.Session.ID)
	default:
		m.tell(done(a.verb, a.result.Session))
	}
	if waiting {
		m.mode = modeList
	}
	if a.verb == verbStart {
		m.list.id = a.result.Session.ID
	}
	return m.tasks.read(0, func(context.Context) tea.Msg { return m.take() })
}
