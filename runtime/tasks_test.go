package runtime_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/task"
	"github.com/hitchpost/hitchpost/store"
	"github.com/hitchpost/hitchpost/store/storetest"
)

func (r *rig) run(req hitchpost.TaskRequest) hitchpost.Task {
	r.t.Helper()
	got, err := r.RunTask(context.Background(), admin, req)
	must(r.t, err)
	return got
}

// sh runs a script as a task.
func (r *rig) sh(format string, args ...any) hitchpost.Task {
	r.t.Helper()
	return r.run(hitchpost.TaskRequest{Argv: []string{"sh", "-c", fmt.Sprintf(format, args...)}})
}

// ends waits for the end of a task, on disk and in the store, which must agree.
func (r *rig) ends(id string, want hitchpost.TaskState) hitchpost.Task {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	got, err := r.WaitTask(ctx, admin, id)
	must(r.t, err)
	if got.State != want {
		r.t.Fatalf("task is %s (%s), want %s", got.State, got.Reason, want)
	}
	var stored hitchpost.Task
	eventually(r.t, func() bool {
		stored, err = r.store.Task(context.Background(), id)
		return err == nil && stored.State.Ended()
	}, func() string { return fmt.Sprintf("the store is not told: %+v %v", stored, err) })
	if stored.State != got.State || stored.Reason != got.Reason || !stored.StartedAt.Equal(got.StartedAt.Truncate(time.Microsecond)) {
		r.t.Errorf("waited for %+v, stored %+v", got, stored)
	}
	return got
}

func (r *rig) taskLog(id string) string {
	r.t.Helper()
	var out bytes.Buffer
	must(r.t, r.TaskLog(context.Background(), admin, id, hitchpost.TaskLogRequest{}, &out))
	return out.String()
}

// wrote waits until a task has written so much.
func (r *rig) wrote(id, want string) {
	r.t.Helper()
	eventually(r.t, func() bool { return r.taskLog(id) == want }, func() string { return fmt.Sprintf("log %q, want %q", r.taskLog(id), want) })
}

