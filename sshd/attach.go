package sshd

import (
	"context"
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
)

// attachment is one view of a session on one client's terminal, while it lasts.
type attachment struct {
	s      *session
	view   View
	viewer bool // what is typed is discarded

	left    chan struct{} // closed when the detach key was typed
	stalled chan struct{} // gets a token when the client has taken no output for too long

	stall *stallWatch

	mu   sync.Mutex // guards scan and what is typed
	scan scanner
	hold *time.Timer // made by the first Escape at the end of a packet
}

// view shows a session on the client's terminal until the view ends, the person leaves or the client does. With the
// error it has not begun; else the terminal is left as the session's programs made it.
func (s *session) view(ctx context.Context, req hitchpost.AttachRequest) (hitchpost.AttachEnd, error) {
	req.Terminal = s.terminalNow()
	req.Client = s.clientID()
	req.Clear = s.clears()
	view, err := s.conn.srv.cfg.Service.Attach(ctx, s.id.actor, req)
	if err != nil {
		return hitchpost.AttachEnd{}, err
	}
	s.attaches++
	a := &attachment{
		s: s, view: view, viewer: !s.id.actor.May(hitchpost.Drive),
		left: make(chan struct{}), stalled: make(chan struct{}, 1),
		scan: scanner{key: s.conn.srv.cfg.DetachKey},
	}
	a.stall = newStallWatch(s.conn.srv.cfg.Limits.Stall, s.conn.net.sending, a.stalled)
	end := a.run(ctx)
	s.log.Info("view ended", "session", end.Session.ID, "reason", end.Reason)
	return end, nil
}

// run moves bytes both ways until one side ends.
func (a *attachment) run(ctx context.Context) hitchpost.AttachEnd {
	shown := make(chan struct{})
	if !a.s.start("view", func() {
		defer close(shown)
		a.show()
	}) {
		close(shown)
	}
	a.s.in.push(a.take)
	end, hangs := a.wait(ctx, shown)
	a.s.in.pause()
	a.stopHold()
	a.stall.stop()
	if hangs {
		return end
	}
	// A view that was closed gives no more, but the last write may hang in a client that takes nothing.
	t := time.NewTimer(a.s.conn.srv.cfg.Limits.Farewell)
	defer t.Stop()
	select {
	case <-shown:
	case <-t.C:
	}
	return end
}

// wait returns when the view is over, and has closed it. The second value is true where a write is known to hang.
func (a *attachment) wait(ctx context.Context, shown <-chan struct{}) (hitchpost.AttachEnd, bool) {
	for {
		select {
		case size := <-a.s.sizes.changed:
			if err := a.view.Resize(size); err != nil {
				a.s.log.Debug("cannot resize", "session", a.view.Session().ID, "err", err)
			}
		case <-a.left:
			return a.view.Close(hitchpost.EndDetached, ""), false
		case <-a.stalled:
			return a.view.Close(hitchpost.EndCut, cutLine(a.s.conn.srv.cfg.Limits.Stall)), true
		case <-shown:
			return a.over(), false
		case <-ctx.Done():
			return a.cut(ctx), false
		}
	}
}

// over is the end of a view that has nothing more to show, or whose client takes nothing more.
func (a *attachment) over() hitchpost.AttachEnd {
	select {
	case <-a.view.Done():
		end := a.view.End()
		a.view.Close(end.Reason, end.Message)
		return end
	default:
		return a.view.Close(hitchpost.EndDetached, "")
	}
}

// cut is the end of a view whose client has gone, or whose connection the server ends.
func (a *attachment) cut(ctx context.Context) hitchpost.AttachEnd {
	if why := reason(ctx); why != nil {
		return a.view.Close(hitchpost.EndCut, why.Error())
	}
	return a.view.Close(hitchpost.EndDetached, "")
}

// take is what is typed: the sink of the input.
func (a *attachment) take(p []byte) (int, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n, found := a.scan.scan(p, a.typed)
	if found {
		close(a.left)
		return n, false
	}
	if d := a.scan.held(); d > 0 {
		if a.hold == nil {
			a.hold = time.AfterFunc(d, a.release)
		} else {
			a.hold.Reset(d)
		}
	}
	return n, true
}

// typed hands keys to the session. A viewer's go nowhere: that is for the front door to see to, whatever the view does
// with them.
func (a *attachment) typed(p []byte) {
	if !a.viewer {
		_, _ = a.view.Write(p)
	}
}

// release gives up waiting for the rest of a sequence. It runs in a timer's own goroutine.
func (a *attachment) release() {
	defer guard(a.s.log)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.scan.flush(a.typed)
}

func (a *attachment) stopHold() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hold != nil {
		a.hold.Stop()
	}
}

// clientID is the id that a client gave itself, or empty.
func (s *session) clientID() string {
	const longest = 64
	id := s.env.value("HITCHPOST_CLIENT")
	if len(id) > longest {
		return ""
	}
	return id
}

// reconnects tells whether this is a client that lost its connection and came back by itself: its terminal shows what
// it was sent before.
func (s *session) reconnects() bool { return s.env.value("HITCHPOST_RECONNECT") == "1" }

// clears tells whether the terminal's scrollback holds lines of an earlier attach, so that it must be erased before
// the replay. What was there before the first attach of a terminal is the person's own.
func (s *session) clears() bool {
	switch s.env.value("HITCHPOST_CLEAR") {
	case "always":
		return true
	case "never":
		return false
	}
	return s.attaches > 0 || s.reconnects()
}
