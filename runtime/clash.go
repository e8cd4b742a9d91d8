package runtime

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
)

const (
	// clashEvery is how often it is looked up which agents share a working tree, although nothing was heard of: others than
	// sessions come and go too.
	clashEvery = 10 * time.Second
	// clashPause is the least time between two such looks.
	clashPause = time.Second
)

// clashes are the agents that share a working tree with one of a session, as of the last look.
type clashes struct {
	wake chan struct{} // asks for a look; holds one

	mu sync.Mutex
	of map[string][]worker // by the session's id
}

func newClashes() *clashes { return &clashes{wake: make(chan struct{}, 1)} }

// look asks for a look soon. It never blocks.
func (c *clashes) look() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// set takes what a look has found, and reports whether that is news.
func (c *clashes) set(of map[string][]worker) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(of) == 0 && len(c.of) == 0 || reflect.DeepEqual(of, c.of) {
		return false
	}
	c.of = of
	return true
}

// mark puts on sessions what is known of their clashes. What has ended since is left out.
func (c *clashes) mark(sessions []hitchpost.Session, live func(id string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, session := range sessions {
		sessions[i].Clash = nil
		for _, w := range c.of[session.ID] {
			if !session.State.Ended() && (w.session == "" || live(w.session)) {
				sessions[i].Clash = append(sessions[i].Clash, w.OtherProcess)
			}
		}
	}
}

// withClash is a session with what is known of its clashes.
func (s *Service) withClash(session hitchpost.Session) hitchpost.Session {
	one := []hitchpost.Session{session}
	s.clashes.mark(one, s.board.live)
	return one[0]
}

// live reports whether an open session has not ended.
func (b *board) live(id string) bool {
	session, ok := b.get(id)
	return ok && !session.State.Ended()
}

// clashLoop keeps true which agents share a working tree.
func (s *Service) clashLoop(ctx context.Context) error {
	t := time.NewTicker(clashEvery)
	defer t.Stop()
	for {
		s.lookForClashes(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(clashPause):
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.clashes.wake:
		case <-t.C:
		}
	}
}

// lookForClashes makes one look. The processes are looked at only where a session could be one of two.
func (s *Service) lookForClashes(ctx context.Context) {
	found, err := ask(ctx, s.procs, func() ([]worker, error) {
		if !s.anyLive() {
			return nil, nil
		}
		limited, cancel := context.WithTimeout(s.background, callLimit)
		defer cancel()
		return s.workers(limited)
	})
	if err != nil {
		if ctx.Err() == nil {
			s.Log.Debug("clashes not looked for", "err", err)
		}
		return // what was known stays
	}
	if s.clashes.set(clashing(found)) {
		s.board.ring()
	}
}

// anyLive reports whether a session of this node has not ended: a shell may run an agent, too.
func (s *Service) anyLive() bool {
	sessions, _, _ := s.board.all()
	for _, session := range sessions {
		if session.Node == s.Node.Name && !session.State.Ended() {
			return true
		}
	}
	return false
}

// clashing lists for each session the agents that are not its own and work where one of its own does.
func clashing(all []worker) map[string][]worker {
	of := map[string][]worker{}
	for _, own := range all {
		if own.session == "" || own.tree == "" {
			continue
		}
		for _, w := range all {
			if w.tree == own.tree && w.session != own.session {
				of[own.session] = append(of[own.session], w)
			}
		}
	}
	return of
}

// ring tells all who wait for a change, of what is shown with the board.
func (b *board) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wake()
}
