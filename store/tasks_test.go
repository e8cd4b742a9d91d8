package store_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

func (b *box) freshTask(argv ...string) hitchpost.Task {
	return hitchpost.Task{ID: newID(), Node: b.node.Name, Cwd: "/home/ann", Argv: argv}
}

func (b *box) task(t *testing.T, argv ...string) hitchpost.Task {
	t.Helper()
	made, err := b.CreateTask(t.Context(), b.freshTask(argv...), hitchpost.ChangeTaskStarted, store.By{Actor: "ann"})
	if err != nil {
		t.Fatalf("create task: %v", err)
	}
	return made
}

// Everything of a task comes back as it went in, and its end beside it.
func TestTaskKeepsEverything(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	session := b.live(t, "its session")
	asked := b.freshTask("sh", "-c", "echo '$1'; \x1b[0m", "", "{a,b}", `"\`, "NULL")
	asked.Name, asked.Cwd = `It's "quoted"; drop table terminal_tasks; -- $1 日本`, "/tmp/it's #{here}\n"
	asked.SessionID, asked.Timeout = session.ID, 90*time.Minute+5*time.Millisecond
	made, err := b.CreateTask(t.Context(), asked, hitchpost.ChangeTaskStarted, store.By{Actor: "ann", Reason: "run \xff\x00"})
	if err != nil {
		t.Fatal(err)
	}
	want := asked
	want.State, want.Actor, want.Reason, want.StartedAt = hitchpost.TaskRunning, "ann", "run \uFFFD\uFFFD", made.StartedAt
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if since := time.Since(made.StartedAt); since < -time.Minute || since > time.Minute {
		t.Errorf("started at %v", made.StartedAt)
	}
	code := 7
	at := time.Date(2031, 2, 3, 4, 5, 6, 789_000_000, time.UTC)
	ended, err := b.FinishTask(t.Context(), made.ID, store.TaskEnd{
		Change: hitchpost.ChangeTaskExitedBadly, Reason: "exit 7", Exit: &hitchpost.Exit{Code: &code, At: at},
		StartedAt: at.Add(-time.Hour), LogBytes: 1 << 40,
		Usage: &hitchpost.Usage{User: 1500 * time.Millisecond, System: time.Second, MaxRSS: 1 << 33},
	})
	if err != nil {
		t.Fatal(err)
	}
	want.State, want.Reason, want.ExitCode, want.StartedAt, want.EndedAt = hitchpost.TaskFailed, "exit 7", &code, at.Add(-time.Hour), at
	want.LogBytes, want.Usage = 1<<40, &hitchpost.Usage{User: 1500 * time.Millisecond, System: time.Second, MaxRSS: 1 << 33}
	if diff := cmp.Diff(want, ended); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	for _, ref := range []string{made.ID, made.ID[:30]} {
		got, err := b.Task(t.Context(), ref)
		if diff := cmp.Diff(ended, got); diff != "" || err != nil {
			t.Errorf("ended -, by %s +: %v\n%s", ref, err, diff)
		}
	}
	if got := b.kinds(t, session.ID); got != "created started task_started task_exited_badly" {
		t.Errorf("events of the session: %s", got)
	}
	events := b.events(t, session.ID)
	if e := events[2]; e.Actor != "ann" || e.From != "" || e.To != "" || !strings.HasPrefix(e.Reason, made.ID+" (It's ") {
		t.Errorf("%+v", e)
	}
}

func TestCreateTaskRefuses(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for name, c := range map[string]struct {
		kind hitchpost.ErrorKind
		edit func(*hitchpost.Task)
	}{
		"no id":           {hitchpost.UsageError, func(s *hitchpost.Task) { s.ID = "1' or '1'='1" }},
		"upper-case id":   {hitchpost.UsageError, func(s *hitchpost.Task) { s.ID = strings.ToUpper(s.ID) }},
		"relative":        {hitchpost.UsageError, func(s *hitchpost.Task) { s.Cwd = "src" }},
		"nothing to run":  {hitchpost.UsageError, func(s *hitchpost.Task) { s.Argv = nil }},
		"unknown node":    {hitchpost.NotFoundError, func(s *hitchpost.Task) { s.Node = "'; drop table x; --\xff" }},
		"unknown session": {hitchpost.NotFoundError, func(s *hitchpost.Task) { s.SessionID = newID() }},
	} {
		asked := b.freshTask("true")
		c.edit(&asked)
		if _, err := b.CreateTask(t.Context(), asked, hitchpost.ChangeTaskStarted, store.By{}); hitchpost.KindOf(err) != c.kind {
			t.Errorf("%s: %v (%s), want %s", name, err, hitchpost.KindOf(err), c.kind)
		}
	}
	made := b.task(t, "true")
	_, err := b.CreateTask(t.Context(), made, hitchpost.ChangeTaskFound, store.By{})
	wantKind(t, err, hitchpost.ConflictError)
	if list, err := b.Tasks(t.Context(), hitchpost.TaskListRequest{}); err != nil || len(list) != 1 {
		t.Errorf("%d tasks kept, %v", len(list), err)
	}
}

// Of many that finish one task one does, what it wrote stays, and not even a statement by hand changes it.
func TestTaskEndsOnce(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	made := b.task(t, "make")
	var won atomic.Int32
	var g sync.WaitGroup
	for i := range 8 {
		g.Go(func() {
			e := store.TaskEnd{Change: hitchpost.ChangeTaskCancelled, Exit: &hitchpost.Exit{Signal: "TERM"}}
			if i%2 == 0 {
				e = store.TaskEnd{Change: hitchpost.ChangeTaskLost}
			}
			_, err := b.FinishTask(context.Background(), made.ID, e)
			switch hitchpost.KindOf(err) {
			case "":
				won.Add(1)
			case hitchpost.ConflictError:
			default:
				t.Error(err)
			}
		})
	}
	g.Wait()
	if won.Load() != 1 {
		t.Errorf("%d ended it", won.Load())
	}
	got, err := b.Task(t.Context(), made.ID)
	if err != nil || got.State == hitchpost.TaskLost != got.EndedAt.IsZero() || !got.State.Ended() {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = conn(t, b.url).Exec(t.Context(), "update terminal_tasks set state = 'RUNNING', exit_signal = '', ended_at = null")
	if err == nil {
		t.Error("an ended task runs again")
	}
	_, err = b.FinishTask(t.Context(), newID(), store.TaskEnd{Change: hitchpost.ChangeTaskLost})
	wantKind(t, err, hitchpost.NotFoundError)
	if got := b.kinds(t, ""); strings.Count(got, "task_") != 2 {
		t.Errorf("events: %s", got)
	}
}

// The constraint of the table and the table of transitions know the same states.
func TestTaskStatesOfTheDatabase(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	zero, one := 0, 1
	ends := map[hitchpost.TaskChange]store.TaskEnd{
		hitchpost.ChangeTaskNotStarted:  {Reason: "no tmux"},
		hitchpost.ChangeTaskExitedWell:  {Exit: &hitchpost.Exit{Code: &zero}},
		hitchpost.ChangeTaskExitedBadly: {Exit: &hitchpost.Exit{Code: &one}, TimedOut: true},
		hitchpost.ChangeTaskCancelled:   {},
		hitchpost.ChangeTaskLost:        {},
	}
	for _, c := range hitchpost.TaskChanges() {
		want, ok := hitchpost.NextTask(hitchpost.TaskRunning, c)
		e := ends[c]
		e.Change = c
		got, err := b.FinishTask(t.Context(), b.task(t, "true").ID, e)
		if ok != (err == nil) || got.State != want || ok && got.TimedOut != e.TimedOut {
			t.Errorf("%s: %s, %v, want %s", c, got.State, err, want)
		}
	}
	// What cannot be is refused, and the transaction with it.
	_, err := b.FinishTask(t.Context(), b.task(t, "true").ID, store.TaskEnd{
		Change: hitchpost.ChangeTaskExitedWell, Exit: &hitchpost.Exit{Code: &one}})
	wantKind(t, err, hitchpost.UsageError)
}

func TestTasksAreFoundAndForgotten(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	session := b.live(t, "work")
	var ids []string
	for _, id := range []string{"0190aaaa-0000-7000-8000-000000000001", "0190aaaa-0000-7000-8000-000000000002",
		"0190bbbb-0000-7000-8000-000000000003"} {
		asked := b.freshTask("make", id)
		asked.ID = id
		if id[3] == '0' && id[5] == 'b' {
			asked.SessionID = session.ID
		}
		if _, err := b.CreateTask(t.Context(), asked, hitchpost.ChangeTaskStarted, store.By{}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if got, err := b.Task(t.Context(), "0190b"); err != nil || got.ID != ids[2] {
		t.Errorf("%+v, %v", got, err)
	}
	_, err := b.Task(t.Context(), "0190a")
	wantKind(t, err, hitchpost.UsageError)
	if err == nil || !strings.Contains(err.Error(), ids[0]+" (make ") || !strings.Contains(err.Error(), ids[1]) {
		t.Errorf("the candidates are not named: %v", err)
	}
	for _, ref := range []string{"", "019", "0190c", "make", "last", "'--", "0190AAAA", "zzzz"} {
		_, err := b.Task(t.Context(), ref)
		wantKind(t, err, hitchpost.NotFoundError)
	}
	if _, err := b.FinishTask(t.Context(), ids[0], store.TaskEnd{Change: hitchpost.ChangeTaskLost}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		r    hitchpost.TaskListRequest
		want []string
	}{
		"all":     {hitchpost.TaskListRequest{}, ids},
		"running": {hitchpost.TaskListRequest{States: []hitchpost.TaskState{hitchpost.TaskRunning}}, ids[1:]},
		"both": {hitchpost.TaskListRequest{Node: b.node.Name,
			States: []hitchpost.TaskState{hitchpost.TaskRunning, hitchpost.TaskLost}}, ids},
		"session": {hitchpost.TaskListRequest{Session: session.ID}, ids[2:]},
		"node":    {hitchpost.TaskListRequest{Node: "there"}, nil},
	} {
		list, err := b.Tasks(t.Context(), c.r)
		var got []string
		for _, task := range list {
			got = append(got, task.ID)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	for _, id := range append(ids, newID()) {
		if err := b.RemoveTask(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	if list, err := b.Tasks(t.Context(), hitchpost.TaskListRequest{}); err != nil || len(list) != 2 {
		t.Errorf("%d tasks left, %v: a running one is never forgotten", len(list), err)
	}
}

// Whoever listens hears of a task's beginning and end.
func TestTaskNotices(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := conn(t, b.url)
	run(t, c, "listen hitchpost")
	made := b.task(t, "true")
	if _, err := b.FinishTask(t.Context(), made.ID, store.TaskEnd{Change: hitchpost.ChangeTaskLost}); err != nil {
		t.Fatal(err)
	}
	if got := heard(t, c, made.ID); got != 2 {
		t.Errorf("heard of %d changes, want 2", got)
	}
}

// heard counts the notices of a task until there are two.
func heard(t *testing.T, c *pgx.Conn, id string) (n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for n < 2 {
		got, err := c.WaitForNotification(ctx)
		if err != nil {
			t.Errorf("after %d: %v", n, err)
			return n
		}
		if strings.Contains(got.Payload, `"topic":"task"`) && strings.Contains(got.Payload, id) {
			n++
		}
	}
	return n
}
