package runtime

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hitchpost/hitchpost"
)

// goneMark is what the name of a task's folder begins with while it is removed. What begins with a dot is no task.
const goneMark = ".gone-"

// keptTask is an ended task and what its files take.
type keptTask struct {
	id    string
	at    time.Time // of its end, or of its start where nobody saw the end
	bytes int64
}

// unhurried is before, or a day after the oldest task where that is earlier: as for events, a clock that was set far
// ahead by mistake must not cost all at once. It is pure.
func unhurried(before time.Time, kept []keptTask) time.Time {
	for _, t := range kept {
		if day := t.at.Add(24 * time.Hour); day.Before(before) {
			before = day
		}
	}
	return before
}

// outdated are the tasks that go: those from before a time, and the oldest of those that take more than space together.
// 0 sets no limit to space. It is pure.
func outdated(kept []keptTask, before time.Time, space int64) []string {
	slices.SortFunc(kept, func(a, b keptTask) int { return b.at.Compare(a.at) })
	var ids []string
	var sum int64
	for _, t := range kept {
		sum += t.bytes
		if t.at.Before(before) || space > 0 && sum > space {
			ids = append(ids, t.id)
		}
	}
	return ids
}

// pruneTasks removes the tasks of this node that ended too long ago or take too much space, and what was left of earlier
// removals. A running task always stays.
func (s *Service) pruneTasks(ctx context.Context, now time.Time) {
	s.clearTaskLeftovers(now)
	list, err := s.Store.Tasks(ctx, hitchpost.TaskListRequest{Node: s.Node.Name})
	if err != nil {
		s.warnTask(ctx, "old tasks not looked for", "", err)
		return
	}
	var kept []keptTask
	for _, t := range list {
		if !t.State.Ended() {
			continue
		}
		k := keptTask{id: t.ID, at: t.EndedAt, bytes: size(s.folder.task(t.ID))}
		if k.at.IsZero() {
			k.at = t.StartedAt
		}
		kept = append(kept, k)
	}
	var before time.Time
	if s.TaskRetention > 0 {
		before = unhurried(now.Add(-s.TaskRetention), kept)
	}
	for _, id := range outdated(kept, before, s.TaskSpace) {
		if ctx.Err() != nil {
			return
		}
		if err := s.removeTask(ctx, id); err != nil {
			s.warnTask(ctx, "old task not removed", id, err)
			continue
		}
		s.Log.Info("old task removed", "task", id)
	}
}

// removeTask removes all of an ended task. Its folder goes first, and out of the way at once: a task that only the store
// knows is one without files, while a folder that the store does not know would be taken in again.
func (s *Service) removeTask(ctx context.Context, id string) error {
	gone := filepath.Join(s.folder.tasks(), goneMark+id)
	if err := os.Rename(s.folder.task(id), gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(s.Store.RemoveTask(ctx, id), os.RemoveAll(gone))
}

// leftoverAge is how old a folder must be that nobody is at work on any more.
const leftoverAge = time.Hour

func (s *Service) clearTaskLeftovers(now time.Time) {
	entries, err := os.ReadDir(s.folder.tasks())
	if err != nil {
		return // there are no tasks yet, or pruneTasks tells of it
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), ".") || now.Sub(info.ModTime()) < leftoverAge {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.folder.tasks(), e.Name())); err != nil {
			s.Log.Warn("left folder of a task not removed", "folder", e.Name(), "err", err)
		}
	}
}

// size is what the files below dir take, as far as they can be read.
func size(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what is gone takes no space
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
