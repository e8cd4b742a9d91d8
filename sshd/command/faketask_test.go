package command_test

import (
	"context"
	"io"

	"github.com/hitchpost/hitchpost"
)

// fakeTasks is the part of the fake service that is about tasks.
type fakeTasks struct {
	task  hitchpost.Task // as it was started
	ended hitchpost.Task // as it is after a wait; where it has no end yet a wait lasts until ctx ends
	log   string
	fed   chan string // gets what was fed
	lost  error       // what ends a wait
}

func (f *fake) RunTask(_ context.Context, _ hitchpost.Actor, r hitchpost.TaskRequest) (hitchpost.Task, error) {
	f.note("", r)
	return f.tasks.task, f.err
}

func (f *fake) Tasks(_ context.Context, _ hitchpost.Actor, r hitchpost.TaskListRequest) ([]hitchpost.Task, error) {
	f.note("", r)
	if f.tasks.task.ID == "" {
		return nil, f.err
	}
	return []hitchpost.Task{f.tasks.task}, f.err
}

func (f *fake) Task(_ context.Context, _ hitchpost.Actor, ref string) (hitchpost.Task, error) {
	f.note(ref, "task show")
	return f.tasks.task, f.err
}

func (f *fake) WaitTask(ctx context.Context, _ hitchpost.Actor, ref string) (hitchpost.Task, error) {
	f.note(ref, "task wait")
	if f.tasks.lost != nil {
		return f.tasks.task, f.tasks.lost
	}
	if f.err == nil && !f.tasks.ended.State.Ended() {
		<-ctx.Done()
		return f.tasks.task, context.Cause(ctx)
	}
	return f.tasks.ended, f.err
}

func (f *fake) CancelTask(_ context.Context, _ hitchpost.Actor, ref string) (hitchpost.Task, error) {
	f.note(ref, "task cancel")
	return f.tasks.ended, f.err
}

func (f *fake) TaskLog(
	_ context.Context, _ hitchpost.Actor, ref string, r hitchpost.TaskLogRequest, w io.Writer,
) error {
	f.note(ref, r)
	if f.err != nil {
		return f.err
	}
	_, err := io.WriteString(w, f.tasks.log)
	return err
}

func (f *fake) FeedTask(_ context.Context, _ hitchpost.Actor, _ string, r io.Reader) error {
	text, err := io.ReadAll(r)
	f.tasks.fed <- string(text)
	return err
}
