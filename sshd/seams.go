package sshd

import (
	"context"
	"io"

	"github.com/hitchpost/hitchpost"
)

// Service is what the stages of this package ask of the service. Every method may be called from several goroutines;
// errors are *hitchpost.Error.
type Service interface {
	// Attach opens a view of a live session. It gives up when ctx ends; the view itself does not depend on ctx.
	Attach(ctx context.Context, by hitchpost.Actor, req hitchpost.AttachRequest) (View, error)
	Restart(ctx context.Context, by hitchpost.Actor, ref string, req hitchpost.RestartRequest) (
		hitchpost.StartResult, error)
	// Snapshot is the open sessions as last known. It answers from memory and never blocks.
	Snapshot() ([]hitchpost.Session, hitchpost.Status)
	// Last is the id of the session that the actor's key attached to last, or empty. From memory, never blocks.
	Last(ctx context.Context, by hitchpost.Actor) string
}

// View is a terminal's view of a live session. One goroutine reads and one writes; Resize and Close may be called from
// any, at any time.
type View interface {
	// Read gives the replay and then the live screen, untouched. It blocks until there is something, and returns
	// io.EOF after the last byte of a view that ended.
	Read(p []byte) (int, error)
	// Write types into the session. It never blocks for long, and drops what a read-only view is given.
	Write(p []byte) (int, error)
	Resize(size hitchpost.Size) error
	// Session is the session as it was when the view was opened.
	Session() hitchpost.Session
	// Done is closed when the view has ended.
	Done() <-chan struct{}
	// End is why the view ended; valid once Done is closed.
	End() hitchpost.AttachEnd
	// Close ends the view, unless it has ended, and returns how it ended. It frees all that the view held.
	Close(reason hitchpost.EndReason, message string) hitchpost.AttachEnd
}

// ReadyReader is a View that can tell what it has without waiting. Where a view has this method, output that is ready
// at the same time travels in one packet.
type ReadyReader interface {
	// ReadReady is Read, except that it returns 0 and no error where Read would block.
	ReadReady(p []byte) (int, error)
}

// Picker shows a person their sessions until they choose.
type Picker interface {
	// Pick returns when the person has chosen, when ctx ends, or when the input does. It has stopped using all that
	// the request holds when it returns.
	Pick(ctx context.Context, req PickRequest) (Choice, error)
}

// PickRequest is one run of the picker.
type PickRequest struct {
	Actor     hitchpost.Actor
	Terminal  hitchpost.Terminal // Size as it is now
	Env       []string           // COLORTERM, NO_COLOR, HITCHPOST_PLAIN and so on, as the client sent them
	Preselect string             // id of a session, or empty
	Notice    string             // what to say first, such as why an attach failed; may be empty

	In    *PickerInput
	Out   io.Writer             // LF becomes CR LF once; a Write that hangs ends with ctx
	Sizes <-chan hitchpost.Size // new sizes of the terminal; only the latest is kept

	// Background runs work that goes on when the session ends. The server waits for it when it stops, within limits.
	Background func(work func())
}

// Choice is what a person chose in the picker. The zero value means that they leave.
type Choice struct {
	Session  string // id of the session to attach to
	ReadOnly bool
	NoReplay bool
}

// Commands is command mode.
type Commands interface {
	// Verb tells whether word is a verb. A single word that is none is taken for a session.
	Verb(word string) bool
	// Run runs one command and returns its exit status. It returns soon after ctx has ended.
	Run(ctx context.Context, call Call) int
}

// Call is one command.
type Call struct {
	Words    []string // the command line, split like a POSIX shell splits words
	Actor    hitchpost.Actor
	Version  string
	Terminal *hitchpost.Terminal // nil without one

	// Reads end when the client sends no more, and writes when it is gone; both when ctx ends. With a terminal LF becomes
	// CR LF once.
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	// Attach hands the terminal over to a session until the person leaves it or it ends, and returns the exit status
	// that the connection is to end with. Nil without a terminal.
	Attach func(ctx context.Context, req hitchpost.AttachRequest) int
}
