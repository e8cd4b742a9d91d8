package hitchpost

import (
	"strconv"
	"strings"
	"time"
)

// StartRequest asks for a new session.
type StartRequest struct {
	Title          string // empty: made from the directory and the program
	Kind           Kind   // empty: command where there are Args, else shell
	Cwd            string // empty: the account's home; relative to the home otherwise
	Project        string
	Node           string // empty: this node
	Note           string
	Check          string
	RestartCommand string
	Args           []string // with a Preset: behind its words
	Preset         string   // name of what is known of an agent, which says what runs; the kind is command then
	Env            []string // NAME=value, over what a session's environment holds anyway; the last of a name counts
	Size           Size     // of the terminal that asked; the zero value means 80x24

	// Worktree makes a worktree of the repository that holds Cwd and starts there, in the same sub-directory. It is not
	// taken away before RemoveWorktree is asked for, unless the session does not come up. Branch is checked out in it: one
	// that there is, or a new one; empty stands for a new one that is named after the session.
	Worktree bool
	Branch   string

	// Force starts an agent also in a working tree where another is at work. Without it that is a ConflictError which names
	// the other, and for which Forcible is true.
	Force bool

	// IfAbsent starts nothing where an open session has the handle that Title would give: that session is the result.
	IfAbsent bool

	// Watch is how long to stay with the new process so that an early end is reported; zero returns once it is up.
	Watch time.Duration
}

// StartResult is the answer to a StartRequest or a restart.
type StartResult struct {
	Session Session
	// Early is set when the process ended within the watched time: how, and the first lines it printed.
	Early      *Exit
	FirstLines []string
}

// StopRequest asks for the end of a session's process.
type StopRequest struct {
	Signal  string        // name with or without SIG; empty: what ends this kind of session politely
	Timeout time.Duration // until KILL; zero: 10 s
}

// RestartRequest asks for a fresh process under the same session.
type RestartRequest struct {
	Size  Size
	Watch time.Duration // as in StartRequest

	// Fresh begins a new conversation, where without it the session's own would be resumed. For an agent alone.
	Fresh bool
	// Conversation is the id, a lower-case UUID, of the conversation to resume in place of the session's own. For an agent
	// alone, and not together with Fresh. One that another session runs gives ConflictError.
	Conversation string

	// Prompt is the first that the agent of the fresh process is told, such as a Briefing. Empty: nothing. For a session
	// that CanBrief lets pass alone.
	Prompt string

	// Force starts the process beside what an earlier one has left running, which it does not touch, and an agent also
	// where another is at work in the same working tree. Without it either is a ConflictError which names the other, and
	// for which Forcible is true.
	Force bool
}

// SendRequest asks for text and keys to be typed into a live session: the text first, then the keys.
type SendRequest struct {
	Text string   // UTF-8 of MaxSent bytes at most, with no control character but line feed, carriage return and tab
	Keys []string // names as tmux knows them, such as Enter, C-c or M-x
}

// MaxSent is the longest text of a SendRequest, in bytes.
const MaxSent = 1 << 20

// SendResult tells what became of a SendRequest that was carried out.
type SendResult struct {
	Session Session
	Seen    bool // the terminal showed it, or for keys and blanks alone changed; else nobody knows whether it arrived
}

// WaitRequest asks to be told when a session is in one of the states.
type WaitRequest struct {
	States  []State       // empty: those that ask for a person, WAITING_FOR_INPUT, STOPPED, FAILED and RECOVERABLE
	Timeout time.Duration // zero: none
}

// NoteRequest changes a session's note: Text takes its place or, with Append, is added to it on a line of its own.
type NoteRequest struct {
	Text   string
	Append bool
	// Expect is the note that Text was written from. Where the session has another one by now, nothing is written, and the
	// answer is a ConflictError for the field note together with the session as it is. Nil: whatever there is.
	Expect *string
}

// ListRequest chooses sessions. Empty fields choose all.
type ListRequest struct {
	States  []State
	Node    string
	Project string
	All     bool // closed ones too
}

// EventRequest chooses events. Empty fields choose all.
type EventRequest struct {
	Session string    // id
	After   int64     // id of the last event that is known already
	Since   time.Time // not those from before
	Limit   int       // at most so many; 0: as many as come at once
}

// EventQuery asks for the part of the event log that an actor may see. Empty fields choose all.
type EventQuery struct {
	Ref   string    // of a session, which may be closed; empty: of all, and what is of no session
	Since time.Time // not those from before
	Count int       // the last so many of those there are; of those that are followed the first so many; 0: all
}

// CaptureRequest asks for text from a session's terminal.
type CaptureRequest struct {
	Lines   int  // the last so many rows of the screen; 0: all of it
	History bool // the whole history, then the screen
	ANSI    bool // with colours and attributes as SGR sequences
}

// Captured is text of a session's terminal, lines ended by LF.
type Captured struct {
	Text []byte
	At   time.Time // when the terminal showed it; zero: now
}

// Size is a terminal's size in character cells.
type Size struct{ Cols, Rows int }

// The sizes that are let through to a program; what lies outside is moved to the nearest.
const (
	MinCols, MaxCols = 2, 1000
	MinRows, MaxRows = 2, 500
)

// Clamp returns the nearest usable size. A zero in either direction means that the client did not know it: 80x24.
func (s Size) Clamp() Size {
	if s.Cols <= 0 || s.Rows <= 0 {
		return Size{80, 24}
	}
	return Size{min(max(s.Cols, MinCols), MaxCols), min(max(s.Rows, MinRows), MaxRows)}
}

// Terminal is what is known of a client's terminal.
type Terminal struct {
	Name      string // TERM as the client sent it
	Size      Size
	TrueColor bool // it is known to show 24-bit colour, or not known not to
	NoColor   bool // NO_COLOR was set
}

// CheckDrawing is nil for a terminal that can do more than print, as far as its name tells. The error is a UsageError.
func (t Terminal) CheckDrawing() error {
	shown := "the terminal " + strconv.Quote(t.Name)
	switch {
	case t.Name == "":
		shown = "an unnamed terminal"
	case t.Name != "dumb" && t.Name != "unknown" && !strings.HasPrefix(t.Name, "dumb-"):
		return nil
	}
	return Errorf(UsageError, "%s cannot show this", shown).
		Hinted("use one that moves its cursor, such as TERM=xterm-256color")
}

// AttachRequest asks for a view of a live session.
type AttachRequest struct {
	Ref      string
	Terminal Terminal
	ReadOnly bool
	NoReplay bool
	Clear    bool // erase the terminal's screen and scrollback before the replay
	// Client is the id that `hitchpost connect` sends so that a dropped client finds its session again; may be empty.
	Client string
}

// AttachEnd is why a view of a session ended.
type AttachEnd struct {
	Reason  EndReason
	Session Session // as it was at the end
	Exit    *Exit   // set for EndExited
	Message string  // for people, set for EndCut
}

// EndReason is one of the ways in which a view ends.
type EndReason string

// The ways in which a view ends.
const (
	EndDetached EndReason = "detached" // the person left
	EndExited   EndReason = "exited"   // the session's process ended
	EndLost     EndReason = "lost"     // tmux lost the session
	EndCut      EndReason = "cut"      // the service ended the view
)

// Status is the health of each part, as `status` prints it.
type Status struct {
	Version  string
	Started  time.Time
	Database Part
	Nodes    []Node
	Sessions map[State]int
	Clients  int // views open now
}

// Part is the health of one part: ok, or why not and since when.
type Part struct {
	OK     bool
	Reason string
	Since  time.Time
}
