package tmux

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/hitchpost/hitchpost"
)

// connected returns the living control client, and makes it where there is none. Without start it is ErrNoServer when
// it is certain that no server runs. One caller at a time connects, so however many wait for a server that does not
// answer, one client process does.
func (s *Server) connected(ctx context.Context, start bool) (*control, error) {
	if s.life.Err() != nil {
		return nil, hitchpost.Errorf(hitchpost.UnavailableError, "the connection to tmux was closed")
	}
	select {
	case <-s.link:
	case <-s.life.Done():
		return nil, hitchpost.Errorf(hitchpost.UnavailableError, "the connection to tmux was closed")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { s.link <- struct{}{} }()
	if c := s.control; c != nil {
		select {
		case <-c.gone:
			c.close()
			s.control = nil
			// Whatever ended it ends others too, and tmux tells all control clients of each; see calmly.
			if err := pause(ctx, settling); err != nil {
				return nil, err
			}
		default:
			return c, nil
		}
	}
	c, err := s.connect(ctx, start)
	if err != nil {
		return nil, err
	}
	s.control = c
	s.wake()
	s.park.nudge()
	return c, nil
}

// settling is how long to wait before a lost connection is made again.
const settling = 20 * time.Millisecond

// connectTries bounds how often one call mends what it meets: no server, no lobby, another version.
const connectTries = 5

func (s *Server) connect(ctx context.Context, start bool) (*control, error) {
	unlock, err := s.lock(ctx, syscall.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var last error
	for range connectTries {
		switch found, err := s.look(ctx); {
		case err != nil:
			return nil, err
		case !found && !start:
			return nil, ErrNoServer
		case !found:
			s.log.Info("starting the tmux server", "socket", s.program.layout.socket)
			s.program.running.Store(nil)
			if err := s.program.boot(ctx, s.env); err != nil {
				return nil, err
			}
		}
		c, err := s.dial(ctx)
		if err == nil {
			return c, nil
		}
		if last = err; ctx.Err() != nil {
			return nil, ctx.Err()
		}
		err = s.mend(ctx, err)
		if r := refusal(""); errors.As(err, &r) && r.noTarget() {
			// The lobby ended again while it was made. That is not the absence of whatever session a caller asks for.
			last, err = errLost, pause(ctx, 10*time.Millisecond)
		}
		if err != nil {
			return nil, err
		}
	}
	if r := refusal(""); errors.As(last, &r) && r.noTarget() {
		last = errLost
	}
	return nil, last
}

// dial attaches a control client and brings the server's options up to date. It first makes sure, by a client that
// does no harm, that the server answers: a control client that is given up half-way can end it, see calmly.
func (s *Server) dial(ctx context.Context) (*control, error) {
	if err := s.identify(ctx); err != nil {
		return nil, err
	}
	cmd := s.program.client(context.WithoutCancel(ctx), []string{"-C"},
		"attach-session", "-E", "-f", "no-output", "-t", "="+lobby+":")
	c, err := dialControl(ctx, cmd, s.life.Done(), s.notified, s.lost)
	if err != nil {
		return nil, err
	}
	err = apply(ctx, c, settings)
	var refused refusal
	if errors.As(err, &refused) { // one option less is no reason to let nobody in
		if strings.Trim(string(refused), "; ") != "" { // a quiet unbinding of what is unbound fails without a word
			s.log.Error("tmux refused a setting", "err", err)
		}
		err = nil
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// identify asks the server who it is, and writes down its process for revive.
func (s *Server) identify(ctx context.Context) error {
	out, err := s.program.run(ctx, "display-message", "-p", "#{pid} #{version}")
	if err != nil {
		return err
	}
	var id identity
	if _, err := fmt.Sscan(out, &id.pid, &id.version); err != nil {
		return fmt.Errorf("an answer that was not understood: %q", out)
	}
	if old := s.known.Swap(&id); id.version != s.client && (old == nil || *old != id) {
		s.log.Warn("tmux was upgraded while its server runs; sessions are kept by the old version until they end",
			"server", id.version, "binary", s.client)
	}
	if s.pidFile() == id.pid {
		return nil
	}
	if err := replace(s.program.layout.pidFile(), fmt.Sprintln(id.pid)); err != nil {
		s.log.Warn("the process of tmux is not written down", "err", err) // it serves; only a lost socket needs the file
	}
	return nil
}

// apply sends each line of the settings, as a server that was taken up may have been started with older ones.
func apply(ctx context.Context, c *control, settings string) error {
	var all strings.Builder
	for l := range strings.Lines(settings) {
		if l = strings.TrimSpace(l); l != "" && l[0] != '#' {
			all.WriteString(l + "\n")
		}
	}
	_, err := c.send(ctx, strings.TrimSuffix(all.String(), "\n"))
	return err
}

// notified turns what tmux says by itself into a wake-up.
func (s *Server) notified(name string) {
	switch name {
	case "%sessions-changed", "%unlinked-window-close", "%window-close", "%unlinked-window-renamed",
		"%window-renamed", "%client-session-changed", "%client-detached":
		s.wake()
	}
}

// lost is told that the connection ended.
func (s *Server) lost() {
	s.wake()
	select {
	case s.gone <- struct{}{}:
	default:
	}
}

// mend does what can be done about a failed attach of the control client.
func (s *Server) mend(ctx context.Context, err error) error {
	var r refusal
	switch {
	case mismatched(err):
		if s.useRunning() {
			return nil
		}
		return &hitchpost.Error{Kind: hitchpost.UnavailableError, Cause: err,
			Message: "the running tmux server is of another version than the tmux binary, " + s.client,
			Hint:    "its sessions are kept; put the old tmux back, or end them and start anew"}
	case errors.As(err, &r) && (r.noTarget() || strings.Contains(string(r), "no sessions")):
		_, err := s.program.run(ctx, lobbyCommand()...)
		if errors.As(err, &r) && strings.Contains(string(r), "duplicate session") {
			return nil
		}
		return err
	case errors.Is(err, errLost):
		return pause(ctx, 20*time.Millisecond) // the server ends or its lobby did just now: look again
	default:
		return err
	}
}

// useRunning makes clients of the very binary that the server runs, where the system lets us; false when that is of no
// use, or already done.
func (s *Server) useRunning() bool {
	pid := s.pidFile()
	if pid == 0 {
		return false
	}
	old := runningBinary(pid)
	if old == "" || old == s.program.path() {
		return false
	}
	s.program.running.Store(&old)
	return true
}

// look tells whether a server answers at the socket. A living server whose socket was removed is made to put it back.
func (s *Server) look(ctx context.Context) (found bool, err error) {
	listening, err := probe(ctx, s.program.layout.socket)
	if err != nil || listening {
		return listening, err
	}
	return s.revive(ctx)
}

// probe connects to the socket. False means that certainly nobody listens.
func probe(ctx context.Context, socket string) (bool, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	switch {
	case err == nil:
		return true, conn.Close()
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return false, nil
	case errors.Is(err, syscall.EAGAIN): // its queue is full: it lives but does not look
		return true, nil
	default:
		return false, err
	}
}

// keep makes the connection again after it was lost, so that events go on, but never starts a server for it.
func (s *Server) keep() {
	for {
		select {
		case <-s.life.Done():
			return
		case <-s.gone:
		}
		for wait := 50 * time.Millisecond; s.life.Err() == nil; wait = min(2*wait, callLimit) {
			ctx, cancel := context.WithTimeout(s.life, callLimit)
			_, err := s.connected(ctx, false)
			cancel()
			if err == nil || errors.Is(err, ErrNoServer) {
				break
			}
			if wait > time.Second {
				s.log.Warn("tmux cannot be reached", "err", err)
			}
			_ = pause(s.life, wait) // the loop looks at life itself
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
