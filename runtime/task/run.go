package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"time"

	"github.com/hitchpost/hitchpost/runtime/durable"
	"github.com/hitchpost/hitchpost/runtime/launch"
)

// How long the processes of a task are given between TERM and KILL; see the rules in the package's documentation.
const (
	CancelGrace = 10 * time.Second // after Cancel and at the time limit
	RestGrace   = 2 * time.Second  // for what the first process left behind, and when the machine or tmux goes down
)

// statusRunner is the exit status of a runner that ran nothing: no usable Spec, or started before.
const statusRunner = 125

// memory is what a runner may take before its collector runs.
const memory = 16 << 20

// Run is the body of `hitchpost run-task`: it runs the command of the task in folder, which is absolute, to its end,
// keeps its output and its Record, and returns the exit status that a shell would give (128+N for signal N), or 125
// where it ran nothing.
//
// Run belongs to a process of its own, which it leaves with its thread, signals and collector settings changed.
func Run(folder string) (exitStatus int) {
	goruntime.GOMAXPROCS(1)
	goruntime.LockOSThread() // the command's end is bound to that of the thread that started it; see confine
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memory)
	signals := catch() // a poke ends nobody from here on

	locked, err := lock(folder)
	if err != nil {
		return complain("this task cannot be run: %v", err)
	}
	if !locked {
		return complain("this task is being run")
	}
	spec, err := readSpec(folder)
	if err != nil {
		return complain("this task cannot be run: %v", err)
	}
	r := newRunner(folder, spec, signals)
	place, err := r.claim()
	if errors.Is(err, fs.ErrNotExist) {
		return complain("this task was started before: it is never run twice")
	}
	if err != nil {
		return complain("this task cannot be run: %v", err)
	}
	r.run()
	if err := r.keep(place); err != nil {
		complain("the end of this task could not be recorded: %v", err)
	}
	return r.record.Exit().Status(launch.Number)
}

// claim turns the place of the record into the mark of the start, which is there once in the life of a task. That takes
// no space on the disk. The command's input is open when the mark is there; see Feed.
func (r *runner) claim() (place *os.File, err error) {
	if r.spec.Stdin {
		if err := r.openInput(); err != nil {
			return nil, err
		}
	}
	if err := os.Rename(in(r.folder, placeName), in(r.folder, startedName)); err != nil {
		return nil, err
	}
	if err := durable.SyncDir(r.folder); err != nil {
		return nil, err
	}
	return os.OpenFile(in(r.folder, startedName), os.O_RDWR, 0)
}

// keep writes the record: into the place held for it, or elsewhere where that fails. The log is made durable behind it:
// nobody who waits for the end waits for a slow disk.
func (r *runner) keep(place *os.File) error {
	_ = os.Remove(in(r.folder, stdinName))
	data, err := r.record.encode()
	if err != nil {
		return err
	}
	path := in(r.folder, RecordName)
	if err := durable.Finish(place, data, path); err != nil {
		if again := durable.Replace(path, data); again != nil {
			return errors.Join(err, again)
		}
	}
	return r.log.sync()
}

// complain prints one line on the runner's terminal and returns the status of a runner that ran nothing.
func complain(format string, args ...any) int {
	fmt.Fprintf(os.Stderr, "hitchpost: "+format+"\r\n", args...)
	return statusRunner
}
