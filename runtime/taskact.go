package runtime

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/task"
	"github.com/hitchpost/hitchpost/runtime/tmux"
	"github.com/hitchpost/hitchpost/store"
)

// reconcileTasks holds the tasks that the store has as running against what tmux runs and what their folders tell. They
// must have been read before tmux was asked, and tmux answered healthily.
func (s *Service) reconcileTasks(ctx context.Context, stored []hitchpost.Task, panes []tmux.Pane) {
	running := make(map[string]tmux.Pane, len(panes))
	for _, p := range panes {
		running[p.Session] = p
	}
	ends := 0
	for _, t := range stored {
		pane, has := running[t.ID]
		delete(running, t.ID)
		if s.tasks.begins(t.ID) {
			continue
		}
		seen := taskSeen{inTmux: has && !pane.Dead}
		s.watchTask(t.ID) // before the look: an end in between is not missed
		seen.folder, seen.err = task.Look(s.folder.task(t.ID))
		if seen.err != nil {
			s.Log.Warn("files of a task not read", "task", t.ID, "err", seen.err)
		}
		if end := planTask(time.Now(), t, seen); end != nil {
			if ends++; ends > tasksEach {
				s.Wake() // for the rest
				continue
			}
			s.endTask(ctx, t, seen, *end)
		}
	}
	for id, pane := range running { // of tasks that the store does not have as running
		if pane.Dead {
			s.warnTask(ctx, "what is left of a task not cleared away", id, s.Tmux.KillTask(ctx, id))
			continue
		}
		s.warnTask(ctx, "task not adopted", id, s.adoptTask(ctx, id))
	}
	if s.tasks.scan() {
		s.adoptFolders(ctx)
	}
}

func (s *Service) warnTask(ctx context.Context, what, id string, err error) {
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("reconcile step failed", "step", what, "task", id, "err", err)
	}
}

// endTask records how a task ended. One that never came up is cancelled first, so that it never will.
func (s *Service) endTask(ctx context.Context, t hitchpost.Task, seen taskSeen, end store.TaskEnd) {
	if end.Change == hitchpost.ChangeTaskNotStarted && seen.err == nil {
		if err := task.Cancel(s.folder.task(t.ID)); err != nil {
			s.warnTask(ctx, "task not kept from starting", t.ID, err)
			return
		}
	}
	_, err := s.finishTask(ctx, t, end)
	if hitchpost.KindOf(err) != hitchpost.ConflictError { // else somebody was quicker
		s.warnTask(ctx, "end of a task not recorded", t.ID, err)
	}
}

// finishTask tells the store of an end, and then those who wait for it.
func (s *Service) finishTask(ctx context.Context, t hitchpost.Task, end store.TaskEnd) (hitchpost.Task, error) {
	if end.By == (store.By{}) {
		end.By = store.By{Source: hitchpost.FromExit}
		if end.Exit == nil {
			end.By.Source = hitchpost.FromReconciler
		}
	}
	end.By.Reason = end.Reason
	got, err := s.Store.FinishTask(ctx, t.ID, end)
	if err != nil {
		return t, err
	}
	s.tasks.unwatch(s.folder.task(t.ID))
	s.tasks.ended.ring()
	s.Log.Info("task ended", "task", t.ID, "state", string(got.State), "reason", got.Reason)
	return got, nil
}

// tasksEach is how many ends of tasks one pass records, and how many tasks on disk it takes in. The sessions wait for
// the next pass, and at a start everybody waits for the first.
const tasksEach = 100

// adoptFolders takes in the tasks on disk that the store does not know, as one restored from an older backup does not.
func (s *Service) adoptFolders(ctx context.Context) {
	entries, err := os.ReadDir(s.folder.tasks())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.Log.Warn("task folders not listed", "err", err)
		return
	}
	stored, err := s.Store.Tasks(ctx, hitchpost.TaskListRequest{Node: s.Node.Name})
	if err != nil {
		s.warnTask(ctx, "task folders not held against the store", "", err)
		return
	}
	known := make(map[string]bool, len(stored))
	for _, t := range stored {
		known[t.ID] = true
	}
	adopted := 0
	for _, e := range entries {
		id, err := uuid.Parse(e.Name())
		if err != nil || id.String() != e.Name() || known[e.Name()] || s.tasks.begins(e.Name()) {
			continue
		}
		if adopted == tasksEach {
			s.Wake() // for the rest
			return
		}
		err = s.takeIn(ctx, e.Name())
		if hitchpost.KindOf(err) == hitchpost.ConflictError {
			continue // begun after the store was read
		}
		s.warnTask(ctx, "task not adopted", e.Name(), err)
		if hitchpost.KindOf(err) == hitchpost.UnavailableError {
			return // the next pass tries again
		}
		if err == nil { // one that cannot be would be the first again in the next pass
			adopted++
		}
	}
	s.tasks.scanDone()
}

// adoptTask takes in a task that is on this machine, unless the store knows it. How it stands is found out by the next
// pass.
func (s *Service) adoptTask(ctx context.Context, id string) error {
	if s.tasks.begins(id) {
		return nil
	}
	_, err := s.Store.Task(ctx, id)
	if hitchpost.KindOf(err) != hitchpost.NotFoundError {
		return err
	}
	return s.takeIn(ctx, id)
}

// takeIn tells the store of a task that it does not know.
func (s *Service) takeIn(ctx context.Context, id string) error {
	folder := s.folder.task(id)
	seen, err := task.Look(folder)
	if err != nil {
		return err
	}
	about := readAbout(folder)
	t := hitchpost.Task{
		ID: id, Name: about.Name, SessionID: about.Session, Node: s.Node.Name, Cwd: seen.Spec.Dir, Argv: seen.Spec.Argv,
		Timeout: seen.Spec.Timeout, StartedAt: about.AskedAt,
	}
	if hitchpost.CheckTaskName(t.Name) != nil {
		t.Name = "" // anybody of this account can write the file
	}
	if t.StartedAt.IsZero() {
		t.StartedAt = madeAt(id)
	}
	by := store.By{Actor: about.Actor, Source: hitchpost.FromReconciler, Reason: "found, unknown to the store"}
	_, err = s.Store.CreateTask(ctx, t, hitchpost.ChangeTaskFound, by)
	if hitchpost.KindOf(err) == hitchpost.NotFoundError && t.SessionID != "" {
		t.SessionID = ""
		_, err = s.Store.CreateTask(ctx, t, hitchpost.ChangeTaskFound, by)
	}
	if err != nil {
		return err
	}
	s.Log.Info("task adopted", "task", id)
	s.Wake()
	return nil
}

// madeAt is the time in an id of version 7.
func madeAt(id string) time.Time {
	u, err := uuid.Parse(id)
	if err != nil || u.Version() != 7 {
		return time.Time{}
	}
	sec, nsec := u.Time().UnixTime()
	return time.Unix(sec, nsec)
}
