// Package command is the command mode: the verbs that people and scripts give over SSH, as in `ssh host ls --json`.
//
// It promises what the command contract says and scripts rely on: stdout holds data only, as a table for people or one
// JSON document, with LF line ends; everything else is one line on stderr; the exit status tells the kind of error;
// stdin is read by the verbs that need it and by no other. Words are split once, like a POSIX shell splits them and
// without any expansion, and no shell ever sees them.
//
// It knows nothing of SSH, of the store or of tmux: it imports the root package only and declares the Service that it
// drives. Package sshd imports it.
package command

import (
	"context"
	"io"
	"time"

	"github.com/hitchpost/hitchpost"
)

// Service is what the verbs drive. Roles are enforced inside it; its errors are of the kinds of the root package.
type Service interface {
	List(context.Context, hitchpost.Actor, hitchpost.ListRequest) ([]hitchpost.Session, error)
	Show(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.Session, error)
	Start(context.Context, hitchpost.Actor, hitchpost.StartRequest) (hitchpost.StartResult, error)
	Restart(ctx context.Context, a hitchpost.Actor, ref string, r hitchpost.RestartRequest) (hitchpost.StartResult, error)
	Stop(ctx context.Context, a hitchpost.Actor, ref string, r hitchpost.StopRequest) (hitchpost.Session, error)
	CloseSession(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.Session, error)
	Rename(ctx context.Context, a hitchpost.Actor, ref, title string) (hitchpost.Session, error)
	Capture(ctx context.Context, a hitchpost.Actor, ref string, r hitchpost.CaptureRequest) (hitchpost.Captured, error)
	Send(ctx context.Context, a hitchpost.Actor, ref string, r hitchpost.SendRequest) (hitchpost.SendResult, error)
	Wait(ctx context.Context, a hitchpost.Actor, ref string, r hitchpost.WaitRequest) (hitchpost.Session, error)
	// Card gives show, which may be nil, what is known as it comes.
	Card(ctx context.Context, a hitchpost.Actor, ref string, show func(hitchpost.Card)) (hitchpost.Card, error)
	RunCheck(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.Task, error)
	SetCheck(ctx context.Context, a hitchpost.Actor, ref, command string) (hitchpost.Session, error)
	Note(ctx context.Context, a hitchpost.Actor, ref string, r hitchpost.NoteRequest) (hitchpost.Session, error)
	// Events gives show the events that q chooses, page by page, to the last one there is.
	Events(ctx context.Context, a hitchpost.Actor, q hitchpost.EventQuery, show func([]hitchpost.Event) error) error
	// FollowEvents goes on with those to come until ctx ends, and tells away each time when the database goes.
	FollowEvents(ctx context.Context, a hitchpost.Actor, q hitchpost.EventQuery, show func([]hitchpost.Event) error,
		away func(error)) error
	// NoteDenial is told of a verb that the role of the actor does not allow. It does not block.
	NoteDenial(a hitchpost.Actor, verb string)
	Keys(context.Context, hitchpost.Actor) ([]hitchpost.Key, error)
	AddKey(context.Context, hitchpost.Actor, hitchpost.Key) (hitchpost.Key, error)
	RevokeKey(ctx context.Context, a hitchpost.Actor, fingerprint string) (hitchpost.Key, error)
	RevokeActor(ctx context.Context, a hitchpost.Actor, name string) ([]hitchpost.Key, error)
	Status(context.Context, hitchpost.Actor) (hitchpost.Status, error)
	TaskService
	CheckpointService
	WorktreeService
}

// Invocation is one command line and what surrounds it. It is not changed and may not be used twice.
type Invocation struct {
	Words   []string // the command line, see Split
	Program string   // what people type before a verb, for help and hints; empty: ssh host
	Actor   hitchpost.Actor
	Service Service

	// Stdin is read only by verbs that take `-`, and by task run --stdin. Its reads end when the client sends no more, when
	// ctx ends, and soon after Run has returned: that of a task that took no more may still be under way.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Stream is Stdout for what goes on until something ends, such as --follow: ctx ends where the client takes nothing of
	// it for too long. nil: Stdout.
	Stream io.Writer

	Terminal *hitchpost.Terminal // nil: the client asked for none
	Version  string

	// ParseKey reads one line in authorized_keys format. Its errors are of kind UsageError.
	ParseKey func(line string) (hitchpost.Key, error)
	// Attach shows a session on the client's terminal until the person leaves or it ends, and returns the exit status.
	// It is called with a Terminal only, as the last thing of a verb; what it must say it says itself.
	Attach func(context.Context, hitchpost.AttachRequest) int
	Now    func() time.Time // nil: time.Now
}
