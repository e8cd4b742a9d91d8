package tmux

import (
	"context"
	"errors"

	"github.com/hitchpost/hitchpost"
)

// ErrNoSession is returned where tmux answered healthily that it has no such session.
var ErrNoSession = &hitchpost.Error{Kind: hitchpost.NotFoundError, Message: "tmux has no such session"}

// ErrNoServer is returned where it is certain that no tmux server runs.
var ErrNoServer = &hitchpost.Error{Kind: hitchpost.UnavailableError, Message: "no tmux server runs"}

// Server is a private tmux server. Its methods may be called at the same time.
type Server struct{}

var errNotYet = errors.New("not yet")

// Open takes up the server of cfg.Dir, or starts it.
func Open(ctx context.Context, cfg Config) (*Server, error) { return nil, errNotYet }

// Socket is the path of the server's socket.
func (s *Server) Socket() string { return "" }

// Version is the version of the running server, such as 3.3a.
func (s *Server) Version() string { return "" }

// Pid is the process id of the running server.
func (s *Server) Pid(ctx context.Context) (int, error) { return 0, errNotYet }

// Panes lists every session of ours in one call. No server at all, when that is certain, is an empty list.
func (s *Server) Panes(ctx context.Context) ([]Pane, error) { return nil, errNotYet }

// Start makes a session; ConflictError when one with this id is there already.
func (s *Server) Start(ctx context.Context, st Start) (Pane, error) { return Pane{}, errNotYet }

// Record is the record that was given to Start.
func (s *Server) Record(ctx context.Context, session string) ([]byte, error) { return nil, errNotYet }

// Kill ends a session and its processes (SIGHUP). It is nil when the session is already gone.
func (s *Server) Kill(ctx context.Context, session string) error { return errNotYet }

// Capture returns text of a session's pane, one line each, ended by LF.
func (s *Server) Capture(ctx context.Context, session string, c Capture) ([]byte, error) {
	return nil, errNotYet
}

// Attach opens a view of a session.
func (s *Server) Attach(ctx context.Context, a Attach) (*View, error) { return nil, errNotYet }

// Events wakes whoever listens after something in tmux changed; wake-ups are coalesced.
func (s *Server) Events() <-chan struct{} { return nil }

// Close ends the clients that this process keeps. The tmux server and its sessions live on.
func (s *Server) Close() error { return errNotYet }

// View is a terminal's window on a session.
type View struct{}

// Read returns the replay, then the screen, then whatever the session prints; io.EOF once the tmux client ended. It
// blocks until there is something and allocates nothing. One reader at a time.
func (v *View) Read(p []byte) (int, error) { return 0, errNotYet }

// Write types p into the session. A read-only view drops it.
func (v *View) Write(p []byte) (int, error) { return 0, errNotYet }

// Resize tells the session the terminal's new size. It never blocks.
func (v *View) Resize(size hitchpost.Size) error { return errNotYet }

// Done is closed once the tmux client of the view ended.
func (v *View) Done() <-chan struct{} { return nil }

// Tail waits until all that tmux has written for this view was read.
func (v *View) Tail(ctx context.Context) error { return errNotYet }

// Close ends the view and waits for all that belongs to it. It may be called again and at the same time as the rest.
func (v *View) Close() error { return nil }
