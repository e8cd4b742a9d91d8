package launch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/runtime/launch"
)

func TestSignalReachesTheProgramOnce(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", `trap 'echo x >> got' TERM; echo ready; while read x && [ "$x" != end ]; do :; done; exit 13`)
	w := begin(t, s)
	w.expect("ready")
	if err := launch.Signal(w.pid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.write("more\nend\n")
	w.endsWith(13, "")
	if data, err := os.ReadFile(filepath.Join(s.Dir, "got")); err != nil || string(data) != "x\n" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestSignalEndsAStoppedProgram(t *testing.T) {
	t.Parallel()
	s := spec(t, "bash", "--norc", "--noprofile", "-i")
	w := begin(t, s)
	job := w.startJob()
	w.write("\x1a")
	w.expect("Stopped")
	w.hangUpShell()
	w.endsWith(0, "HUP")
	eventually(t, "the stopped job ends", func() bool { return !running(job) })
}

func TestSignalReachesTheForegroundJobAndTheShell(t *testing.T) {
	t.Parallel()
	s := spec(t, "bash", "--norc", "--noprofile", "-i")
	w := begin(t, s)
	w.write("echo $$ > shell\n")
	shell := readInt(t, filepath.Join(s.Dir, "shell"))
	w.write("sh -c 'echo $$ > job; sleep 300; :'\n")
	job := readInt(t, filepath.Join(s.Dir, "job"))
	if err := launch.Signal(w.pid(), syscall.SIGTERM); err != nil { // an interactive shell ignores TERM
		t.Fatal(err)
	}
	eventually(t, "the job ends", func() bool { return !running(job) })
	w.write("echo still$((0))\n")
	w.expect("still0")
	if !running(shell) {
		t.Error("the shell is gone")
	}
	w.hangUpShell()
	w.endsWith(0, "HUP")
}

// hangUpShell sends HUP until the shell ends: bash notes one that comes just before it waits for a key, and acts on it
// at the next key.
func (w *wrapped) hangUpShell() {
	w.t.Helper()
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(limit); time.Now().Before(end); {
		err := launch.Signal(w.pid(), syscall.SIGHUP)
		if err != nil && !errors.Is(err, launch.ErrNoWrapper) && !errors.Is(err, launch.ErrNoProgram) {
			w.t.Fatal(err)
		}
		select {
		case <-w.ended:
			return
		case <-again.C:
		}
	}
}

func TestKillLeavesTheWrapperToRecord(t *testing.T) {
	t.Parallel()
	s := spec(t, "bash", "--norc", "--noprofile", "-c", `trap "" HUP TERM INT
		(trap "" HUP; while :; do sleep 0.01; done) & echo $! > child
		while :; do (sleep 0.02 &); read -t 0.01; done`)
	w := begin(t, s)
	child := readInt(t, filepath.Join(s.Dir, "child"))
	if err := launch.Kill(w.pid()); err != nil && !errors.Is(err, launch.ErrNoWrapper) {
		t.Fatal(err)
	}
	w.endsWith(0, "KILL")
	eventually(t, "the child ends", func() bool { return !running(child) })
}

func TestKillContinuesAStoppedWrapper(t *testing.T) {
	t.Parallel()
	w := begin(t, spec(t, "sh", "-c", "echo ready; exec sleep 300"))
	w.expect("ready")
	if err := syscall.Kill(w.pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := launch.Kill(w.pid()); err != nil && !errors.Is(err, launch.ErrNoWrapper) {
		t.Fatal(err)
	}
	w.endsWith(0, "KILL")
}

func TestOnlyAWrapperIsSignalled(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", "echo $$ > pid; exec sleep 300")
	begin(t, s)
	program := readInt(t, filepath.Join(s.Dir, "pid"))
	for _, pid := range []int{-1, 0, 1, program, 1 << 30} {
		t.Run(strconv.Itoa(pid), func(t *testing.T) {
			if err := launch.Signal(pid, syscall.SIGTERM); !errors.Is(err, launch.ErrNoWrapper) {
				t.Errorf("Signal: %v", err)
			}
			if err := launch.Kill(pid); !errors.Is(err, launch.ErrNoWrapper) {
				t.Errorf("Kill: %v", err)
			}
		})
	}
	if !running(program) {
		t.Error("the program was hit")
	}
}
