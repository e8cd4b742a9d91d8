package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost/runtime/durable"
)

// What the environment of a session's Claude Code tells its hooks, which inherit it. The first is set for every session.
const (
	SessionVariable = "HITCHPOST_SESSION"    // the session's id
	RunVariable     = "HITCHPOST_RUN"        // the number of its run
	TokenVariable   = "HITCHPOST_HOOK_TOKEN" //nolint:gosec // the name of a variable, not what it holds
	SpoolVariable   = "HITCHPOST_HOOK_DIR"   // the directory of the spool
)

const (
	// spooledBytes bounds one file of the spool.
	spooledBytes = 64 << 10
	// spooledFiles bounds the spool: where nobody reads it, hooks drop what they have to tell above that.
	spooledFiles = 10_000
	// hookCallers is how many of the processes that a hook descends from are noted.
	hookCallers = 8
)

// spooled is an event on its way.
type spooled struct {
	Version int    `json:"version"`
	Token   string `json:"token"`
	Event
}

// Hook is the body of `hitchpost hook`, which Claude Code runs at its events: it reads the event from stdin and leaves it
// in the spool that the environment names, whole or not at all. Without that environment, as where a person has the hook
// among their own settings, it does nothing. An error is for tests: Claude Code would show it to a person who can do
// nothing about it. It may hang with stdin or the disk; the caller sets a limit.
//
// The event is there for the service before it is durable. Only the beginning of a conversation is made durable at all:
// a power loss ends the process that all else is about, but which conversation it had must be known after it.
func Hook(getenv func(string) string, stdin io.Reader, now time.Time) error {
	cut := false
	err := Leave(getenv, now, func() (Event, error) {
		e, err := Decode(stdin)
		cut = e.Cut
		return e, err
	})
	if cut {
		// Claude Code is still writing: a pipe that is closed under it would be an error on its screen.
		_, _ = io.CopyN(io.Discard, stdin, hookDrain)
	}
	return err
}

// Leave leaves the event that decode gives in the spool that the environment names, with the session's name, the time and
// the callers filled in. Without that environment decode is not called. It is Hook for other agents.
func Leave(getenv func(string) string, now time.Time, decode func() (Event, error)) error {
	dir, session, token := getenv(SpoolVariable), getenv(SessionVariable), getenv(TokenVariable)
	run, err := strconv.Atoi(getenv(RunVariable))
	if err != nil || run < 0 || run > maxRun || !filepath.IsAbs(dir) || session == "" || token == "" {
		return errNoSession
	}
	mark, err := newMark(run)
	if err != nil {
		return err
	}
	e, err := decode()
	if err != nil {
		return err
	}
	e.Session, e.At, e.Callers = session, now.UTC(), callersOf(os.Getppid(), hookCallers)
	data, err := json.Marshal(spooled{Version: 1, Token: token, Event: e})
	if err != nil {
		return err
	}
	if len(data) > spooledBytes {
		return errUnfit
	}
	names, err := readNames(dir, spooledFiles)
	if err != nil {
		return err
	}
	if len(names) >= spooledFiles {
		return errSpoolFull
	}
	return spool(dir, mark, data, e.Name == HookSessionStart)
}

// hookDrain is how much of an input is taken that is too long to be read.
const hookDrain = 64 << 20

var (
	errNoSession = errors.New("not called by a session's program")
	errSpoolFull = errors.New("the spool is full")
)

// maxRun is the last run that a mark can hold.
const maxRun = 999_999_999

// markFormat makes marks that sort as text in the order of runs, and of time within one, whatever the wall clock does.
const markFormat = "%09d-%019d-%010d"

// newMark is the mark of an event that happens now.
func newMark(run int) (string, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(bootClock, &t); err != nil {
		return "", err
	}
	return fmt.Sprintf(markFormat, run, t.Nano(), os.Getpid()), nil
}

// spool puts data into dir under a name that its reader knows only once it is whole.
func spool(dir, mark string, data []byte, keep bool) error {
	path, hidden := filepath.Join(dir, mark+spooledSuffix), filepath.Join(dir, "."+mark)
	f, err := os.OpenFile(hidden, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // what matters is synced
	if _, err = f.Write(data); err == nil {
		err = os.Rename(hidden, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(hidden))
	}
	if !keep {
		return nil
	}
	return errors.Join(f.Sync(), durable.SyncDir(dir))
}

// spooledSuffix ends the name of a whole event in the spool.
const spooledSuffix = ".json"
