package runtime

import (
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/task"
	"github.com/hitchpost/hitchpost/store"
)

func TestPlanTask(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	seven := 7
	ended := &task.Record{Code: &seven, EndedAt: now, LogBytes: 5}
	for name, c := range map[string]struct {
		age  time.Duration
		seen taskSeen
		want hitchpost.TaskChange // empty: none
	}{
		"runs":                             {time.Hour, taskSeen{inTmux: true, folder: task.Seen{Started: true, Alive: true}}, ""},
		"runs, and tmux has lost it":       {time.Hour, taskSeen{folder: task.Seen{Started: true, Alive: true}}, ""},
		"its runner comes up":              {time.Second, taskSeen{inTmux: true}, ""},
		"its runner comes up slowly":       {time.Hour, taskSeen{inTmux: true}, ""},
		"its start is under way":           {time.Second, taskSeen{}, ""},
		"its start died":                   {time.Minute, taskSeen{}, hitchpost.ChangeTaskNotStarted},
		"its start died, the clock is set": {-time.Hour, taskSeen{}, hitchpost.ChangeTaskNotStarted},
		"its runner ends just now":         {time.Hour, taskSeen{inTmux: true, folder: task.Seen{Started: true}}, ""},
		"its runner is gone":               {time.Second, taskSeen{folder: task.Seen{Started: true}}, hitchpost.ChangeTaskLost},
		"ended": {time.Second,
			taskSeen{folder: task.Seen{Started: true, Record: ended}}, hitchpost.ChangeTaskExitedBadly},
		"ended, and its runner lingers": {time.Second,
			taskSeen{inTmux: true, folder: task.Seen{Started: true, Alive: true, Record: ended}}, hitchpost.ChangeTaskExitedBadly},
		"its files are not there yet":             {time.Second, taskSeen{err: fs.ErrNotExist}, ""},
		"its files are gone":                      {time.Minute, taskSeen{err: fs.ErrNotExist}, hitchpost.ChangeTaskLost},
		"its files are gone, and it is":           {time.Minute, taskSeen{inTmux: true, err: fs.ErrNotExist}, ""},
		"its files are damaged":                   {time.Minute, taskSeen{err: task.ErrDamaged}, hitchpost.ChangeTaskLost},
		"its files are damaged, and tmux has it":  {time.Minute, taskSeen{inTmux: true, err: task.ErrDamaged}, ""},
		"its files are damaged, and it is as new": {time.Second, taskSeen{err: task.ErrDamaged}, ""},
		"its files cannot be read":                {time.Hour, taskSeen{err: errors.New("input/output error")}, ""},
	} {
		end := planTask(now, hitchpost.Task{State: hitchpost.TaskRunning, StartedAt: now.Add(-c.age)}, c.seen)
		var got hitchpost.TaskChange
		if end != nil {
			got = end.Change
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What the store will be told of each record, and that those who ask before are told the same.
func TestTaskEnds(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	over := began.Add(time.Minute)
	zero, seven, none := 0, 7, 127
	for name, c := range map[string]struct {
		rec  task.Record
		want hitchpost.Task
	}{
		"well": {task.Record{Code: &zero}, hitchpost.Task{State: hitchpost.TaskSucceeded, Reason: "exit 0", ExitCode: &zero}},
		"code": {task.Record{Code: &seven}, hitchpost.Task{State: hitchpost.TaskFailed, Reason: "exit 7", ExitCode: &seven}},
		"signal": {task.Record{Signal: "SEGV"},
			hitchpost.Task{State: hitchpost.TaskFailed, Reason: "killed by SIGSEGV", ExitSignal: "SEGV"}},
		"no program": {task.Record{Code: &none, Error: "gone"},
			hitchpost.Task{State: hitchpost.TaskFailed, Reason: "exit 127: gone", ExitCode: &none}},
		"limit": {task.Record{Signal: "TERM", TimedOut: true},
			hitchpost.Task{State: hitchpost.TaskFailed, Reason: "took longer than its limit of 20s", ExitSignal: "TERM", TimedOut: true}},
		"limit, and it ended well": {task.Record{Code: &zero, TimedOut: true},
			hitchpost.Task{State: hitchpost.TaskFailed, Reason: "took longer than its limit of 20s", ExitCode: &zero, TimedOut: true}},
		"cancelled": {task.Record{Code: &zero, Cancelled: true},
			hitchpost.Task{State: hitchpost.TaskCancelled, Reason: "cancelled", ExitCode: &zero}},
		"reboot": {task.Record{Signal: "TERM", Hangup: true},
			hitchpost.Task{State: hitchpost.TaskLost, Reason: "tmux went down while it ran"}},
	} {
		c.rec.StartedAt, c.rec.EndedAt, c.rec.LogBytes, c.rec.UserSeconds, c.rec.MaxRSSBytes = began, over, 9, 1.5, 4096
		want := c.want
		want.StartedAt, want.LogBytes = began, 9
		if want.State != hitchpost.TaskLost {
			want.EndedAt, want.Usage = over, &hitchpost.Usage{User: 1500 * time.Millisecond, MaxRSS: 4096}
		}
		got := endedBy(hitchpost.Task{State: hitchpost.TaskRunning}, taskEnd(task.Spec{Timeout: 20 * time.Second}, c.rec))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", name, diff)
		}
	}
	// It was never started: nothing is known of its use.
	end := taskEnd(task.Spec{}, task.Record{Cancelled: true, EndedAt: over})
	if end.Usage != nil || !end.StartedAt.IsZero() || end.Reason != "cancelled before its start" {
		t.Errorf("%+v", end)
	}
	// What has ended stays as it is.
	lost := hitchpost.Task{State: hitchpost.TaskLost}
	if got := endedBy(lost, store.TaskEnd{Change: hitchpost.ChangeTaskExitedWell}); got.State != hitchpost.TaskLost {
		t.Errorf("%+v", got)
	}
}

func TestOutdatedTasks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	kept := func() []keptTask {
		return []keptTask{{"old", now.Add(-40 * time.Hour), 10}, {"new", now, 10}, {"mid", now.Add(-20 * time.Hour), 100}}
	}
	for name, c := range map[string]struct {
		before time.Time
		space  int64
		want   []string
	}{
		"for ever":        {time.Time{}, 0, nil},
		"age":             {now.Add(-30 * time.Hour), 0, []string{"old"}},
		"space for all":   {time.Time{}, 120, nil},
		"space for some":  {time.Time{}, 119, []string{"old"}},
		"space for one":   {time.Time{}, 10, []string{"mid", "old"}},
		"space for none":  {time.Time{}, 1, []string{"new", "mid", "old"}},
		"both":            {now.Add(-time.Hour), 1000, []string{"mid", "old"}},
		"nothing is kept": {now.Add(time.Hour), 0, []string{"new", "mid", "old"}},
	} {
		if diff := cmp.Diff(c.want, outdated(kept(), c.before, c.space)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}
