package menu

import (
	"context"
	"errors"
	"io"
	"time"

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
	Capture(ctx context.Context, actor hitchpost.Actor, ref string, r hitchpost.CaptureRequest) ([]byte, error)
	Complete(ctx context.Context, actor hitchpost.Actor, prefix string) ([]string, error)
	Last(ctx context.Context, actor hitchpost.Actor) string
}

// Config is what one run of the picker is given. Actor, Service, In and Out must be set.
type Config struct {
	Actor   hitchpost.Actor
	Service Service

	In  Input
	Out io.Writer // one Write is one piece of a frame; a Write that fails or is slow does not end the menu

	Terminal hitchpost.Terminal
	Sizes    <-chan hitchpost.Size // later sizes; may be nil, may be closed
	Environ  []string              // the client's environment, NAME=value; TERM is taken from Terminal

	Selected string // id of the session to select first; empty: the one that this key used last
	Notice   string // one line to show first, such as how the last session ended

	// Background runs work that a person asked for and that should go on when the picker ends, such as a stop that
	// takes its time; whoever gives the function waits for the work. Nil: Run itself waits for it before it returns.
	Background func(work func())

	Now func() time.Time // nil: time.Now
}

// Choice is how the picker ended.
type Choice struct {
	Attach   string // id of the session to attach to; empty: the person leaves
	ReadOnly bool   // the actor may only look
	Selected string // id of the session that was selected, to come back to; may be empty
}

// Run shows the picker until the person chooses or leaves. It returns when the picker has ended wholly: the terminal
// is as it was found, no goroutine of it reads In or writes Out, and unused bytes are back in In. The error is io.EOF,
// or what Read gave, when the input ended before a choice was made, and the cause of ctx when that was cancelled.
func Run(ctx context.Context, c Config) (Choice, error) {
	return Choice{}, errors.New("menu: not built yet")
}
