package tmux

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hitchpost/hitchpost"
)

// live is where a view's bytes come from and go to once the replay is out. Today it is the PTY of a tmux client, for
// which tmux draws: bursts that scroll more than a screen at once leave gaps in the terminal's scrollback. A source
// that carries the pane's own output can take its place; whatever it is, its first bytes draw the screen as it was at
// the cut.
type live interface {
	io.Reader
	ReadReady(p []byte) (int, error)
	WriteWithin(p []byte, limit time.Duration) (int, error)
	SetReadDeadline(time.Time) error
	Resize(hitchpost.Size) error
	BytesRead() int64
	Done() <-chan struct{}
	Close() error
}

// View is a terminal's window on a session. Its methods may be called at the same time, but for two Reads.
type View struct {
	s        *Server
	live     live
	tty, at  string // of the client, and what it shows
	readOnly bool
	writing  sync.Mutex

	replay []byte // what goes out first; only Read and play touch it, play before any Read
	held   *held  // what goes out next
	caught bool   // nothing is held any more; only Read touches it

	delivered atomic.Int64 // of the live bytes, those that Read returned
	closing   sync.Once
	closed    chan struct{}
}

// writeLimit is how long typing may wait for a tmux that does not read.
const writeLimit = time.Second

func newView(s *Server, c *parked, a Attach) *View {
	v := &View{s: s, live: c.Process, tty: c.TTY(), at: target(a.Session), readOnly: a.ReadOnly,
		closed: make(chan struct{})}
	v.delivered.Store(c.BytesRead())
	v.held = holdFrom(v.live) // until Read gets there
	return v
}

// play sets what Read gives first.
func (v *View) play(replay []byte) { v.replay = replay }

// Read returns the replay, then the screen, then whatever the session prints, untouched. It waits until there is
// something, and returns what there is up to len(p) without allocating. io.EOF once the tmux client ended or the view
// was closed. One reader at a time.
func (v *View) Read(p []byte) (int, error) { return v.next(p, true) }

// ReadReady is Read, except that it returns 0 and no error where Read would wait.
func (v *View) ReadReady(p []byte) (int, error) { return v.next(p, false) }

func (v *View) next(p []byte, wait bool) (n int, err error) {
	if len(v.replay) > 0 {
		n := copy(p, v.replay)
		if v.replay = v.replay[n:]; len(v.replay) == 0 {
			v.replay = nil // it can be megabytes
		}
		return n, nil
	}
	if !v.caught {
		if n := v.held.read(p); n > 0 {
			v.delivered.Add(int64(n))
			return n, nil
		}
		v.caught = true
	}
	if wait {
		n, err = v.live.Read(p)
	} else {
		n, err = v.live.ReadReady(p)
	}
	v.delivered.Add(int64(n))
	return n, err
}

// Write types p into the session. A read-only view drops it. It waits while tmux takes some of it; UnavailableError when
// tmux took nothing for a second, with what was typed until then.
func (v *View) Write(p []byte) (int, error) {
	if v.readOnly {
		return len(p), nil
	}
	v.writing.Lock()
	defer v.writing.Unlock()
	select {
	case <-v.Done():
		return 0, io.ErrClosedPipe
	default:
	}
	for typed := 0; ; {
		n, err := v.live.WriteWithin(p[typed:], writeLimit)
		typed += n
		switch {
		case err == nil:
			return typed, nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return typed, io.ErrClosedPipe
		case n == 0:
			return typed, &hitchpost.Error{Kind: hitchpost.UnavailableError, Message: "tmux takes no input", Cause: err}
		}
	}
}

// Resize tells the session the terminal's new size, which a read-only view keeps to itself. It never blocks.
func (v *View) Resize(size hitchpost.Size) error { return v.live.Resize(size.Clamp()) }

// Done is closed once the tmux client of the view ended: the session is gone, or tmux let go of the client.
func (v *View) Done() <-chan struct{} { return v.live.Done() }

// Tail waits until Read has returned all that tmux has written for this view, while another goroutine reads. It is for
// the end of a session: a pane whose process ended says no more. It ends early when the client did.
//
// What tmux itself has not read when a pane's process ends is lost: it closes the pane at once. So the program that
// runs in a pane must see to it that tmux has taken all, which it does once it has answered a question such as
// CSI 5 n (device status report).
func (v *View) Tail(ctx context.Context) error {
	for since, last := time.Now(), int64(-1); ; {
		select {
		case <-v.Done():
			return nil
		case <-v.closed:
			return nil
		default:
		}
		out, err := v.s.call(ctx, false, askClient(v.tty, v.at))
		if err != nil {
			return told("wait for the end of the output", err)
		}
		var c clientState
		rest := writePause
		if c.parse(out) && c.discarded > 0 {
			rest = redrawPause
		}
		if c.written != last || v.delivered.Load() < c.written {
			since, last = time.Now(), c.written
		} else if time.Since(since) > rest {
			return nil
		}
		if err := pause(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

const (
	// writePause is longer than tmux takes to go on writing once a full PTY has room again, on a busy machine too.
	writePause = 60 * time.Millisecond
	// redrawPause is longer than tmux waits, up to twice, before it draws anew for a terminal that fell behind.
	redrawPause = 250 * time.Millisecond
)

// Close ends the view and waits for its tmux client and all that belongs to it; a Read that waits returns io.EOF. It
// may be called again and at the same time as the rest.
func (v *View) Close() error {
	v.closing.Do(func() { close(v.closed) })
	err := v.s.leave(v.live.Close)
	v.held.stop()
	return err
}
