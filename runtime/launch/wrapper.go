package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	goruntime "runtime"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/durable"
)

// Exit statuses of a wrapper whose program never ran; the meanings are those of env(1) and the shells.
const (
	statusWrapper       = 125 // the wrapper itself failed: no usable Spec, or this run has been started before
	statusNotExecutable = 126
	statusNotFound      = 127
)

// Run is the body of `hitchpost run-session`: it runs the program of the Spec at specPath on the terminal that it
// finds on its standard streams, waits for it, writes the Record and returns the exit status that a shell would give
// (128+N for signal N).
//
// Run belongs to a process of its own, the leader of the terminal's session. The program is a child in the same
// process group, and that is what makes the terminal behave as without a wrapper: both are in the foreground group, so
// the keys' signals reach the program from the kernel; and the group is orphaned (the only parent outside of it, tmux,
// is in another session), so that the kernel discards stops that nobody could undo (setpgid(2), POSIX 2.4.3).
func Run(specPath string) (exitStatus int) {
	goruntime.GOMAXPROCS(1)
	debug.SetGCPercent(-1) // a few hundred kB are allocated in all; a collector would only cost pages
	signals := catch()
	defer signals.release()

	spec, err := readSpec(specPath)
	if err != nil {
		return complain(statusWrapper, "this session cannot be run: %v", err)
	}
	place, err := claim(spec.Record)
	if errors.Is(err, fs.ErrExist) {
		return complain(statusWrapper, "this run was started before: restart the session instead")
	}
	record := run(spec, signals)
	if record.Error != "" {
		complain(0, "%s", record.Error)
	}
	if err := keep(record, spec.Record, place); err != nil {
		complain(0, "the end of this session could not be recorded: %v", err)
	}
	return record.Status(Number)
}

// run starts the program and stays with it to its end.
func run(spec Spec, signals *catcher) Record {
	record := Record{Session: spec.Session, Run: spec.Run}
	started := time.Now()
	pid, err := start(spec)
	if err != nil {
		code := StartStatus(err)
		record.Exit = hitchpost.Exit{Code: &code, At: time.Now()}
		record.Error = err.Error()
		return record
	}
	record.Pid, record.StartedAt = pid, started
	signals.forward(pid)
	debug.FreeOSMemory()
	status, usage, err := wait(pid)
	signals.forward(0)
	record.At, record.Hangup = time.Now(), hungUp()
	if !record.Hangup {
		flush()
	}
	switch {
	case err != nil: // somebody else took the status: the end is known, not how
		code := statusWrapper
		record.Code, record.Error = &code, fmt.Sprintf("the program's end was not seen: %v", err)
		return record
	case status.Signaled():
		record.Signal = SignalName(status.Signal())
	default:
		code := status.ExitStatus()
		record.Code = &code
	}
	record.UserSeconds = seconds(usage.Utime)
	record.SystemSeconds = seconds(usage.Stime)
	record.MaxRSSBytes = int64(usage.Maxrss) * maxRSSUnit() //nolint:unconvert // 32 bits wide on some machines
	return record
}

// hungUp reports whether the terminal is gone: once its other side is closed every ioctl fails with EIO
// (tty_ioctl(4)).
func hungUp() bool {
	_, err := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ)
	return err == unix.EIO
}

// wait waits for the child and nothing else: what it leaves in the background holds nobody. It does not rely on
// SIGCHLD, so none can get lost.
func wait(pid int) (syscall.WaitStatus, syscall.Rusage, error) {
	for {
		var status syscall.WaitStatus
		var usage syscall.Rusage
		_, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, &usage)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, usage, err
		case status.Stopped():
			resume(pid, status.StopSignal())
		default:
			return status, usage, nil
		}
	}
}

