package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/durable"
	"github.com/hitchpost/hitchpost/runtime/launch"
	"github.com/hitchpost/hitchpost/runtime/task"
	"github.com/hitchpost/hitchpost/store"
)

// RunTask starts a background command, and returns once tmux runs it. Everything that can be refused is refused before
// anything is made. The task goes on whatever becomes of ctx, and is never started a second time.
func (s *Service) RunTask(ctx context.Context, a hitchpost.Actor, r hitchpost.TaskRequest) (hitchpost.Task, error) {
	return s.runTask(ctx, a, r, func(ctx context.Context, t hitchpost.Task) (hitchpost.Task, error) {
		return s.Store.CreateTask(ctx, t, hitchpost.ChangeTaskStarted, as(a, hitchpost.FromPerson, ""))
	})
}

// keepTask records the wish for a task.
type keepTask func(context.Context, hitchpost.Task) (hitchpost.Task, error)

func (s *Service) runTask(
	ctx context.Context, a hitchpost.Actor, r hitchpost.TaskRequest, keep keepTask,
) (hitchpost.Task, error) {
	if err := a.Require(hitchpost.Drive); err != nil {
		return hitchpost.Task{}, err
	}
	t, err := s.newTask(ctx, a, r)
	if err != nil {
		return hitchpost.Task{}, err
	}
	spec := task.Spec{ID: t.ID, Argv: t.Argv, Dir: t.Cwd, Env: s.taskEnvironment(t), Timeout: t.Timeout, Stdin: r.Stdin}
	_, err = ask(ctx, s.disk, func() (string, error) {
		return launch.Program(t.Argv[0], lookup(spec.Env, "PATH"), t.Cwd)
	})
	if err != nil {
		return hitchpost.Task{}, err
	}
	if err := s.Tmux.Ping(ctx); err != nil {
		return hitchpost.Task{}, err
	}
	type answer struct {
		task hitchpost.Task
		err  error
	}
	done := make(chan answer, 1)
	s.goDo(func() {
		got, err := s.makeTask(s.background, a, t, spec, keep)
		done <- answer{got, err}
	})
	select {
	case <-ctx.Done():
		return t, context.Cause(ctx)
	case got := <-done:
		return got.task, got.err
	}
}

// newTask is the task that r asks for, checked.
func (s *Service) newTask(ctx context.Context, a hitchpost.Actor, r hitchpost.TaskRequest) (hitchpost.Task, error) {
	var session hitchpost.Session
	var err error
	switch {
	case len(r.Argv) == 0:
		return hitchpost.Task{}, hitchpost.Errorf(hitchpost.UsageError, "a task needs a command").For("command").
			Hinted("say what to run")
	case r.Node != "" && r.Node != s.Node.Name:
		return hitchpost.Task{}, hitchpost.Errorf(hitchpost.NotFoundError, "no node %q", r.Node).
			For("node").Hinted("this machine is %q", s.Node.Name)
	}
	if err := hitchpost.CheckTaskName(r.Name); err != nil {
		return hitchpost.Task{}, err
	}
	if r.Session != "" {
		if session, err = s.toDrive(ctx, a, r.Session); err != nil {
			return hitchpost.Task{}, err
		}
		if r.Cwd == "" {
			r.Cwd = session.Cwd
		}
	}
	cwd, err := s.directory(ctx, r.Cwd)
	if err != nil {
		return hitchpost.Task{}, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return hitchpost.Task{}, fmt.Errorf("make an id: %w", err)
	}
	return hitchpost.Task{
		ID: id.String(), Name: r.Name, SessionID: session.ID, Node: s.Node.Name, Cwd: cwd, Argv: r.Argv,
		Actor: a.Name, Timeout: r.Timeout, StartedAt: time.Now(),
	}, nil
}

// taskEnvironment is the environment of a session without a terminal. Only a task that belongs to a session has its mark.
func (s *Service) taskEnvironment(t hitchpost.Task) []string {
	env := s.environment(t.SessionID, nil)
	env = append(env, launch.TaskMark+"="+t.ID)
	return slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "TERM" || name == "COLORTERM" || name == launch.Mark && t.SessionID == ""
	})
}

// makeTask makes a task's folder, records the wish and has tmux run it. The folder comes first, so that what the store
// knows always has one; it is nothing yet that runs.
func (s *Service) makeTask(
	ctx context.Context, a hitchpost.Actor, t hitchpost.Task, spec task.Spec, keep keepTask,
) (hitchpost.Task, error) {
	defer s.tasks.begin(t.ID)()
	folder := s.folder.task(t.ID)
	if err := makeTaskFolder(folder, spec, t); err != nil {
		if hitchpost.KindOf(err) != hitchpost.FailedError {
			return t, err
		}
		return t, s.notWritten("a task", err)
	}
	kept, err := keep(ctx, t)
	if err != nil {
		return t, errors.Join(err, os.RemoveAll(folder))
	}
	s.watchTask(t.ID)
	if err := s.Tmux.StartTask(ctx, t.ID, append(slices.Clone(s.Runner), folder)); err != nil {
		return s.taskNotMade(ctx, a, kept, err)
	}
	return kept, nil
}

// taskNotMade records that a task could not be started. Should tmux start it all the same, after a call that took too
// long, its runner finds that it was cancelled and runs nothing.
func (s *Service) taskNotMade(
	ctx context.Context, a hitchpost.Actor, t hitchpost.Task, why error,
) (hitchpost.Task, error) {
	cancelled := task.Cancel(s.folder.task(t.ID))
	failed, err := s.finishTask(ctx, t, store.TaskEnd{
		Change: hitchpost.ChangeTaskNotStarted, Reason: why.Error(), By: as(a, hitchpost.FromTmux, ""),
	})
	return failed, errors.Join(why, cancelled, err)
}

func (s *Service) watchTask(id string) {
	if err := s.tasks.watch(s.folder.task(id)); err != nil {
		s.Log.Warn("task not watched", "task", id, "err", err)
	}
}

// aboutName is the file in a task's folder that tells what only the store knows else, for a store that was restored from
// an older backup.
const aboutName = "about.json"

// aboutLimit is far above what it takes, in bytes.
const aboutLimit = 64 << 10

// about is what a task is to people.
type about struct {
	Name    string    `json:"name"`
	Session string    `json:"session_id"`
	Actor   string    `json:"actor"`
	AskedAt time.Time `json:"asked_at"`
}

func makeTaskFolder(folder string, spec task.Spec, t hitchpost.Task) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return err
	}
	if err := task.Create(folder, spec); err != nil {
		return err
	}
	raw, err := json.Marshal(about{t.Name, t.SessionID, t.Actor, t.StartedAt.UTC()})
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, aboutName), raw, 0o600)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(folder))
	}
	return nil
}

// readAbout is empty where nothing can be read: a task is known without.
func readAbout(folder string) about {
	var a about
	raw, err := durable.Read(filepath.Join(folder, aboutName), aboutLimit)
	if err != nil || json.Unmarshal(raw, &a) != nil {
		return about{}
	}
	return a
}
