package sshd

import (
	"context"

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
	// LastOf is the id of the session that a client, by its HITCHPOST_CLIENT, was in last; empty where that is not known.
	// It may ask the database, and gives up when ctx ends.
	LastOf(ctx context.Context, client string) string
}

// View is a terminal's view of a live session. One goroutine reads and one writes; Resize and Close may be called from
// any, at any time.
type View interface {
	// Read gives the replay and then the live screen, untouched. It blocks until there is something, and returns
	// io.EOF after the last byte of a view that ended.
	Read(p []byte) (int, error)
	// ReadReady is Read, except that it returns 0 and no error where Read would block.
	ReadReady(p []byte) (int, error)
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
