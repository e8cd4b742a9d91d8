package task_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/hitchpost/hitchpost/runtime/task"
)

// within fails where the time since start is not between least and most.
func within(t *testing.T, start time.Time, least, most time.Duration) {
	t.Helper()
	if took := time.Since(start); took < least || took > most {
		t.Errorf("it took %s, not %s to %s", took, least, most)
	}
}

// What the command leaves in the background holds nobody, gets TERM, and what it says of that is kept.
func TestBackgroundChildIsEnded(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", `(trap 'echo bye; exit' TERM; echo $$ up; touch up; while :; do sleep 0.01; done) &
		sleep 300 & echo $! > sleeper; until [ -e up ]; do sleep 0.01; done; printf done; exit 7`)
	start := time.Now()
	r := begin(t, s)
	r.endsWith(7, "")
	within(t, start, 0, 8*time.Second)
	if pid := readInt(t, filepath.Join(s.Dir, "sleeper")); running(pid) {
		kill(t, pid)
		t.Error("a child in the background is left")
	}
	if got := output(t, r.folder); !strings.Contains(got, "up\ndone") || !strings.HasSuffix(got, "bye\n") {
		t.Errorf("log %q", got)
	}
}

// One that ignores TERM, in a group of its own, that writes without end, is killed after RestGrace.
func TestBackgroundChildThatStaysIsKilled(t *testing.T) {
	t.Parallel()
	s := spec(t, "bash", "-c", `set -m; (trap "" TERM; echo $BASHPID > pid; while :; do echo more; done) &
		until [ -s pid ]; do sleep 0.01; done; exit 0`)
	start := time.Now()
	r := begin(t, s)
	r.endsWith(0, "")
	within(t, start, task.RestGrace, task.RestGrace+5*time.Second)
	if pid := readInt(t, filepath.Join(s.Dir, "pid")); running(pid) {
		kill(t, pid)
		t.Error("it is left")
	}
}

func TestCancelEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", `sleep 300 & echo $! > child; trap 'echo caught; exit 4' TERM; echo up; while :; do sleep 0.01; done`)
	r := begin(t, s)
	child := readInt(t, filepath.Join(s.Dir, "child"))
	eventually(t, "it is up", func() bool { return output(t, r.folder) == "up\n" })
	start := time.Now()
	for range 2 {
		if err := task.Cancel(r.folder); err != nil && !errors.Is(err, task.ErrEnded) {
			t.Fatal(err)
		}
	}
	if record := r.endsWith(4, ""); !record.Cancelled || record.TimedOut || record.Hangup {
		t.Errorf("recorded %+v", record)
	}
	within(t, start, 0, 8*time.Second)
	if got := output(t, r.folder); !strings.HasPrefix(got, "up\n") || !strings.HasSuffix(got, "caught\n") || running(child) {
		t.Errorf("log %q, the child runs: %t", got, running(child))
	}
	if err := task.Cancel(r.folder); !errors.Is(err, task.ErrEnded) {
		t.Errorf("after its end: %v", err)
	}
}

func TestCancelKillsWhatIgnoresTERM(t *testing.T) {
	t.Parallel()
	s := spec(t, "bash", "-c", `trap "" TERM; set -m; (while :; do sleep 0.05; done) & echo $! > child; while :; do sleep 0.05; done`)
	r := begin(t, s)
	child := readInt(t, filepath.Join(s.Dir, "child"))
	start := time.Now()
	if err := task.Cancel(r.folder); err != nil {
		t.Fatal(err)
	}
	if seen := look(t, r.folder); !seen.CancelAsked || seen.Over() {
		t.Errorf("looks like %+v", seen)
	}
	if record := r.endsWith(0, "KILL"); !record.Cancelled {
		t.Errorf("recorded %+v", record)
	}
	within(t, start, task.CancelGrace, task.CancelGrace+5*time.Second)
	if running(child) {
		kill(t, child)
		t.Error("its child is left")
	}
}

func TestCancelEndsAStoppedCommand(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", `echo $$ > pid; kill -STOP $$; sleep 300`)
	r := begin(t, s)
	readInt(t, filepath.Join(s.Dir, "pid"))
	start := time.Now()
	if err := task.Cancel(r.folder); err != nil {
		t.Fatal(err)
	}
	r.endsWith(0, "TERM")
	within(t, start, 0, 8*time.Second)
}

func TestCancelBeforeTheStartWins(t *testing.T) {
	t.Parallel()
	s := spec(t, "touch", "ran")
	folder := create(t, s)
	if err := task.Cancel(folder); err != nil {
		t.Fatal(err)
	}
	if seen := look(t, folder); seen.Started || seen.Over() || !seen.CancelAsked {
		t.Errorf("looks like %+v", seen)
	}
	r := runner(t, folder)
	record := r.end()
	if !record.Cancelled || record.Code != nil || record.Signal != "" || !record.StartedAt.IsZero() || record.EndedAt.IsZero() {
		t.Errorf("recorded %+v", record)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "ran")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it ran: %v", err)
	}
}

// Whenever a cancel comes, the task ends as cancelled, or had ended before.
func TestCancelAtAnyMomentOfTheStart(t *testing.T) {
	t.Parallel()
	for i := range 40 {
		r := begin(t, spec(t, "sleep", "300"))
		after := time.NewTimer(time.Duration(i) * 500 * time.Microsecond)
		<-after.C
		if err := task.Cancel(r.folder); err != nil {
			t.Fatal(err)
		}
		if record := r.end(); !record.Cancelled || record.Code != nil || (record.Signal != "TERM") != record.StartedAt.IsZero() {
			t.Fatalf("round %d: recorded %+v", i, record)
		}
	}
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", `sleep 300 & echo $! > child; wait`)
	s.Timeout = 700 * time.Millisecond
	start := time.Now()
	record := begin(t, s).endsWith(0, "TERM")
	if !record.TimedOut || record.Cancelled || record.EndedAt.Sub(record.StartedAt) < s.Timeout {
		t.Errorf("recorded %+v", record)
	}
	within(t, start, s.Timeout, 5*time.Second)
	if child := readInt(t, filepath.Join(s.Dir, "child")); running(child) {
		t.Error("its child is left")
	}
}

func TestTimeLimitThatIsNotReached(t *testing.T) {
	t.Parallel()
	s := spec(t, "true")
	s.Timeout = time.Hour
	if record := begin(t, s).endsWith(0, ""); record.TimedOut {
		t.Errorf("recorded %+v", record)
	}
}

// tmux that is killed closes the runner's terminal: that is not the command's own end.
func TestTerminalThatGoesAwayIsAHangup(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, stubborn := range []bool{false, true} {
		t.Run(fmt.Sprintf("stubborn %t", stubborn), func(t *testing.T) {
			t.Parallel()
			s := spec(t, "sh", "-c", `trap 'echo term; exit 0' TERM; echo $$ > pid; while :; do sleep 0.01; done`)
			if stubborn {
				s.Argv[2] = `trap '' TERM; echo $$ > pid; while :; do sleep 0.01; done`
			}
			r := &started{t: t, folder: create(t, s), ended: make(chan struct{})}
			r.cmd = exec.Command(self, "run-task", r.folder)
			master, slave, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = slave, slave, slave
			r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			r.launch()
			slave.Close()
			pid := readInt(t, filepath.Join(s.Dir, "pid"))
			start := time.Now()
			if err := master.Close(); err != nil {
				t.Fatal(err)
			}
			if record := r.end(); !record.Hangup || record.Cancelled || record.TimedOut {
				t.Errorf("recorded %+v", record)
			}
			within(t, start, 0, task.RestGrace+3*time.Second)
			if running(pid) {
				kill(t, pid)
				t.Error("the command is left")
			}
		})
	}
}

// A machine that goes down sends TERM to everybody, in any order.
func TestMachineThatGoesDownIsAHangup(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"runner first", "command first"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			s := spec(t, "sh", "-c", `echo $$ > pid; exec sleep 300`)
			r := begin(t, s)
			pids := []int{r.cmd.Process.Pid, readInt(t, filepath.Join(s.Dir, "pid"))}
			if order == "command first" {
				pids[0], pids[1] = pids[1], pids[0]
			}
			for _, pid := range pids {
				if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
					t.Fatal(err)
				}
			}
			if record := r.endsWith(0, "TERM"); !record.Hangup {
				t.Errorf("recorded %+v", record)
			}
		})
	}
}
