package menu

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitchpost/hitchpost"
)

// Service is what the picker needs of the runtime. Its calls must be safe for concurrent use and honour their
// context; Snapshot and Last answer from memory.
type Service interface {
	Snapshot() ([]hitchpost.Session, hitchpost.Status)
	Watch(ctx context.Context) <-chan struct{}
	Start(ctx context.Context, actor hitchpost.Actor, r hitchpost.StartRequest) (hitchpost.StartResult, error)
	Restart(ctx context.Context, actor hitchpost.Actor, ref string, r hitchpost.RestartRequest) (hitchpost.StartResult, error)
	Stop(ctx context.Context, actor hitchpost.Actor, ref string, r hitchpost.StopRequest) (hitchpost.Session, error)
	CloseSession(ctx context.Context, actor hitchpost.Actor, ref string) (hitchpost.Session, error)
	Rename(ctx context.Context, actor hitchpost.Actor, ref, title string) (hitchpost.Session, error)
	Capture(ctx context.Context, actor hitchpost.Actor, ref string, r hitchpost.CaptureRequest) (hitchpost.Captured, error)
	Complete(ctx context.Context, actor hitchpost.Actor, prefix string) ([]string, error)
	// Card calls show with the card as far as it is known, each time when a part has come, and returns the whole of it.
	Card(ctx context.Context, actor hitchpost.Actor, ref string, show func(hitchpost.Card)) (hitchpost.Card, error)
	// Note returns the session as it is also together with a ConflictError for the field note.
	Note(ctx context.Context, actor hitchpost.Actor, ref string, r hitchpost.NoteRequest) (hitchpost.Session, error)
	Last(ctx context.Context, actor hitchpost.Actor) string
}

// Config is what one run of the picker is given. Actor, Service, In and Out must be set.
type Config struct {
	Actor   hitchpost.Actor
	Service Service

	In  Input
	Out io.Writer // makes CR LF of LF, as ONLCR of termios does; a blocked Write must return once ctx is cancelled

	Terminal hitchpost.Terminal
	Sizes    <-chan hitchpost.Size // later sizes; may be nil, may be closed
	Environ  []string              // the client's, NAME=value; TERM is taken from Terminal. HITCHPOST_PLAIN=1: draw nothing

	Home     string // the account's home directory, that paths are shortened by; may be empty
	Selected string // id of the session to select first; empty: the one that this key used last
	Notice   string // one line to show first, such as how the last session ended

	// Background runs work that a person asked for and that should go on when the picker ends, such as a stop that
	// takes its time; whoever gives the function waits for the work. Nil: Run itself waits for it before it returns.
	Background func(work func())

	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // nil: nothing is logged
}

// Choice is how the picker ended.
type Choice struct {
	Attach string // id of the session to attach to; empty: the person leaves
}

// Run shows the picker until the person chooses or leaves. It returns when the picker has ended wholly: the terminal
// is as it was found, no goroutine of it reads In or writes Out, and unused bytes are back in In. The error is io.EOF,
// or what Read gave, when the input ended before a choice was made, and the cause of ctx when that was cancelled.
func Run(ctx context.Context, c Config) (Choice, error) {
	c = c.filled()
	if wantsPlain(c.Environ) {
		return runPlain(ctx, c)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	m := newModel(ctx, c)
	defer m.tasks.end()
	p := tea.NewProgram(guardedModel{m, c.Log, cancel},
		tea.WithContext(ctx),
		tea.WithInput(nil), // see keyboard.go
		tea.WithOutput(c.Out),
		tea.WithEnvironment(clientEnviron(c.Terminal, c.Environ)),
		tea.WithColorProfile(profileOf(c.Terminal, c.Environ)),
		tea.WithWindowSize(m.size.Cols, m.size.Rows),
		tea.WithoutSignalHandler(), // the process is a server: its signals are not the person's
	)
	over := make(chan struct{})
	var helpers sync.WaitGroup
	help := func(f func() error) {
		if err := guarded(c.Log, f); err != nil {
			p.Send(hungUp{err})
		}
	}
	helpers.Go(func() { help(func() error { return feedKeys(p, c, over) }) })
	helpers.Go(func() { help(func() error { return feedSizes(p, c.Sizes, over) }) })
	_, err := p.Run()
	close(over)
	helpers.Wait()
	m.rescueNote()
	switch {
	case m.choice != nil:
		return *m.choice, nil
	case context.Cause(ctx) != nil: // before the end of the input, which often follows from it
		return Choice{}, context.Cause(ctx)
	case m.err != nil:
		return Choice{}, m.err
	case err == nil:
		err = errors.New("the picker ended without a choice")
	}
	return Choice{}, err
}

// filled is c with what may be left out.
func (c Config) filled() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func newModel(ctx context.Context, c Config) *model {
	m := &model{
		actor: c.Actor, service: c.Service, clock: c.Now, now: c.Now(),
		tasks: newTasks(ctx, c.Background, c.Log),
		keys:  newKeys(), theme: newTheme(profileOf(c.Terminal, c.Environ)), size: sized(c.Terminal.Size),
	}
	m.watch = c.Service.Watch(m.tasks.ctx)
	m.list.id, m.list.home = c.Selected, c.Home
	if m.list.id == "" {
		m.list.id = c.Service.Last(ctx, c.Actor)
	}
	m.put(m.take())
	if c.Notice != "" {
		m.tell(clean(c.Notice))
		m.toast.until = m.now.Add(badFor)
	}
	return m
}

// The largest picker. Its renderer keeps half a kilobyte a cell, several times over, whatever is in the cells: a terminal
// that claims to be as large as it can must not cost more than a large screen does.
const maxCols, maxRows = 400, 120

// sized is the size to draw for: one that the client did not know is 80x24, and none is larger than the largest.
func sized(s hitchpost.Size) hitchpost.Size {
	if s.Cols <= 0 || s.Rows <= 0 {
		return s.Clamp()
	}
	return hitchpost.Size{Cols: min(s.Cols, maxCols), Rows: min(s.Rows, maxRows)}
}

// feedKeys gives each key to the program and waits for what the model made of it, until over is closed. The error is
// why no more keys come.
func feedKeys(p *tea.Program, c Config, over <-chan struct{}) error {
	k := keyboard{in: c.In, log: c.Log, deliver: func(ev tea.Msg) (used, ended bool) {
		v := make(chan verdict, 1)
		p.Send(delivered{ev, v})
		select {
		case got := <-v:
			return got.used, got.ended
		case <-over:
		}
		select { // the program has ended; what it took before is settled
		case got := <-v:
			return got.used, true
		default:
			return false, true
		}
	}}
	return k.run(over)
}

// feedSizes tells the program of each new size, until over or sizes is closed.
func feedSizes(p *tea.Program, sizes <-chan hitchpost.Size, over <-chan struct{}) error {
	for {
		select {
		case s, ok := <-sizes:
			if !ok {
				return nil
			}
			s = sized(s)
			p.Send(tea.WindowSizeMsg{Width: s.Cols, Height: s.Rows})
		case <-over:
			return nil
		}
	}
}
