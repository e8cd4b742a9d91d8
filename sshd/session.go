package sshd

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"time"

	charm "charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd/command"
)

// session is one session channel, from its opening to its end. It satisfies the Session interface of charm.land/ssh,
// so that wish middleware works with it: Write is for text (with a terminal LF becomes CR LF once) and Read gives what
// the client types. The attach uses the raw streams.
type session struct {
	conn    *connection
	ssh     *gossh.ServerConn
	id      *identity
	channel gossh.Channel
	log     *slog.Logger

	// ctx ends with the channel. Its cause is a *hitchpost.Error where the server ends it and can say why.
	ctx    context.Context //nolint:containedctx // see above
	cancel context.CancelCauseFunc
	values *sessionContext

	in          *input
	out, errOut *output // raw
	text        io.Writer
	errText     io.Writer
	sizes       *sizes

	// What the client asked for. Written by the request loop before it starts the stage, read-only after.
	ready    bool // asked to begin
	started  bool
	refusals int // subsystems refused so far
	terminal bool
	term     string
	modes    gossh.TerminalModes
	env      environment
	command  string

	signals   signals
	attaches  int  // views opened on this terminal so far; belongs to the stage
	tookLeave bool // the person was told why the server ends the session; belongs to the stage

	ending sync.Once
	work   group // the stage, the reader, writes that did not end in time
}

var _ charm.Session = (*session)(nil)

func newSession(c *connection, conn *gossh.ServerConn, id *identity, ch gossh.Channel) *session {
	s := &session{
		conn: c, ssh: conn, id: id, channel: ch, log: c.log,
		in: newInput(), out: newOutput(ch), errOut: newOutput(ch.Stderr()), sizes: newSizes(),
	}
	s.text, s.errText = s.out, s.errOut
	s.ctx, s.cancel = context.WithCancelCause(c.ctx)
	s.values = newSessionContext(s)
	return s
}

// serve answers the channel's requests until the channel is closed, and returns when all that the session started has
// ended.
func (s *session) serve(requests <-chan *gossh.Request) {
	defer s.work.wait()
	defer s.in.discard()
	defer s.cancel(errGone)
	s.start("reader", func() { s.in.run(s.channel) })
	for req := range requests {
		s.handle(req)
	}
}

// start runs f in a goroutine that serve waits for, and that harms nobody else when it panics. It is false, and does
// nothing, where the channel is closed already.
func (s *session) start(name string, f func()) bool {
	if !s.work.enter() {
		return false
	}
	go func() {
		defer s.work.leave()
		defer func() {
			if r := recover(); r != nil {
				s.log.Error("panic", "in", name, "err", r, "stack", string(debug.Stack()))
				if s.terminal {
					s.farewell(TerminalReset + internalError)
				} else {
					s.farewell(internalError)
				}
				_ = s.Exit(hitchpost.FailedError.ExitStatus())
			}
		}()
		f()
	}()
	return true
}

// run is the stage goroutine: the middleware, then the routes, then the end.
func (s *session) run() {
	s.conn.srv.handler(s)
	_ = s.Exit(0)
}

// Exit ends the session: exit-status, then end of file, then close (RFC 4254 sections 5.3 and 6.10). Only the first
// call counts. These do not wait for the window of the client; where the network does not take them the connection
// ends. When the client closes its side is its own affair: OpenSSH does so after its reader has read all.
func (s *session) Exit(code int) error {
	err := errors.New("the session has ended already")
	s.ending.Do(func() { err = s.end(code) })
	return err
}

func (s *session) end(code int) error {
	s.in.discard()
	late := time.AfterFunc(s.conn.srv.cfg.Limits.Stall, func() { s.conn.net.Close() })
	defer late.Stop()
	status := struct{ Status uint32 }{uint32(code)}
	if _, err := s.channel.SendRequest("exit-status", false, gossh.Marshal(&status)); err != nil {
		return err
	}
	// Where a write hangs there is no end of file: data would follow it when the client takes some.
	select {
	case s.out.busy <- struct{}{}:
		err := s.channel.CloseWrite()
		s.out.release()
		if err != nil {
			return err
		}
	default:
	}
	return s.channel.Close()
}

// until is o for a stage that runs under ctx.
func (s *session) until(ctx context.Context, o *output) impatient { return impatient{ctx, o, &s.work} }

// words is where a stage that runs under ctx says what is not data, also why it ends.
func (s *session) words(ctx context.Context) *lastWords {
	return &lastWords{impatient: s.until(ctx, s.errOut), limit: s.conn.srv.cfg.Limits.Farewell}
}

// farewell writes the last words to the terminal or, without one, to stderr. It gives up where the client takes
// nothing.
func (s *session) farewell(line string) {
	limit := s.conn.srv.cfg.Limits.Farewell
	if s.terminal {
		_ = s.out.within(limit, &s.work, cook([]byte(line+"\n"), 0))
		return
	}
	_ = s.errOut.within(limit, &s.work, []byte(line+"\n"))
}

// The rest is the Session interface of charm.land/ssh.

func (s *session) Read(p []byte) (int, error)  { return s.in.current().Read(p) }
func (s *session) Write(p []byte) (int, error) { return s.text.Write(p) }
func (s *session) Stderr() io.ReadWriter       { return stderr{s.errText} }
func (s *session) Close() error                { return s.channel.Close() }
func (s *session) CloseWrite() error           { return s.channel.CloseWrite() }
func (s *session) SendRequest(name string, wantReply bool, payload []byte) (bool, error) {
	return s.channel.SendRequest(name, wantReply, payload)
}

func (s *session) User() string         { return s.ssh.User() }
func (s *session) RemoteAddr() net.Addr { return s.ssh.RemoteAddr() }
func (s *session) LocalAddr() net.Addr  { return s.ssh.LocalAddr() }
func (s *session) Environ() []string    { return s.env.list() }
func (s *session) RawCommand() string   { return s.command }
func (s *session) Subsystem() string    { return "" }

func (s *session) Command() []string {
	words, _ := command.Split(s.command)
	return words
}

func (s *session) PublicKey() charm.PublicKey { return s.id.public }
func (s *session) Context() charm.Context     { return s.values }
func (s *session) Permissions() charm.Permissions {
	return charm.Permissions{Permissions: s.ssh.Permissions}
}

// EmulatedPty is true with a terminal: nothing in the kernel stands behind it.
func (s *session) EmulatedPty() bool { return s.terminal }

func (s *session) Pty() (charm.Pty, <-chan charm.Window, bool) {
	if !s.terminal {
		return charm.Pty{}, s.sizes.windows, false
	}
	now := s.sizes.latest()
	window := charm.Window{Width: now.Cols, Height: now.Rows}
	return charm.Pty{Term: s.term, Window: window, Modes: s.modes}, s.sizes.windows, true
}

func (s *session) Signals(c chan<- charm.Signal) { s.signals.register(c) }

// Break does nothing: a break means something to a serial line only.
func (s *session) Break(chan<- bool) {}

// stderr is written only; the client never sends anything there.
type stderr struct{ io.Writer }

func (stderr) Read([]byte) (int, error) { return 0, io.EOF }