// gate is a FIFO that a task waits at, and what opens it.
func (r *rig) gate() (path string, open func()) {
	r.t.Helper()
	path = filepath.Join(r.dir, "gate-"+uuid.NewString())
	must(r.t, syscall.Mkfifo(path, 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(r.t, err)
	r.t.Cleanup(func() { _ = f.Close() })
	return path, func() {
		_, err := f.WriteString("\n")
		must(r.t, err)
	}
}

func TestTaskLife(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	session := r.start("work", "cat")
	gate, open := r.gate()
	made := r.run(hitchpost.TaskRequest{
		Name: "it's #{pid}", Session: "work", Argv: []string{"sh", "-c", "env; pwd; read x < " + gate + "; exit 3"},
	})
	if made.State != hitchpost.TaskRunning || made.SessionID != session.ID || made.Node != "here" || made.Actor != "ada" {
		t.Errorf("%+v", made)
	}
	eventually(t, func() bool { return strings.HasSuffix(r.taskLog(made.ID), "\n"+session.Cwd+"\n") }, func() string { return r.taskLog(made.ID) })
	running, err := r.Task(t.Context(), admin, made.ID)
	if err != nil || running.State != hitchpost.TaskRunning || running.LogBytes != int64(len(r.taskLog(made.ID))) {
		t.Errorf("%+v, %v", running, err)
	}
	open()
	got := r.ends(made.ID, hitchpost.TaskFailed)
	if got.ExitCode == nil || *got.ExitCode != 3 || got.Usage == nil || got.Usage.MaxRSS <= 0 || got.EndedAt.Before(got.StartedAt) {
		t.Errorf("%+v", got)
	}
	env := strings.Split(r.taskLog(made.ID), "\n")
	for name, want := range map[string]string{
		"HITCHPOST_TASK": made.ID, "HITCHPOST_SESSION": session.ID, "HOME": r.dir, "PWD": session.Cwd,
	} {
		if !slices.Contains(env, name+"="+want) {
			t.Errorf("%s is not %s in %q", name, want, env)
		}
	}
	for _, kv := range env {
		for _, name := range []string{"TERM", "TMUX", "TMUX_PANE", "NO_COLOR", "COLORTERM"} {
			if strings.HasPrefix(kv, name+"=") {
				t.Errorf("a task has %s", kv)
			}
		}
	}
	alone := r.sh("env")
	r.ends(alone.ID, hitchpost.TaskSucceeded)
	if log := r.taskLog(alone.ID); strings.Contains(log, "HITCHPOST_SESSION") {
		t.Errorf("a task of no session has its mark: %s", log)
	}
	list, err := r.Tasks(t.Context(), admin, hitchpost.TaskListRequest{Session: "work"})
	if err != nil || len(list) != 1 || list[0].ID != made.ID {
		t.Errorf("%+v, %v", list, err)
	}
	list, err = r.Tasks(t.Context(), admin, hitchpost.TaskListRequest{States: []hitchpost.TaskState{hitchpost.TaskSucceeded}})
	if err != nil || len(list) != 1 || list[0].ID != alone.ID {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestTaskRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	viewer := hitchpost.Actor{Name: "vic", Role: hitchpost.Viewer}
	must(t, os.WriteFile(filepath.Join(r.dir, "plain"), nil, 0o600))
	for name, c := range map[string]struct {
		kind hitchpost.ErrorKind
		req  hitchpost.TaskRequest
	}{
		"nothing":       {hitchpost.UsageError, hitchpost.TaskRequest{}},
		"no program":    {hitchpost.UsageError, hitchpost.TaskRequest{Argv: []string{"no-such-program"}}},
		"no executable": {hitchpost.UsageError, hitchpost.TaskRequest{Argv: []string{r.dir + "/plain"}}},
		"no directory":  {hitchpost.UsageError, hitchpost.TaskRequest{Argv: []string{"true"}, Cwd: "/no/such"}},
		"no node":       {hitchpost.NotFoundError, hitchpost.TaskRequest{Argv: []string{"true"}, Node: "there"}},
		"no session":    {hitchpost.NotFoundError, hitchpost.TaskRequest{Argv: []string{"true"}, Session: "work"}},
		"bad name":      {hitchpost.UsageError, hitchpost.TaskRequest{Argv: []string{"true"}, Name: "a\nb"}},
	} {
		if _, err := r.RunTask(t.Context(), admin, c.req); hitchpost.KindOf(err) != c.kind {
			t.Errorf("%s: %v (%s), want %s", name, err, hitchpost.KindOf(err), c.kind)
		}
	}
	_, err := r.RunTask(t.Context(), viewer, hitchpost.TaskRequest{Argv: []string{"true"}})
	kind(t, err, hitchpost.DeniedError)
	list, err := r.Tasks(t.Context(), viewer, hitchpost.TaskListRequest{})
	if entries, _ := os.ReadDir(filepath.Join(r.dir, "tasks")); err != nil || len(list) != 0 || len(entries) != 0 {
		t.Errorf("something was made: %v %v %v", list, entries, err)
	}
	made := r.sh("exit 0")
	_, err = r.CancelTask(t.Context(), viewer, made.ID)
	kind(t, err, hitchpost.DeniedError)
	kind(t, r.FeedTask(t.Context(), viewer, made.ID, strings.NewReader("")), hitchpost.DeniedError)
	r.ends(made.ID, hitchpost.TaskSucceeded)
	_, err = r.CancelTask(t.Context(), admin, made.ID)
	kind(t, err, hitchpost.ConflictError)
	kind(t, r.FeedTask(t.Context(), admin, made.ID, strings.NewReader("")), hitchpost.ConflictError)
	if _, err := r.WaitTask(t.Context(), viewer, made.ID); err != nil {
		t.Errorf("a viewer may not look: %v", err)
	}
	_, err = r.Task(t.Context(), viewer, uuid.NewString())
	kind(t, err, hitchpost.NotFoundError)
}

// The last task is that which the actor started last, with any key.
func TestLastTask(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, err := r.Task(t.Context(), admin, "last")
	kind(t, err, hitchpost.NotFoundError)
	r.ends(r.sh("exit 0").ID, hitchpost.TaskSucceeded)
	mine := r.sh("echo mine; exit 3")
	other := hitchpost.Actor{Name: "bob", Role: hitchpost.Operator}
	_, err = r.RunTask(t.Context(), other, hitchpost.TaskRequest{Argv: []string{"true"}})
	must(t, err)
	phone := admin
	phone.Fingerprint = "SHA256:phone"
	got, err := r.WaitTask(t.Context(), phone, "last")
	if err != nil || got.ID != mine.ID || got.State != hitchpost.TaskFailed {
		t.Errorf("%+v, %v", got, err)
	}
	if got := r.taskLog("last"); got != "mine\n" {
		t.Errorf("log %q", got)
	}
}

// Cancel ends all of a task; who wanted it is on record.
func TestTaskCancel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	made := r.sh("sleep 1000 & echo up; wait")
	r.wrote(made.ID, "up\n")
	got, err := r.CancelTask(t.Context(), admin, made.ID[:30])
	if err != nil || got.State != hitchpost.TaskCancelled || got.ExitSignal != "TERM" || got.EndedAt.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	r.ends(made.ID, hitchpost.TaskCancelled)
	events, err := r.store.Events(t.Context(), hitchpost.EventRequest{})
	must(t, err)
	i := slices.IndexFunc(events, func(e hitchpost.Event) bool { return e.Kind == "task_cancel_asked" })
	if i < 0 || events[i].Actor != "ada" || !strings.HasPrefix(events[i].Reason, made.ID) {
		t.Errorf("%+v", events)
	}
}

func TestTaskLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	made := r.run(hitchpost.TaskRequest{Argv: []string{"sleep", "1000"}, Timeout: 300 * time.Millisecond})
	if got := r.ends(made.ID, hitchpost.TaskFailed); !got.TimedOut || !strings.Contains(got.Reason, "300ms") || got.Timeout != made.Timeout {
		t.Errorf("%+v", got)
	}
}

func TestTaskInput(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	made := r.run(hitchpost.TaskRequest{Argv: []string{"wc", "-c"}, Stdin: true})
	must(t, r.FeedTask(t.Context(), admin, made.ID, strings.NewReader(strings.Repeat("x", 1<<20))))
	r.ends(made.ID, hitchpost.TaskSucceeded)
	if got := strings.TrimSpace(r.taskLog(made.ID)); got != strconv.Itoa(1<<20) {
		t.Errorf("%s bytes arrived", got)
	}
}

// A task needs no service: it goes on without one, and its end is found at the next start.
func TestTaskEndsWithoutService(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	gate, open := r.gate()
	shut, _ := r.gate() // of its own: it would take the line that is for the other
	first, second := r.sh("echo up; read x < %s; exit 5", gate), r.sh("echo up; exec cat %s", shut)
	r.wrote(first.ID, "up\n")
	r.wrote(second.ID, "up\n")
	r.down()
	open()
	eventually(t, func() bool {
		seen, err := task.Look(filepath.Join(r.dir, "tasks", first.ID))
		return err == nil && seen.Record != nil
	}, func() string { return "the task does not end" })
	r.up()
	if got := r.ends(first.ID, hitchpost.TaskFailed); got.ExitCode == nil || *got.ExitCode != 5 || got.Usage == nil {
		t.Errorf("%+v", got)
	}
	if got, err := r.Task(t.Context(), admin, second.ID); err != nil || got.State != hitchpost.TaskRunning {
		t.Errorf("%+v, %v", got, err)
	}
	_, err := r.CancelTask(t.Context(), admin, second.ID)
	must(t, err)
}

// What tmux loses is LOST, and never run again, whatever starts after it.
func TestTaskLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	starts := filepath.Join(r.dir, "starts")
	made := r.sh("echo start >> %s; echo up; exec sleep 1000", starts)
	r.wrote(made.ID, "up\n")
	r.killTmux()
	got := r.ends(made.ID, hitchpost.TaskLost)
	if !got.EndedAt.IsZero() || got.Exit() != nil {
		t.Errorf("%+v", got)
	}
	r.down()
	r.up()
	r.down()
	r.up()
	if text, err := os.ReadFile(starts); err != nil || string(text) != "start\n" {
		t.Errorf("starts: %q %v", text, err)
	}
	if got := r.taskLog(made.ID); got != "up\n" {
		t.Errorf("log %q", got)
	}
}

