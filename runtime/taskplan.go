package runtime

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/task"
	"github.com/hitchpost/hitchpost/store"
)

// taskSeen is what one look at a running task gave: tmux first, its folder after that. The order matters: a runner that
// tmux does not know any more has left its record, if it ever will.
type taskSeen struct {
	inTmux bool // a healthy tmux has it, and its process lives there
	folder task.Seen
	err    error // of the look at the folder
}

// planTask says how a task that the store holds as running has ended, or is nil where it has not or nobody can tell
// yet. It is pure.
func planTask(now time.Time, t hitchpost.Task, seen taskSeen) *store.TaskEnd {
	over := now.Sub(t.StartedAt) > startLease || now.Before(t.StartedAt.Add(-startLease))
	switch {
	case errors.Is(seen.err, fs.ErrNotExist):
		if seen.inTmux || !over {
			return nil
		}
		return &store.TaskEnd{Change: hitchpost.ChangeTaskLost, Reason: "its files are gone, and tmux does not run it"}
	case errors.Is(seen.err, task.ErrDamaged):
		if seen.inTmux || !over {
			return nil
		}
		return &store.TaskEnd{Change: hitchpost.ChangeTaskLost, Reason: "its files are damaged, and tmux does not run it"}
	case seen.err != nil:
		return nil // unknown is not gone
	case seen.folder.Record != nil:
		end := taskEnd(seen.folder.Spec, *seen.folder.Record)
		return &end
	case seen.folder.Alive || seen.inTmux:
		return nil
	case seen.folder.Started:
		return &store.TaskEnd{
			Change: hitchpost.ChangeTaskLost, LogBytes: seen.folder.LogBytes,
			Reason: "its runner is gone and has left no record",
		}
	case over:
		return &store.TaskEnd{Change: hitchpost.ChangeTaskNotStarted, Reason: "its process never came up"}
	}
	return nil
}

// taskEnd is the end that a record tells of. It is pure.
func taskEnd(spec task.Spec, rec task.Record) store.TaskEnd {
	exit := rec.Exit()
	end := store.TaskEnd{
		Change: hitchpost.ChangeTaskExitedBadly, Exit: &exit, StartedAt: rec.StartedAt, LogBytes: rec.LogBytes,
		Usage: &hitchpost.Usage{User: inSeconds(rec.UserSeconds), System: inSeconds(rec.SystemSeconds), MaxRSS: rec.MaxRSSBytes},
	}
	switch {
	case rec.Cancelled:
		end.Change, end.Reason = hitchpost.ChangeTaskCancelled, "cancelled"
		if rec.StartedAt.IsZero() {
			end.Reason, end.Usage = "cancelled before its start", nil
		}
	case rec.Hangup:
		return store.TaskEnd{
			Change: hitchpost.ChangeTaskLost, StartedAt: rec.StartedAt, LogBytes: rec.LogBytes,
			Reason: "tmux went down while it ran",
		}
	case rec.TimedOut:
		end.TimedOut, end.Reason = true, fmt.Sprintf("took longer than its limit of %v", spec.Timeout)
	default:
		why := rec.Error
		if rec.InputCut {
			why = "its input was cut off before the end"
		}
		end.Reason = exitReason(exit, why)
		if exit.Well() {
			end.Change = hitchpost.ChangeTaskExitedWell
		}
	}
	return end
}

// endedBy is t as the store will have it once it is told of the end. It is pure.
func endedBy(t hitchpost.Task, end store.TaskEnd) hitchpost.Task {
	state, ok := hitchpost.NextTask(t.State, end.Change)
	if !ok {
		return t
	}
	t.State, t.Reason, t.TimedOut, t.LogBytes, t.Usage = state, end.Reason, end.TimedOut, end.LogBytes, end.Usage
	if !end.StartedAt.IsZero() {
		t.StartedAt = end.StartedAt.UTC()
	}
	if end.Exit != nil {
		t.ExitCode, t.ExitSignal, t.EndedAt = end.Exit.Code, end.Exit.Signal, end.Exit.At.UTC()
	}
	return t
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
