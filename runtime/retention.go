package runtime

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// retentionEvery is how often what is old is removed.
const retentionEvery = time.Hour

// retentionKeep is how many events are kept at most, so that nothing that goes wrong again and again fills the disk.
const retentionKeep = 1_000_000

// retentionLoop removes events older than EventRetention, and the files of sessions closed for as long.
func (s *Service) retentionLoop(ctx context.Context) error {
	return every(ctx, retentionEvery, func() {
		if err := s.pruneEvents(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("old events not removed", "err", err)
		}
		s.sweepRuns(ctx)
		s.pruneTasks(ctx, time.Now())
		s.keepTranscripts(ctx, time.Now())
		s.pruneCheckpoints(ctx, time.Now())
	})
}

func (s *Service) pruneEvents(ctx context.Context) error {
	before, err := s.Store.PruneBefore(ctx, s.EventRetention)
	if err != nil {
		return err
	}
	n, err := s.Store.PruneEvents(ctx, before, retentionKeep)
	if n > 0 {
		s.Log.Info("old events removed", "count", n)
	}
	s.pruneFolders(ctx, before)
	return err
}

func (s *Service) pruneFolders(ctx context.Context, before time.Time) {
	entries, err := os.ReadDir(filepath.Join(s.folder.root, "sessions"))
	if err != nil {
		s.Log.Warn("session folders not listed", "err", err)
		return
	}
	for _, e := range entries {
		if _, open := s.board.get(e.Name()); open || ctx.Err() != nil {
			continue
		}
		session, err := s.Store.Session(ctx, e.Name())
		if err != nil || session.Open() || session.ClosedAt.After(before) {
			continue // what the store does not know may come back with a restored backup
		}
		if err := s.folder.remove(session.ID, session.Restarts); err != nil {
			s.Log.Warn("files of a closed session not removed", "session", session.ID, "err", err)
		}
	}
}