// A runner that is killed leaves no record: LOST, and its program does not go on alone.
func TestTaskRunnerKilled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	made := r.sh("echo up; exec sleep 1000")
	r.wrote(made.ID, "up\n")
	all, err := r.tmux.List(t.Context())
	if err != nil || len(all.Tasks) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	must(t, syscall.Kill(all.Tasks[0].Pid, syscall.SIGKILL))
	r.ends(made.ID, hitchpost.TaskLost)
}

// A start that died half-way ends as FAILED, and a runner that comes late runs nothing.
func TestTaskStartThatDied(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := uuid.Must(uuid.NewV7()).String()
	folder := filepath.Join(r.dir, "tasks", id)
	ran := filepath.Join(r.dir, "ran")
	must(t, os.MkdirAll(filepath.Dir(folder), 0o700))
	must(t, task.Create(folder, task.Spec{ID: id, Argv: []string{"touch", ran}, Dir: r.dir, Env: []string{"PATH=/usr/bin:/bin"}}))
	_, err := r.store.CreateTask(t.Context(), hitchpost.Task{
		ID: id, Node: "here", Cwd: r.dir, Argv: []string{"touch", ran}, StartedAt: time.Now().Add(-time.Hour),
	}, hitchpost.ChangeTaskStarted, store.By{})
	must(t, err)
	got := r.ends(id, hitchpost.TaskFailed)
	if got.Exit() != nil || !strings.Contains(got.Reason, "never came up") {
		t.Errorf("%+v", got)
	}
	self, err := os.Executable()
	must(t, err)
	must(t, r.tmux.StartTask(t.Context(), id, []string{self, runnerVerb, folder}))
	eventually(t, func() bool {
		seen, err := task.Look(folder)
		return err == nil && seen.Record != nil && seen.Record.Cancelled
	}, func() string { return "the runner leaves no record" })
	if _, err := os.Stat(ran); err == nil {
		t.Error("it was run although it had failed")
	}
}

