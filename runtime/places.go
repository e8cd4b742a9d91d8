package runtime

import (
	"context"
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/git"
	"github.com/hitchpost/hitchpost/store"
)

// placeEvery is how often the branch of each live session's directory is looked up. It reads two small files.
const placeEvery = 10 * time.Second

// places are the sessions whose repository and branch should be looked up before the next round.
type places struct {
	mu   sync.Mutex
	ids  []string
	wake chan struct{}
}

func newPlaces() *places { return &places{wake: make(chan struct{}, 1)} }

func (p *places) add(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids = append(p.ids, id)
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *places) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := p.ids
	p.ids = nil
	return ids
}

// placeLoop keeps repository and branch of this node's sessions true: of live ones every so often, of a new one at
// once. Nothing is written while nothing changed.
func (s *Service) placeLoop(ctx context.Context) error {
	t := time.NewTicker(placeEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.places.wake:
			var some []hitchpost.Session
			for _, id := range s.places.take() {
				if session, ok := s.board.get(id); ok {
					some = append(some, session)
				}
			}
			s.lookUpPlaces(ctx, some)
		case <-t.C:
			sessions, _, _ := s.board.all()
			s.lookUpPlaces(ctx, sessions)
		}
	}
}

func (s *Service) lookUpPlaces(ctx context.Context, sessions []hitchpost.Session) {
	var moved []store.Place
	var retitled []hitchpost.Session
	for _, session := range sessions {
		if session.Node != s.Node.Name || !session.State.Live() {
			continue
		}
		head, err := git.Find(ctx, session.Cwd)
		if err != nil {
			s.Log.Debug("branch not read", "session", session.ID, "err", err)
			continue
		}
		if head.Repo != session.Repo || head.Branch != session.Branch {
			moved = append(moved, store.Place{ID: session.ID, Repo: head.Repo, Branch: head.Branch})
			session.Repo, session.Branch = head.Repo, head.Branch
			retitled = append(retitled, session)
		}
	}
	if len(moved) == 0 {
		return
	}
	if err := s.Store.SetPlace(ctx, moved); err != nil && ctx.Err() == nil {
		s.Log.Warn("branches not written", "err", err)
		return // the next round finds them again
	}
	for _, session := range retitled {
		s.retitle(ctx, session)
	}
}
