package store_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

func (b *box) check(t *testing.T, session string, c hitchpost.Check) (hitchpost.Task, error) {
	t.Helper()
	task := b.freshTask("make", "test")
	task.SessionID = session
	return b.StartCheck(t.Context(), task, c, store.By{Actor: "ann"})
}

func (b *box) lastCheck(t *testing.T, session string) *hitchpost.Check {
	t.Helper()
	last, err := b.LastCheck(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return last
}

func (b *box) endTask(t *testing.T, id string, e store.TaskEnd) hitchpost.Task {
	t.Helper()
	ended, err := b.FinishTask(t.Context(), id, e)
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

// What a check saw and how it ended outlives its task, and gives way to the next run of it.
func TestCheckKeepsWhatItSaw(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	id := b.live(t, "checked").ID
	if last := b.lastCheck(t, id); last != nil {
		t.Errorf("a check that never ran: %+v", last)
	}
	saw := hitchpost.Check{Command: `sh -c "it's $1"`, Commit: strings.Repeat("a", 40), Tree: strings.Repeat("b", 40), Dirty: true,
		Branch: "b\xffr\x1b[2J"}
	first, err := b.check(t, id, saw)
	if err != nil {
		t.Fatal(err)
	}
	want := saw
	want.SessionID, want.TaskID, want.State, want.StartedAt = id, first.ID, hitchpost.TaskRunning, first.StartedAt
	want.Branch = "b\uFFFDr\x1b[2J"
	if diff := cmp.Diff(&want, b.lastCheck(t, id)); diff != "" {
		t.Errorf("while it runs: want -, got +:\n%s", diff)
	}
	code, at := 3, time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	end := store.TaskEnd{Change: hitchpost.ChangeTaskExitedBadly, Exit: &hitchpost.Exit{Code: &code, At: at}}
	b.endTask(t, first.ID, end)
	if err := b.RemoveTask(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	want.State, want.EndedAt, want.Exit = hitchpost.TaskFailed, at, end.Exit
	if diff := cmp.Diff(&want, b.lastCheck(t, id)); diff != "" {
		t.Errorf("after its task was forgotten: want -, got +:\n%s", diff)
	}
	second, err := b.check(t, id, hitchpost.Check{Command: "true", Saw: "no repository"})
	if err != nil {
		t.Fatal(err)
	}
	want = hitchpost.Check{SessionID: id, TaskID: second.ID, Command: "true", State: hitchpost.TaskRunning,
		StartedAt: second.StartedAt, Saw: "no repository"}
	if diff := cmp.Diff(&want, b.lastCheck(t, id)); diff != "" {
		t.Errorf("of the second run: want -, got +:\n%s", diff)
	}
	b.endTask(t, second.ID, store.TaskEnd{Change: hitchpost.ChangeTaskLost})
	if last := b.lastCheck(t, id); last.State != hitchpost.TaskLost || last.Exit != nil || last.Passed() {
		t.Errorf("lost: %+v", last)
	}
}

// Of many who start a session's check at the same time one does, and the others leave nothing behind.
func TestOneCheckAtATime(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	id, other := b.live(t, "checked").ID, b.live(t, "another").ID
	var began atomic.Int32
	var wait sync.WaitGroup
	for range 10 {
		wait.Go(func() {
			if _, err := b.check(t, id, hitchpost.Check{Command: "true"}); err == nil {
				began.Add(1)
			} else if kind := hitchpost.KindOf(err); kind != hitchpost.ConflictError {
				t.Errorf("refused with %s: %v", kind, err)
			}
		})
	}
	wait.Wait()
	tasks, err := b.Tasks(t.Context(), hitchpost.TaskListRequest{Session: id})
	if err != nil || began.Load() != 1 || len(tasks) != 1 {
		t.Errorf("%d began, %d tasks: %v", began.Load(), len(tasks), err)
	}
	if _, err := b.check(t, other, hitchpost.Check{Command: "true"}); err != nil {
		t.Errorf("that of another session: %v", err)
	}
	b.endTask(t, tasks[0].ID, store.TaskEnd{Change: hitchpost.ChangeTaskCancelled})
	if _, err := b.check(t, id, hitchpost.Check{Command: "true"}); err != nil {
		t.Errorf("after the end of the first: %v", err)
	}
	_, err = b.check(t, newID(), hitchpost.Check{Command: "true"})
	wantKind(t, err, hitchpost.NotFoundError)
}

func TestSetCheck(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	id := b.create(t, "checked").ID
	for _, command := range []string{"make test", "make test", "", strings.Repeat("x ", 5000)} {
		got, err := b.SetCheck(t.Context(), id, command, store.By{Actor: "ann"})
		if err != nil || got.Check != command {
			t.Errorf("%.20q: %.20q, %v", command, got.Check, err)
		}
	}
	var reasons []string
	for _, e := range b.events(t, id) {
		if e.Kind == store.EventCheckSet {
			reasons = append(reasons, e.Reason)
		}
	}
	if len(reasons) != 3 || reasons[0] != "checked by make test" || reasons[1] != "no check any more" || len(reasons[2]) > 200 {
		t.Errorf("%.300q", reasons)
	}
	_, err := b.SetCheck(t.Context(), newID(), "true", store.By{})
	wantKind(t, err, hitchpost.NotFoundError)
}
