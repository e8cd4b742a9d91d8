package tmux

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
)

// spares is how many clients wait ready, so that an attach need not start one.
const spares = 2

// entering bounds how many clients may be starting at once, whatever the number of people who attach.
const entering = 4

// park keeps clients ready in the lobby: of the class and the size that were asked for last.
type park struct {
	s     *Server
	doors chan struct{} // one token for each client that may be starting
	want  chan struct{} // wakes tend

	mu    sync.Mutex
	class class
	size  hitchpost.Size
	ready []*parked
	shut  bool
}

func newPark(s *Server) *park {
	p := &park{s: s, doors: make(chan struct{}, entering), want: make(chan struct{}, 1), class: anyTerminal(),
		size: hitchpost.Size{Cols: 80, Rows: 24}}
	p.want <- struct{}{}
	return p
}

// take returns a client of that class and size: settled, its buffer empty. The caller owns it.
func (p *park) take(ctx context.Context, k class, size hitchpost.Size) (*parked, error) {
	defer p.nudge()
	for {
		c := p.pop(k, size)
		if c == nil {
			return p.enter(ctx, k, size)
		}
		err := c.Resize(size)
		c.size = size
		if err == nil {
			err = p.s.settle(ctx, c, nil)
		}
		if err == nil {
			return c, nil
		}
		_ = p.s.leave(c.Close)
		if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
	}
}

// pop takes a waiting client out, one of the same size if there is one, and remembers what is in demand.
func (p *park) pop(k class, size hitchpost.Size) *parked {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.class, p.size = k, size
	best := -1
	for i, c := range p.ready {
		if c.class == k && (best < 0 || c.size == size) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	c := p.ready[best]
	p.ready = slices.Delete(p.ready, best, best+1)
	return c
}

func (p *park) enter(ctx context.Context, k class, size hitchpost.Size) (*parked, error) {
	select {
	case p.doors <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-p.doors }()
	for try := range enterTries {
		c, err := p.s.enter(ctx, k, size)
		if !errors.Is(err, errEnded) {
			return c, err
		}
		if err := p.mend(ctx); err != nil {
			return nil, err
		}
		if err := pause(ctx, time.Duration(try)*10*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return p.s.enter(ctx, k, size)
}

// enterTries is how often what keeps a client out of the lobby is mended before that is an error.
const enterTries = 4

// mend does what can be done about a client that ended before it was in the lobby.
func (p *park) mend(ctx context.Context) error {
	// The connection may be older than what is wrong with the socket: look at that, and have it put back.
	switch found, lerr := p.s.look(ctx); {
	case lerr != nil:
		return lerr
	case !found:
		return ErrNoServer
	}
	if err := p.s.identify(ctx); mismatched(err) {
		p.s.useRunning() // the binary was replaced; if that is no help, the next try says so
	}
	// The control client waits in the lobby too: where that has ended, so has it, and its return makes another lobby.
	_, err := p.s.connected(ctx, false)
	return err
}

func (p *park) nudge() {
	select {
	case p.want <- struct{}{}:
	default:
	}
}

// tend fills the park until the server is closed. It never starts a tmux server.
func (p *park) tend() {
	for {
		select {
		case <-p.s.life.Done():
			return
		case <-p.want:
		}
		for wait := 50 * time.Millisecond; p.s.life.Err() == nil; wait = min(2*wait, callLimit) {
			err := p.fill()
			if err == nil || errors.Is(err, ErrNoServer) {
				break
			}
			if wait > time.Second {
				p.s.log.Warn("no tmux client can be kept ready", "err", err)
			}
			_ = pause(p.s.life, wait) // the loop looks at life itself
		}
	}
}

// fill adds one client after the other until enough wait.
func (p *park) fill() error {
	for {
		k, size, old, missing := p.lack()
		for _, c := range old {
			_ = p.s.leave(c.Close)
		}
		if missing == 0 || p.s.life.Err() != nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(p.s.life, callLimit)
		c, err := p.enter(ctx, k, size)
		cancel()
		if err != nil {
			return err
		}
		p.mu.Lock()
		if p.shut {
			p.mu.Unlock()
			return p.s.leave(c.Close)
		}
		p.ready = append(p.ready, c)
		p.mu.Unlock()
	}
}

// lack tells what is missing, and takes out what ended or is of a class that is no longer in demand.
func (p *park) lack() (k class, size hitchpost.Size, old []*parked, missing int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.ready[:0]
	for _, c := range p.ready {
		select {
		case <-c.Done():
			old = append(old, c)
			continue
		default:
		}
		if c.class != p.class && len(kept) >= spares-1 {
			old = append(old, c)
			continue
		}
		kept = append(kept, c)
	}
	clear(p.ready[len(kept):])
	p.ready = kept
	return p.class, p.size, old, max(spares-len(kept), 0)
}

// close ends all that wait.
func (p *park) close() {
	p.mu.Lock()
	ready := p.ready
	p.ready, p.shut = nil, true
	p.mu.Unlock()
	for _, c := range ready {
		_ = p.s.leave(c.Close)
	}
}
