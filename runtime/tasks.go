package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/task"
)

// Tasks lists the tasks that r chooses, oldest first.
func (s *Service) Tasks(
	ctx context.Context, a hitchpost.Actor, r hitchpost.TaskListRequest,
) ([]hitchpost.Task, error) {
	if err := a.Require(hitchpost.Look); err != nil {
		return nil, err
	}
	if r.Session != "" {
		session, err := s.Show(ctx, a, r.Session)
		if err != nil {
			return nil, err
		}
		r.Session = session.ID
	}
	wanted := r.States
	if len(wanted) > 0 && !slices.Contains(wanted, hitchpost.TaskRunning) {
		r.States = append(slices.Clone(wanted), hitchpost.TaskRunning) // it may have ended, see asSeen
	}
	list, err := s.Store.Tasks(ctx, r)
	if err != nil {
		return nil, err
	}
	for i, t := range list {
		list[i] = s.asSeen(t)
	}
	return slices.DeleteFunc(list, func(t hitchpost.Task) bool {
		return len(wanted) > 0 && !slices.Contains(wanted, t.State)
	}), nil
}

// Task returns one task by its id or the beginning of it, or the one that the actor started last by "last".
func (s *Service) Task(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.Task, error) {
	if err := a.Require(hitchpost.Look); err != nil {
		return hitchpost.Task{}, err
	}
	if ref == "last" {
		t, err := s.Store.LastTask(ctx, a.Name)
		return s.asSeen(t), err
	}
	t, err := s.Store.Task(ctx, ref)
	return s.asSeen(t), err
}

// asSeen is t with what its folder tells of it. The end of a task is durable there before anybody is told, and the store
// is told a moment later: whoever has learned of an end finds it wherever he asks next.
func (s *Service) asSeen(t hitchpost.Task) hitchpost.Task {
	if t.State != hitchpost.TaskRunning || t.Node != s.Node.Name {
		return t
	}
	seen, err := task.Look(s.folder.task(t.ID))
	switch {
	case err != nil:
		return t // the reconciler tells of it
	case seen.Record == nil:
		t.LogBytes = seen.LogBytes
		return t
	}
	s.Wake()
	return endedBy(t, taskEnd(seen.Spec, *seen.Record))
}

// taskHere is nil for a task whose files are on this machine.
func (s *Service) taskHere(t hitchpost.Task) error {
	if t.Node == s.Node.Name {
		return nil
	}
	return hitchpost.Errorf(hitchpost.ConflictError, "task %s runs on node %s", t.ID, t.Node).
		Hinted("connect to that machine")
}

// WaitTask returns a task once it has ended, or with the cause of the end of ctx.
func (s *Service) WaitTask(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.Task, error) {
	t, err := s.Task(ctx, a, ref)
	if err != nil || t.State.Ended() {
		return t, err
	}
	if err := s.taskHere(t); err != nil {
		return t, err
	}
	s.watchTask(t.ID)
	for {
		changed := s.tasks.ended.next()
		if t, err = s.lookAtTask(ctx, t); err != nil || t.State.Ended() {
			return t, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return t, context.Cause(ctx)
		}
	}
}

// lookAtTask is t as it is now. The store is asked only where the folder cannot tell; while it is away the answer is
// that of the folder.
func (s *Service) lookAtTask(ctx context.Context, t hitchpost.Task) (hitchpost.Task, error) {
	seen, err := task.Look(s.folder.task(t.ID))
	if err == nil && seen.Record == nil && seen.Alive {
		return t, nil
	}
	if now := s.asSeen(t); now.State.Ended() {
		return now, nil
	}
	now, err := s.Store.Task(ctx, t.ID)
	if hitchpost.KindOf(err) == hitchpost.UnavailableError {
		return t, nil
	}
	return s.asSeen(now), err
}

// cancelLimit is how long the end of a cancelled task is waited for.
const cancelLimit = task.CancelGrace + 10*time.Second

