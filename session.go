package hitchpost

import (
	"strconv"
	"time"
)

// Kind is what a session runs.
type Kind string

// The kinds of session.
const (
	Claude  Kind = "claude"
	Shell   Kind = "shell"
	Command Kind = "command"
)

// Session is one terminal workload. The zero time and the empty string stand for "none".
type Session struct {
	ID     string // lower-case UUID, version 7
	Handle string // short name, unique among sessions that are not closed
	Title  string
	Kind   Kind
	Node   string // name of the machine that runs it

	Project string
	Cwd     string // absolute, symlinks as the person gave them
	Repo    string // base name of the git working tree that holds Cwd
	Branch  string // branch checked out there, or a short commit when detached
	// Worktree is the absolute path of the worktree that was made for it, which may have been removed since; empty: none
	// was. WorktreeOf is the tree that it was made from.
	Worktree, WorktreeOf string

	State       State
	StateReason string
	StateSource Source
	StateSince  time.Time
	Attached    int // clients attached now

	Args           []string // the program and its words for kind command; extra words for the others
	RestartCommand string   // what a Restart runs in place of Args, split like a POSIX shell splits words
	ConversationID string   // of the agent's present conversation; see Agent.Former for those before
	Agent          *Agent   // nil where the session runs none; shared between copies and never changed
	Note           string
	Check          string

	ExitCode   *int   // nil while it runs, and after a signal
	ExitSignal string // name without SIG, such as KILL
	Restarts   int    // also the number of the run: the first is 0

	// Clash is the other agents that are at work in its agent's working tree, as they were a moment ago: each a session
	// or a process outside of any. It is found out anew each time and kept nowhere.
	Clash []OtherProcess

	CreatedAt      time.Time
	StartedAt      time.Time
	EndedAt        time.Time
	LastOutputAt   time.Time
	LastAttachedAt time.Time
	ClosedAt       time.Time

	// Revision grows with every change of what the store keeps of the session, so that of two readings the newer one is
	// known. It is not for scripts.
	Revision int64

	// LeaseUntil ends the time in which the start of a STARTING or the stop of a STOPPING session may be under way, by the
	// store's clock; after it the reconciler decides.
	LeaseUntil time.Time
}

// Leased reports whether the session's start or stop may be under way at a time of the store's clock. Where that clock
// was set back since the lease was given, it says nothing, and the lease is over: it would last for as long again.
func (s Session) Leased(now time.Time) bool {
	return now.Before(s.LeaseUntil) && !now.Before(s.StateSince)
}

// Open reports whether the session is still on the list.
func (s Session) Open() bool { return s.ClosedAt.IsZero() }

// Work is the repository and branch that the session works in, as repo@branch; the repository alone where no branch is
// known, and empty where the session is in none.
func (s Session) Work() string {
	if s.Repo == "" || s.Branch == "" {
		return s.Repo
	}
	return s.Repo + "@" + s.Branch
}

// Exit is how the session's last process ended, or nil where none has and where nobody saw how.
func (s Session) Exit() *Exit {
	if s.ExitCode == nil && s.ExitSignal == "" {
		return nil
	}
	return &Exit{Code: s.ExitCode, Signal: s.ExitSignal, At: s.EndedAt}
}

// Node is a machine, and an account on it, that runs sessions.
type Node struct {
	ID     string // UUID
	Name   string
	State  NodeState
	Reason string // why it is in that state, for people
	Since  time.Time
}

// NodeState tells whether a node gave a healthy answer when last asked.
type NodeState string

// The states of a node.
const (
	Online  NodeState = "ONLINE"
	Offline NodeState = "OFFLINE"
)

// Event is one line of a session's life, appended and never edited.
type Event struct {
	ID          int64
	SessionID   string // empty for events that are not of a session
	Handle      string // of the session, as it is when the event is read
	At          time.Time
	Kind        string // a Change, or another word for what changes no state
	From, To    State  // empty where no state is meant
	Actor       string // name, empty for the service itself
	Fingerprint string // of the key that the actor came with, may be empty
	Source      Source
	Reason      string
}

// Exit is how a process ended. Exactly one of Code and Signal is set, or neither when nobody saw the end.
type Exit struct {
	Code   *int
	Signal string // name without SIG
	At     time.Time
}

// Well reports whether the process ended with code 0.
func (e Exit) Well() bool { return e.Code != nil && *e.Code == 0 }

// String tells people how the process ended: "exit 3", "killed by SIGKILL" or "ended in a way nobody saw".
func (e Exit) String() string {
	switch {
	case e.Code != nil:
		return "exit " + strconv.Itoa(*e.Code)
	case e.Signal != "":
		return "killed by SIG" + e.Signal
	default:
		return "ended in a way nobody saw"
	}
}

// Status is the exit status that a shell would give: the code, or 128+N for signal N, or 1 when nobody saw the end.
// signum turns a signal's name into its number.
func (e Exit) Status(signum func(string) int) int {
	switch {
	case e.Code != nil:
		return *e.Code
	case e.Signal != "":
		return 128 + signum(e.Signal)
	default:
		return 1
	}
}
