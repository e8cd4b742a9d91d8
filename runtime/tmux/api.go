package tmux

import (
	"log/slog"
	"time"

	"github.com/hitchpost/hitchpost"
)

// Config is what a Server needs to know.
type Config struct {
	// Dir holds the configuration, the lock and, where its path is short enough, the socket. It is made with mode
	// 0700 if it is missing.
	Dir string
	// Binary is the tmux to run; empty: the one in PATH.
	Binary string
	// Env is the environment of the tmux server and so the base of every pane's; nil: PATH, HOME, USER, LOGNAME and
	// SHELL of this process. The locale is always set to UTF-8 and TMUX is always removed.
	Env []string
	// Log gets what happens in the background; nil: nothing is logged.
	Log *slog.Logger
	// Patient has Open succeed also where the server lives but does not answer. Calls fail until it does.
	Patient bool
}

// Pane is what tmux knows of one session's process.
type Pane struct {
	Session    string // our id, without hp-
	TmuxID     string // such as $3
	PaneID     string // such as %5
	Pid        int    // of the process that was started, also after it died
	Dead       bool   // the process ended; tmux keeps its screen
	DeadCode   *int   // exit code as tmux saw it; nil when it did not
	DeadSignal string // name without SIG, as tmux saw it
	LastOutput time.Time
	Run        int
	Size       hitchpost.Size
	Attached   int // views open now
}

// Start asks for a new session with one process in it.
type Start struct {
	Session string   // our id
	Run     int      // number of the run
	Command []string // the program and its words; no shell reads it
	Size    hitchpost.Size
	Record  []byte // kept by tmux with the session; see Server.Record
	Title   string // shown as the title of attached terminals; may be empty
}

// Capture asks for text from a session's pane.
type Capture struct {
	Lines    int  // the last so many rows of the screen; 0: all of it. Ignored with History
	History  bool // the whole history, then the screen, wrapped lines joined
	ANSI     bool // with colours and attributes as SGR sequences
	MaxLines int  // keep only the last so many lines of the answer; 0: all
}

// Attach asks for a view of a session.
type Attach struct {
	Session  string
	Terminal hitchpost.Terminal // Size must be clamped
	// ReplayLines is how many logical lines of history, the newest, go before the screen; 0: none, negative: all.
	ReplayLines int
	// Before goes above the history: lines ended by LF, with no sequence but SGR; may be empty.
	Before []byte
	// Clear wipes screen and scrollback of the terminal before the replay.
	Clear bool
	// ReadOnly drops what is written to the view and keeps its size out of the session's.
	ReadOnly bool
}
