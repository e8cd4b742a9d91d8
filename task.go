package hitchpost

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	shellquote "github.com/kballard/go-shellquote"
)

// Task is one background command with a durable log and exit code. The zero time and the empty string stand for "none".
type Task struct {
	ID        string // lower-case UUID, version 7, so that ids sort by the time of their making
	Name      string // for people, may be empty
	SessionID string // of the session that it belongs to, may be empty
	Node      string // name of the machine that runs it
	Cwd       string // absolute
	Argv      []string
	State     TaskState
	Reason    string // why it is in that state, for people

	ExitCode   *int   // nil while it runs, after a signal, and where nobody saw the end
	ExitSignal string // name without SIG
	TimedOut   bool   // it was ended because Timeout was over

	Actor     string        // who started it
	Timeout   time.Duration // until it is ended; 0: never
	StartedAt time.Time
	EndedAt   time.Time
	LogBytes  int64  // all bytes that it wrote, also where the log keeps fewer
	Usage     *Usage // nil while it runs, and where nobody saw the end
}

// Usage is what a process and its children took.
type Usage struct {
	User, System time.Duration
	MaxRSS       int64 // bytes, of the largest process
}

// Exit is how the task ended, or nil where it has not and where nobody saw how.
func (t Task) Exit() *Exit {
	if t.ExitCode == nil && t.ExitSignal == "" {
		return nil
	}
	return &Exit{Code: t.ExitCode, Signal: t.ExitSignal, At: t.EndedAt}
}

// Called is what people call the task: its name, or the beginning of its command as a shell would be given it.
func (t Task) Called() string {
	if t.Name != "" {
		return t.Name
	}
	words := make([]string, 0, min(len(t.Argv), maxCalled+1)) // more are not told of, long as they may be
	for _, word := range t.Argv[:cap(words)] {
		words = append(words, word[:min(len(word), maxCalled+1)])
	}
	command := shellquote.Join(words...)
	if len(command) > maxCalled {
		return strings.ToValidUTF8(command[:maxCalled], "") + "…"
	}
	return command
}

// maxCalled is how much of a command is told where a task is only named, in bytes: events and messages about it would be
// as long as its words, which may be megabytes.
const maxCalled = 120

// TaskState is where a task stands.
type TaskState string

// The states of a task, as people and scripts read them. All but TaskRunning are final.
const (
	TaskRunning   TaskState = "RUNNING"
	TaskSucceeded TaskState = "SUCCEEDED" // exit code 0
	TaskFailed    TaskState = "FAILED"    // another code, a signal, its limit, or no start
	TaskCancelled TaskState = "CANCELLED" // a person ended it
	TaskLost      TaskState = "LOST"      // it is gone and nobody saw its end
)

// TaskStates lists every state of a task.
func TaskStates() []TaskState {
	return []TaskState{TaskRunning, TaskSucceeded, TaskFailed, TaskCancelled, TaskLost}
}

// Ended reports whether the state is final.
func (s TaskState) Ended() bool { return s != TaskRunning && s != "" }

// TaskChange is something that happens to a task and moves its state.
type TaskChange string

// The changes of tasks. Each is also the kind of the event that records it.
const (
	ChangeTaskStarted     TaskChange = "task_started"      // a person asked for it
	ChangeTaskFound       TaskChange = "task_found"        // it is on this machine, and the store did not know it
	ChangeTaskNotStarted  TaskChange = "task_not_started"  // its process never came up
	ChangeTaskExitedWell  TaskChange = "task_exited"       // its process ended with code 0
	ChangeTaskExitedBadly TaskChange = "task_exited_badly" // another code, a signal, or its limit
	ChangeTaskCancelled   TaskChange = "task_cancelled"    // a person ended it
	ChangeTaskLost        TaskChange = "task_lost"         // neither its runner nor a record of its end is there
)

// TaskChanges lists every change of tasks.
func TaskChanges() []TaskChange {
	return []TaskChange{
		ChangeTaskStarted, ChangeTaskFound, ChangeTaskNotStarted, ChangeTaskExitedWell, ChangeTaskExitedBadly,
		ChangeTaskCancelled, ChangeTaskLost,
	}
}

// NextTask is the state that follows from by c; ok is false where c cannot happen in that state. The empty state stands
// for a task that does not exist yet. A final state is never left: a task runs once.
func NextTask(from TaskState, c TaskChange) (to TaskState, ok bool) {
	switch {
	case from == "" && (c == ChangeTaskStarted || c == ChangeTaskFound):
		return TaskRunning, true
	case from != TaskRunning:
		return "", false
	}
	switch c {
	case ChangeTaskExitedWell:
		return TaskSucceeded, true
	case ChangeTaskExitedBadly, ChangeTaskNotStarted:
		return TaskFailed, true
	case ChangeTaskCancelled:
		return TaskCancelled, true
	case ChangeTaskLost:
		return TaskLost, true
	}
	return "", false
}

// TaskRequest asks for a new task.
type TaskRequest struct {
	Name    string   // for people, may be empty
	Session string   // REF of the session that it belongs to, may be empty
	Cwd     string   // empty: that of the session, else the account's home; relative to the home otherwise
	Node    string   // empty: this node
	Argv    []string // the program and its words
	Timeout time.Duration
	Stdin   bool // its input is fed to it; without, it has none
}

// TaskListRequest chooses tasks. Empty fields choose all.
type TaskListRequest struct {
	States  []TaskState
	Session string // REF
	Node    string
}

// TaskLogRequest asks for what a task wrote.
type TaskLogRequest struct {
	Tail   *int // only the last so many lines; nil: all
	Follow bool // and what it writes from now on, until it ends
}

// maxTaskName is the longest name of a task, in characters.
const maxTaskName = 200

// CheckTaskName is nil for text that a task may be called: one line without characters that hide or move others. The
// error is of kind UsageError.
func CheckTaskName(name string) error {
	bad := func(r rune) bool { return r == unicode.ReplacementChar || OneLine(string(r)) != string(r) }
	if utf8.RuneCountInString(name) > maxTaskName || strings.ContainsFunc(name, bad) {
		return Errorf(UsageError, "that name cannot be used").For("name").
			Hinted("use up to %d printable characters on one line", maxTaskName)
	}
	return nil
}
