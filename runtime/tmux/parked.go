package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/pty"
)

// parked is a tmux client on a PTY that waits in the lobby.
type parked struct {
	*pty.Process
	class class
	size  hitchpost.Size
	modes []byte // see startModes
}

// scratch are buffers for what is read from a PTY and not kept.
var scratch = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// enter starts a client in the lobby and waits until it is drawn and drained.
func (s *Server) enter(ctx context.Context, k class, size hitchpost.Size) (*parked, error) {
	cmd := s.program.client(context.WithoutCancel(ctx), []string{"-T", k.features()},
		"attach-session", "-E", "-t", "="+lobby+":")
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "TERM="+k.term)
	// The terminal is standard input alone: at its end the client prints a line about it, which is for nobody.
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	cmd.Stdout, cmd.Stderr = null, null
	p := &parked{class: k, size: size}
	var written []byte
	err = s.calmly(ctx, func() (err error) {
		if p.Process, err = pty.Start(cmd, size); err != nil {
			return err
		}
		return p.gather(ctx, &written, func() bool { return len(written) > 0 }) // then it is attached
	})
	if err == nil {
		err = s.greet(ctx, p, written)
	}
	if err != nil {
		if p.Process != nil {
			_ = s.leave(p.Close)
		}
		return nil, fmt.Errorf("wait in the lobby: %w", err)
	}
	return p, nil
}

// questions are what tmux asks a terminal at its start, and how a plain one answers: primary and secondary device
// attributes, name and version. Unanswered, tmux would wait for five seconds, then set modes and draw again; with the
// answers it does so at once. One that was not asked would be typed into the lobby.
func questions() [3]struct{ ask, answer string } {
	return [3]struct{ ask, answer string }{
		{"\x1b[c", "\x1b[?62;22c"},
		{"\x1b[>c", "\x1b[>0;0;0c"},
		{"\x1b[>q", "\x1bP>|hitchpost\x1b\\"},
	}
}

// answerLimit is how long to wait for what tmux is expected to write; a version may write nothing.
const answerLimit = 250 * time.Millisecond

// drawn ends each redraw; see Sync in the settings.
const drawn = "\x1b[?2026l"

// greet waits until a new client is drawn for good, answers what tmux asks, and takes down the modes it set.
func (s *Server) greet(ctx context.Context, p *parked, written []byte) error {
	// A client is drawn twice: once it is attached, and once it hears of that and reports its size. Switched between
	// the two, it would be drawn after the cut.
	twice := func() bool { return bytes.Count(written, []byte(drawn)) >= 2 }
	if err := p.gather(ctx, &written, twice); err != nil {
		return err
	}
	if err := s.settle(ctx, p, &written); err != nil {
		return err
	}
	answers := ""
	for _, q := range questions() {
		if bytes.Contains(written, []byte(q.ask)) {
			answers += q.answer
		}
	}
	if answers != "" {
		if _, err := p.Write([]byte(answers)); err != nil {
			return err
		}
		before := len(written)
		if err := p.gather(ctx, &written, func() bool { return len(written) > before }); err != nil {
			return err
		}
		if err := s.settle(ctx, p, &written); err != nil {
			return err
		}
	}
	p.modes = startModes(written)
	return p.SetReadDeadline(time.Time{})
}

// gather reads until enough, or until tmux pauses for answerLimit after it wrote something at all.
func (p *parked) gather(ctx context.Context, written *[]byte, enough func() bool) error {
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	for !enough() {
		limit, bounded := ctx.Deadline()
		if soon := time.Now().Add(answerLimit); len(*written) > 0 && (!bounded || soon.Before(limit)) {
			limit, bounded = soon, true
		}
		if !bounded {
			limit = time.Time{}
		}
		if err := p.SetReadDeadline(limit); err != nil {
			return err
		}
		n, err := p.Read(*buf)
		*written = append(*written, (*buf)[:n]...)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil && len(*written) > 0:
			return nil
		case err != nil:
			return unless(ctx, err)
		}
	}
	return nil
}

// unless prefers the reason of a context that ended.
func unless(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return context.DeadlineExceeded
	case errors.Is(err, io.EOF):
		return errEnded
	}
	return err
}

// calm is how often in a row tmux must have nothing more for a client. A change it was told of is drawn in the turn
// after; the second answer comes from a later turn.
const calm = 2

// settle waits until tmux has taken the client's size, has drawn it, and all it wrote was read. What was read is
// appended to written unless that is nil. Only then is the client's buffer in tmux empty, on which the cut depends.
func (s *Server) settle(ctx context.Context, p *parked, written *[]byte) error {
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	for quiet := 0; ; {
		out, err := s.call(ctx, false, askClient(p.TTY(), "="+lobby+":"))
		if err != nil {
			return err
		}
		var c clientState
		// Before it is attached, or while an earlier client of this name is still on its way out, another one answers.
		ready := c.parse(out) && c.pid == p.Pid() && c.width == p.size.Cols && c.height == p.size.Rows
		for {
			n, err := p.ReadReady(*buf)
			if err != nil {
				return unless(ctx, err)
			}
			if n == 0 {
				break
			}
			if written != nil {
				*written = append(*written, (*buf)[:n]...)
			}
		}
		if ready && c.written == p.BytesRead() {
			if quiet++; quiet >= calm {
				return nil
			}
			continue
		}
		quiet = 0
		if err := pause(ctx, 200*time.Microsecond); err != nil {
			return err
		}
	}
}

// clientState is what tmux tells of a client.
type clientState struct {
	pid, width, height int
	written            int64 // bytes to its terminal so far
	discarded          int64 // bytes that were thrown away as it did not take them
}

// askClient asks for a client that shows the session at. For one that shows another, tmux would tell of the client
// that was used last there.
func askClient(tty, at string) command {
	return command{"display-message", "-p", "-c", tty, "-t", at,
		"#{client_pid} #{client_width} #{client_height} #{client_written} #{client_discarded}"}
}

func (c *clientState) parse(out string) bool {
	n, err := fmt.Sscan(out, &c.pid, &c.width, &c.height, &c.written, &c.discarded)
	return err == nil && n == 5
}
