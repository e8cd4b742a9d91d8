package runtime

import (
	"context"

	"github.com/hitchpost/hitchpost"
)

// Snapshot returns the open sessions as last known, and the health of each part. It answers from memory.
func (s *Service) Snapshot() ([]hitchpost.Session, hitchpost.Status) {
	sessions, database, nodes := s.board.all()
	s.clashes.mark(sessions, s.board.live)
	status := hitchpost.Status{
		Version: s.Version, Started: s.started, Database: database, Nodes: nodes,
		Sessions: map[hitchpost.State]int{}, Clients: s.views.count(""),
	}
	for _, session := range sessions {
		status.Sessions[session.State]++
	}
	return sessions, status
}

// Status returns the health of each part, asking the database for a sign of life. An absent database is part of the
// answer and no error.
func (s *Service) Status(ctx context.Context, a hitchpost.Actor) (hitchpost.Status, error) {
	if err := a.Require(hitchpost.Look); err != nil {
		return hitchpost.Status{}, err
	}
	s.checkDatabase(ctx)
	_, status := s.Snapshot()
	return status, nil
}

// Watch returns a channel that gets a value after changes to what Snapshot returns; several changes may give one
// value. It is closed once ctx ends.
func (s *Service) Watch(ctx context.Context) <-chan struct{} {
	out := make(chan struct{}, 1)
	s.goDo(func() {
		defer close(out)
		for {
			changed := s.board.next()
			select {
			case <-ctx.Done():
				return
			case <-s.background.Done():
				return
			case <-changed:
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	})
	return out
}