// A store that knows nothing of the tasks on its machine takes them in: those that run, and those that have ended.
func TestTasksAreAdopted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ended, running := r.run(hitchpost.TaskRequest{Name: "ended", Argv: []string{"sh", "-c", "exit 4"}}), r.sh("echo up; exec sleep 1000")
	r.ends(ended.ID, hitchpost.TaskFailed)
	r.wrote(running.ID, "up\n")
	r.down()
	r.url, r.node = storetest.URL(t), hitchpost.Node{}
	r.up()
	eventually(t, func() bool {
		_, err := r.store.Task(context.Background(), running.ID)
		return err == nil
	}, func() string { return "the running task is not adopted" })
	got := r.ends(ended.ID, hitchpost.TaskFailed)
	if got.Name != "ended" || got.Actor != "ada" || got.ExitCode == nil || *got.ExitCode != 4 {
		t.Errorf("%+v", got)
	}
	if got, err := r.CancelTask(t.Context(), admin, running.ID); err != nil || got.State != hitchpost.TaskCancelled {
		t.Errorf("%+v, %v", got, err)
	}
}

// What takes too much space goes when it is over, files and all, and never while it runs.
func TestTaskRetention(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ended, running := r.sh("echo much"), r.sh("echo up; exec sleep 1000")
	r.ends(ended.ID, hitchpost.TaskSucceeded)
	r.wrote(running.ID, "up\n")
	r.down()
	r.space = 1
	r.up()
	eventually(t, func() bool {
		_, err := r.store.Task(context.Background(), ended.ID)
		entries, derr := os.ReadDir(filepath.Join(r.dir, "tasks"))
		return hitchpost.KindOf(err) == hitchpost.NotFoundError && derr == nil && len(entries) == 1
	}, func() string { return "the ended task stays" })
	_, err := r.CancelTask(t.Context(), admin, running.ID)
	must(t, err)
}