// resume continues a program that was stopped, as tmux does with a program that it started itself: nobody else could.
// A program that touched the terminal from the background would only stop again.
func resume(pid int, by syscall.Signal) {
	if by == syscall.SIGTTIN || by == syscall.SIGTTOU {
		return
	}
	if group, err := syscall.Getpgid(pid); err == nil && syscall.Kill(-group, syscall.SIGCONT) == nil {
		return
	}
	_ = syscall.Kill(pid, syscall.SIGCONT)
}

// claim takes the space that was prepared for a record, which one wrapper alone can. It fails with fs.ErrExist where
// the run has been started before.
func claim(record string) (*os.File, error) {
	if _, err := os.Lstat(record); err == nil {
		return nil, fmt.Errorf("%s: %w", record, os.ErrExist)
	}
	if err := os.Rename(placeName(record), openName(record)); err == nil {
		return os.OpenFile(openName(record), os.O_RDWR, 0)
	}
	// A service of an older version, still at work after an upgrade of the binary, has prepared none.
	return durable.Reserve(openName(record))
}

// keep writes the record: into the place held for it, or elsewhere where there was none.
func keep(r Record, path string, place *os.File) error {
	data, err := r.encode()
	if err != nil {
		return err
	}
	if place != nil {
		if err := durable.Finish(place, data, path); err == nil {
			return nil
		}
	}
	return durable.Replace(path, data)
}

// catcher holds the wrapper's signals. They are caught and not ignored: execve(2) gives caught signals their default
// action and leaves ignored ones ignored, and the program must start with the defaults, whatever was inherited.
type catcher struct {
	arrived chan os.Signal
	child   chan int // pid to forward to; 0: none
	done    chan struct{}
}

func catch() *catcher {
	c := &catcher{arrived: make(chan os.Signal, 16), child: make(chan int), done: make(chan struct{})}
	signal.Notify(c.arrived, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP,
		syscall.SIGTTIN, syscall.SIGTTOU)
	go c.loop()
	return c
}

// loop forwards HUP, which the kernel sends to the leader of a terminal's session alone when the terminal goes away,
// and TERM. The terminal's own signals reach the program without help. A HUP or TERM that comes before the start waits
// for it.
//
// A TSTP is answered by CONT. The kernel discards a stop of an orphaned group, so a program that has given the terminal
// back and stops its group itself, as on Ctrl-Z, would run on and wait for ever to be told that it goes on.
func (c *catcher) loop() {
	defer close(c.done)
	pid := 0
	var waiting []syscall.Signal
	for {
		select {
		case next, ok := <-c.child:
			if !ok {
				return
			}
			pid = next
			for _, s := range waiting {
				_ = syscall.Kill(pid, s)
			}
			waiting = nil
		case arrived := <-c.arrived:
			s, _ := arrived.(syscall.Signal)
			switch {
			case s == syscall.SIGTSTP && pid != 0:
				_ = syscall.Kill(pid, syscall.SIGCONT)
			case s != syscall.SIGHUP && s != syscall.SIGTERM:
			case pid != 0:
				_ = syscall.Kill(pid, s)
			case len(waiting) < cap(c.arrived):
				waiting = append(waiting, s)
			}
		}
	}
}

// forward says to which process signals go from now on; 0 for none.
func (c *catcher) forward(pid int) { c.child <- pid }

// release ends the loop. The signals stay caught: the wrapper is about to exit with a status that none may replace.
func (c *catcher) release() {
	close(c.child)
	<-c.done
}

// complain prints one line on the session's terminal and returns status.
func complain(status int, format string, args ...any) int {
	fmt.Fprintf(os.Stderr, "hitchpost: "+format+"\r\n", args...)
	return status
}

func seconds(t syscall.Timeval) float64 { return float64(t.Nano()) / 1e9 }

// maxRSSUnit is the unit of ru_maxrss: bytes on macOS, kilobytes elsewhere (getrusage(2)).
func maxRSSUnit() int64 {
	if goruntime.GOOS == "darwin" {
		return 1
	}
	return 1 << 10
}
