package task

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost/runtime/launch"
)

// downTime is how long a command that TERM or HUP ended waits to be believed: a machine that goes down sends them to
// every process, in any order, and the runner's own may come last.
const downTime = 500 * time.Millisecond

// runner is one run of a task.
type runner struct {
	folder  string
	spec    Spec
	signals caught
	log     *keeper
	stdin   int // the command's input, until it has been started; -1: none yet
	input   int // the runner's own end of it, which keeps it open until somebody feeds it; -1: none
	pid     int // of the command's first process, and of its session
	sent    bool
	kill    <-chan time.Time // when what is left gets KILL
	record  Record
}

func newRunner(folder string, spec Spec, signals caught) *runner {
	return &runner{
		folder: folder, spec: spec, signals: signals, log: newKeeper(folder, spec.LogLimit), stdin: -1, input: -1,
	}
}

// run starts the command and stays with it to its end. Then the record is complete.
func (r *runner) run() {
	if r.cancelAsked() || r.goingDown(0) {
		r.record.Cancelled = r.cancelAsked()
		r.record.Hangup = !r.record.Cancelled
		r.record.EndedAt = time.Now()
		return
	}
	started := time.Now()
	s, err := r.start()
	if err != nil {
		code := launch.StartStatus(err)
		r.record.Code, r.record.Error, r.record.EndedAt = &code, err.Error(), time.Now()
		return
	}
	r.record.StartedAt = started
	s.begin()
	status, alone := r.await()
	r.record.EndedAt = started.Add(time.Since(started)) // on the monotonic clock
	r.record.InputCut = r.inputCut()
	r.judge(status)
	s.end()
	s.drain()
	if !alone {
		s.begin()
		r.clear()
		s.end()
		s.drain()
	}
	r.record.LogBytes = r.log.total
	r.account()
}

// await stays until the command's first process has ended. alone tells that no other process of the task is left that
// this one could know of.
func (r *runner) await() (status *syscall.WaitStatus, alone bool) {
	var limit <-chan time.Time
	if r.spec.Timeout > 0 {
		limit = time.After(r.spec.Timeout) // it stands still while the machine sleeps, as the monotonic clock does
	}
	r.heed() // marks that came before the signal could
	for {
		select {
		case <-r.signals.child:
			if status, none := reap(r.pid); status != nil || none {
				return status, none
			}
		case <-r.signals.poked:
			r.heed()
		case <-r.signals.down:
			r.finish(&r.record.Hangup, RestGrace)
		case <-limit:
			r.finish(&r.record.TimedOut, CancelGrace)
		case <-r.kill:
			r.send(syscall.SIGKILL)
			r.kill = time.After(lookAgain) // for what was made meanwhile
		}
	}
}

// heed looks at the marks in the folder.
func (r *runner) heed() {
	if r.input >= 0 && exists(in(r.folder, fedName)) {
		_ = unix.Close(r.input)
		r.input = -1
	}
	if r.cancelAsked() {
		r.finish(&r.record.Cancelled, CancelGrace)
	}
}

func (r *runner) cancelAsked() bool { return exists(in(r.folder, cancelName)) }

// finish ends the command for a reason. The first reason is the one that counts; a later one may bring the end forward.
func (r *runner) finish(reason *bool, grace time.Duration) {
	if !r.sent {
		*reason, r.sent = true, true
		r.send(syscall.SIGTERM)
		r.kill = time.After(grace)
	} else if grace < CancelGrace {
		r.kill = time.After(grace)
	}
}

// send signals every process of the command's session. One that cannot be signalled is not there or somebody else's by
// now, and there is nobody to tell.
func (r *runner) send(s syscall.Signal) (left int) {
	left, _ = launch.SignalSession(r.pid, s)
	return left
}

// judge records how the first process ended.
func (r *runner) judge(status *syscall.WaitStatus) {
	switch {
	case status == nil: // somebody else took the status: the end is known, not how
		code := statusRunner
		r.record.Code, r.record.Error = &code, "the end of the command was not seen"
	case status.Signaled():
		r.record.Signal = launch.SignalName(status.Signal())
	default:
		code := status.ExitStatus()
		r.record.Code = &code
	}
	if !r.sent {
		wait := time.Duration(0)
		if r.record.Signal == "TERM" || r.record.Signal == "HUP" {
			wait = downTime
		}
		r.record.Hangup = r.goingDown(wait)
	}
}

// goingDown reports whether the runner was told to end or its terminal is gone: once its other side is closed every
// ioctl fails with EIO (tty_ioctl(4)).
func (r *runner) goingDown(wait time.Duration) bool {
	select {
	case <-r.signals.down:
		return true
	default:
	}
	if wait > 0 {
		select {
		case <-r.signals.down:
			return true
		case <-time.After(wait):
		}
	}
	_, err := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ)
	return errors.Is(err, unix.EIO)
}

// clear ends what the first process left behind: TERM, unless it had that, and KILL after RestGrace. It gives up on what
// does not end of KILL within as long again.
func (r *runner) clear() {
	s := syscall.Signal(0) // asks who is there
	if !r.sent {
		s = syscall.SIGTERM
	}
	end := time.Now().Add(RestGrace)
	again := time.NewTicker(restTick)
	defer again.Stop()
	for r.send(s) > 0 {
		s = 0
		select {
		case <-r.signals.child:
			if _, none := reap(r.pid); none {
				return
			}
		case <-again.C:
		}
		switch late := time.Since(end); {
		case late > RestGrace:
			return
		case late > 0:
			s = syscall.SIGKILL
		}
	}
	reap(r.pid)
}

// restTick is how often a runner looks for what is left where no signal tells.
const restTick = 50 * time.Millisecond

// account records what the processes of the task used.
func (r *runner) account() {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		return
	}
	r.record.UserSeconds = float64(usage.Utime.Nano()) / 1e9
	r.record.SystemSeconds = float64(usage.Stime.Nano()) / 1e9
	r.record.MaxRSSBytes = int64(usage.Maxrss) * maxRSSUnit //nolint:unconvert // 32 bits wide on some machines
}

// reap takes the status of every child that has ended, so that what the command left behind is accounted for. status is
// that of the child with pid, should it be among them; none tells that there are no children any more.
func reap(pid int) (status *syscall.WaitStatus, none bool) {
	for {
		var s syscall.WaitStatus
		child, err := syscall.Wait4(-1, &s, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // ECHILD
			return status, true
		case child == 0:
			return status, false
		case child == pid:
			status = &s
		}
	}
}

// start makes the command a child of this process, and a pipe that its output comes from.
func (r *runner) start() (*sink, error) {
	if err := r.noInput(); err != nil {
		return nil, err
	}
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		return nil, fmt.Errorf("no pipe for its output: %w", err)
	}
	defer syscall.Close(r.stdin)
	defer syscall.Close(pipe[1])
	// The command's end stays as programs expect it, the other one waits in the poller.
	if err := syscall.SetNonblock(pipe[0], true); err != nil {
		return nil, fmt.Errorf("no pipe for its output: %w", err)
	}
	s := &sink{pipe: os.NewFile(uintptr(pipe[0]), "output"), log: r.log, buf: make([]byte, bufferSize)}
	c := launch.Command{Argv: r.spec.Argv, Env: r.spec.Env, Dir: r.spec.Dir}
	pid, err := launch.Start(c, []uintptr{uintptr(r.stdin), uintptr(pipe[1]), uintptr(pipe[1])}, confine())
	r.pid = pid
	return s, err
}
