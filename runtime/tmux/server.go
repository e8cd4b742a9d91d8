package tmux

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hitchpost/hitchpost"
)

// callLimit bounds each call, waiting for its turn included. With the way to the client it is less than five seconds.
const callLimit = 4500 * time.Millisecond

// Server is a private tmux server. Its methods may be called at the same time. None of them takes longer than five
// seconds; a server that does not answer in that time gives an error of kind UnavailableError.
type Server struct {
	program program
	env     []string
	log     *slog.Logger

	// link holds one token: whoever has it may look at and renew the connection.
	link    chan struct{}
	control *control
	known   atomic.Pointer[identity]
	client  string // version of the tmux binary

	bufferStem string
	buffers    atomic.Int64
	bufferRoom uint64 // see the constant

	events chan struct{}
	gone   chan struct{} // one wake-up for the keeper: the connection was lost
	park   *park

	// life ends with Close; it is what background work runs under.
	life    context.Context //nolint:containedctx // the life of the server's own goroutines, not of a call
	end     context.CancelFunc
	work    sync.WaitGroup
	closing sync.Once
}

// identity is which server runs.
type identity struct {
	pid     int
	version string
}

// Open takes up the server of cfg.Dir or starts it, and has no other effect. Errors are of kind UnavailableError; one
// for a tmux that is too old names the version. With cfg.Patient a server that lives but does not answer is no error.
func Open(ctx context.Context, cfg Config) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	closeOnExec()
	path, version, err := find(ctx, cfg.Binary)
	if err != nil {
		return nil, err
	}
	l, err := prepare(cfg.Dir)
	if err != nil {
		return nil, hitchpost.Errorf(hitchpost.UnavailableError, "prepare the directory of tmux: %w", err)
	}
	s := &Server{
		program:    program{installed: path, layout: l, env: clientEnv()},
		env:        serverEnv(cfg.Env),
		log:        cfg.Log,
		client:     version,
		link:       make(chan struct{}, 1),
		bufferStem: fmt.Sprintf("hitchpost-%d-%x-", os.Getpid(), time.Now().UnixNano()),
		bufferRoom: bufferRoom,
		events:     make(chan struct{}, 1),
		gone:       make(chan struct{}, 1),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.link <- struct{}{}
	s.park = newPark(s)
	if _, err := s.connected(ctx, true); err != nil {
		if !cfg.Patient || !s.lives() {
			s.Close()
			return nil, told("start", err)
		}
		s.log.Error("the tmux server lives but cannot be used", "err", told("start", err))
		s.lost() // has keep try again
	}
	s.work.Go(s.keep)
	s.work.Go(s.park.tend)
	return s, nil
}

// lives reports whether a server is there, whatever state it is in. Where that cannot be told, one is.
func (s *Server) lives() bool {
	ctx, cancel := context.WithTimeout(s.life, callLimit)
	defer cancel()
	found, err := s.look(ctx)
	return found || err != nil
}

// Socket is the path of the server's socket.
func (s *Server) Socket() string { return s.program.layout.socket }

// Version is the version of the running server, such as 3.3a. It may differ from the binary's after an upgrade; see
// BinaryVersion.
func (s *Server) Version() string {
	if id := s.known.Load(); id != nil {
		return id.version
	}
	return ""
}

// BinaryVersion is the version of the tmux binary that a next server would run.
func (s *Server) BinaryVersion() string { return s.client }

// Pid is the process id of the running server.
func (s *Server) Pid(ctx context.Context) (int, error) {
	out, err := s.call(ctx, false, command{"display-message", "-p", "#{pid}"})
	if err != nil {
		return 0, told("ask for its process", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out))
	return pid, told("ask for its process", err)
}

// Events wakes whoever listens after something in tmux changed, a session's beginning, death or end among it, or the
// connection was lost or is back; wake-ups are coalesced. It is never closed.
func (s *Server) Events() <-chan struct{} { return s.events }

func (s *Server) wake() {
	select {
	case s.events <- struct{}{}:
	default:
	}
}

// Close ends the clients that this process keeps and waits for them, views apart: those are closed by their owners.
// The tmux server and its sessions live on. It may be called again.
func (s *Server) Close() error {
	s.closing.Do(func() {
		s.end()
		s.work.Wait()
		s.park.close()
		<-s.link // never given back: later calls end by their limit
		if s.control != nil {
			_ = s.leave(func() error { s.control.close(); return nil })
		}
	})
	return nil
}

// call carries out commands in one turn of the server. start says whether a server may be started for it. Where the
// connection is lost in between, it is made again a few times; what was sent may then be done twice.
func (s *Server) call(ctx context.Context, start bool, cmds ...command) (string, error) {
	return repeated(ctx, func(ctx context.Context) (string, error) { return s.once(ctx, start, cmds...) })
}

// repeated does what may be done twice, and once more where the connection was lost under it.
func repeated(ctx context.Context, do func(context.Context) (string, error)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	for try := 1; ; try++ {
		out, err := do(ctx)
		if err != errLost || try == callTries { //nolint:errorlint // a connection that could not be made is wrapped
			return out, err
		}
		if err := pause(ctx, time.Duration(try)*10*time.Millisecond); err != nil {
			return "", err
		}
	}
}

// callTries is how often that is tried while its connection is lost under it, as when somebody ends the lobby.
const callTries = 4

// once is call without the second try, for what must not be done twice.
func (s *Server) once(ctx context.Context, start bool, cmds ...command) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	c, err := s.connected(ctx, start)
	if err != nil {
		return "", err
	}
	return c.run(ctx, cmds...)
}

// change is once for commands of which tmux notifies control clients; see calmly.
func (s *Server) change(ctx context.Context, start bool, cmds ...command) (out string, err error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	c, err := s.connected(ctx, start)
	if err != nil {
		return "", err
	}
	err = s.calmly(ctx, func() error {
		out, err = c.run(ctx, cmds...)
		return err
	})
	return out, err
}
