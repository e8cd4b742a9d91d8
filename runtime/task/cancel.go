package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost/runtime/durable"
)

// ErrEnded says that a task is over already.
var ErrEnded = errors.New("the task has ended")

// Cancel asks the runner of a task to end its command: TERM to all of its session, KILL after CancelGrace. It does not
// wait for the end. The wish is durable: where no runner has started yet, one that comes runs nothing and records
// Cancelled. It may be called again and does nothing more then.
//
// It is ErrEnded where the task is over (see Seen.Over), and wraps fs.ErrNotExist where there is no task.
func Cancel(folder string) error {
	seen, err := Look(folder)
	if err != nil {
		return err
	}
	if seen.Over() {
		return ErrEnded
	}
	if err := mark(folder, cancelName); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cancel task: %w", err)
	}
	if err := poke(folder); err != nil {
		return fmt.Errorf("cancel task: %w", err)
	}
	return nil
}

// mark leaves a durable empty file. It is fs.ErrExist where there is one.
func mark(folder, name string) error {
	f, err := os.OpenFile(in(folder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return durable.SyncDir(folder)
}

// poke has the runner look at the marks in its folder. Without a runner it does nothing: one that comes looks by itself
// once it holds the lock.
func poke(folder string) error {
	pid, err := holder(folder)
	if err != nil || pid <= 1 {
		return err
	}
	// On Linux this refers to the process and not to its number. If the lock is still held by it now, it is the runner
	// that the signal reaches, and no process that was given the number of one that ended.
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer func() { _ = p.Release() }()
	if again, err := holder(folder); err != nil || again != pid {
		return err
	}
	for _, s := range []os.Signal{unix.SIGUSR1, unix.SIGCONT} { // a stopped runner would not look
		if err := p.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
	}
	return nil
}