// CancelTask ends a running task: TERM to all its processes, KILL after ten seconds. It returns the task once it has
// ended; the end comes also when ctx ends first.
func (s *Service) CancelTask(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.Task, error) {
	if err := a.Require(hitchpost.Drive); err != nil {
		return hitchpost.Task{}, err
	}
	t, err := s.Task(ctx, a, ref)
	if err != nil {
		return t, err
	}
	if err := s.taskHere(t); err != nil {
		return t, err
	}
	if t.State.Ended() {
		return t, endedAlready(t)
	}
	asked := hitchpost.Event{SessionID: t.SessionID, Kind: eventTaskCancelAsked, Reason: t.ID + " (" + t.Called() + ")"}
	if _, err := s.Store.AppendEvent(ctx, asked, as(a, hitchpost.FromPerson, "")); err != nil {
		return t, err
	}
	switch err := task.Cancel(s.folder.task(t.ID)); {
	case errors.Is(err, task.ErrEnded):
	case fullDisk(err):
		return t, s.notWritten("a task", err)
	case err != nil:
		return t, fmt.Errorf("cancel task %s: %w", t.ID, err)
	}
	limited, cancel := context.WithTimeout(ctx, cancelLimit)
	defer cancel()
	now, err := s.WaitTask(limited, a, t.ID)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return t, hitchpost.Errorf(hitchpost.FailedError, "task %s did not end within %v", t.ID, cancelLimit).
			Hinted("a process that waits for a device cannot be killed: look for it with ps on %s", t.Node)
	}
	return now, err
}

// eventTaskCancelAsked is the kind of the event that tells who wanted a task to end.
const eventTaskCancelAsked = "task_cancel_asked"

func endedAlready(t hitchpost.Task) error {
	return hitchpost.Errorf(hitchpost.ConflictError, "task %s is %s", t.ID, t.State).
		Hinted("only a running task can be cancelled")
}

// TaskLog writes what a task wrote. With r.Follow it goes on until the task has ended. It returns the cause of the end
// of ctx, except while a write of w blocks.
func (s *Service) TaskLog(
	ctx context.Context, a hitchpost.Actor, ref string, r hitchpost.TaskLogRequest, w io.Writer,
) (err error) {
	t, err := s.Task(ctx, a, ref)
	if err != nil {
		return err
	}
	if err := s.taskHere(t); err != nil {
		return err
	}
	log, err := task.OpenLog(s.folder.task(t.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return hitchpost.Errorf(hitchpost.NotFoundError, "the log of task %s is gone", t.ID).
			Hinted("logs are kept for a time, and then removed with their task")
	}
	if err != nil {
		return fmt.Errorf("open the log of task %s: %w", t.ID, err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if r.Tail != nil {
		if err := log.Tail(*r.Tail); err != nil {
			return fmt.Errorf("read the log of task %s: %w", t.ID, err)
		}
	}
	if r.Follow {
		return log.Follow(ctx, w)
	}
	_, err = log.WriteTo(w)
	return err
}

// FeedTask gives r to the standard input of a task that was asked for with one, and ends that input with r. It returns
// once all was given or the task takes no more; a Read of r may then still be under way. Input can be given once.
func (s *Service) FeedTask(ctx context.Context, a hitchpost.Actor, ref string, r io.Reader) error {
	if err := a.Require(hitchpost.Drive); err != nil {
		return err
	}
	t, err := s.Task(ctx, a, ref)
	if err != nil {
		return err
	}
	if err := s.taskHere(t); err != nil {
		return err
	}
	switch err := task.Feed(ctx, s.folder.task(t.ID), r); {
	case errors.Is(err, task.ErrFed):
		return hitchpost.Errorf(hitchpost.ConflictError, "task %s has its input from somebody else", t.ID)
	case errors.Is(err, fs.ErrNotExist):
		return hitchpost.Errorf(hitchpost.ConflictError, "task %s takes no input", t.ID)
	default:
		return err
	}
}
