package launch_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// foreground is the process group that the terminal's keys go to.
func (w *wrapped) foreground() (group int) {
	w.t.Helper()
	w.control(func(fd int) (err error) {
		group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	return group
}

// startJob has the shell run a long job in the foreground, and returns once the job takes signals: until a shell's
// child has executed its program it ignores what the shell ignores.
func (w *wrapped) startJob() (pid int) {
	w.t.Helper()
	w.write("sh -c 'echo $$ > job; exec sleep 300'\n")
	return readInt(w.t, filepath.Join(w.spec.Dir, "job"))
}

func TestCtrlCGoesToTheProgram(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", `trap 'echo caught; n=$((n+1))' INT; echo ready; while [ "$n" != 2 ]; do read x; done; exit 6`)
	w := begin(t, s)
	w.expect("ready")
	w.write("\x03")
	w.expect("caught")
	w.write("\x03\n")
	w.endsWith(6, "")
}

func TestCtrlCAndCtrlBackslashEndAProgramWithDefaults(t *testing.T) {
	t.Parallel()
	for key, signal := range map[string]string{"\x03": "INT", "\x1c": "QUIT"} {
		t.Run(signal, func(t *testing.T) {
			t.Parallel()
			w := begin(t, spec(t, "sh", "-c", "ulimit -c 0; echo ready; exec sleep 300"))
			w.expect("ready")
			w.write(key)
			w.endsWith(0, signal)
		})
	}
}

// Nobody could continue a program that has no shell above it, so the kernel discards the stop: the program and its
// wrapper are an orphaned process group, as the program alone is without a wrapper.
func TestCtrlZWithoutAShellStopsNothing(t *testing.T) {
	t.Parallel()
	w := begin(t, spec(t, "sh", "-c", `echo ready; read a; echo "got $a"; read b; exit 3`))
	w.expect("ready")
	w.write("\x1aone\n")
	w.expect("got one")
	w.write("\x1a\n")
	w.endsWith(3, "")
}

func TestProgramThatStopsItselfIsContinued(t *testing.T) {
	t.Parallel()
	w := begin(t, spec(t, "sh", "-c", `kill -STOP $$; echo on; kill -STOP $$; exit 8`))
	w.expect("on")
	w.endsWith(8, "")
}

func TestJobControlOfAShell(t *testing.T) {
	t.Parallel()
	s := spec(t, "bash", "--norc", "--noprofile", "-i")
	w := begin(t, s)
	w.write("echo $$ > shell\n")
	shell := readInt(t, filepath.Join(s.Dir, "shell"))
	if shell == w.pid() || w.foreground() != shell {
		t.Fatalf("wrapper %d, shell %d, foreground %d", w.pid(), shell, w.foreground())
	}
	job := w.startJob()
	if w.foreground() != job {
		t.Fatalf("job %d, foreground %d", job, w.foreground())
	}
	w.write("\x1a")
	w.expect("Stopped")
	eventually(t, "the shell is in the foreground", func() bool { return w.foreground() == shell })
	w.write("bg; echo in the back$((1))\n")
	w.expect("in the back1")
	w.write("fg\n")
	eventually(t, "the job is back", func() bool { return w.foreground() == job })
	w.write("\x03")
	eventually(t, "the shell is back", func() bool { return w.foreground() == shell })
	w.write("echo status=$?\n")
	w.expect("status=130")
	w.write("exit 5\n")
	w.endsWith(5, "")
}

func TestRawModeGivesTheProgramEveryKey(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", `stty raw -echo; printf ready; dd bs=1 count=4 of=keys 2>/dev/null; exit 2`)
	w := begin(t, s)
	w.expect("ready")
	w.write("\x03\x1a\x1c\x11")
	w.endsWith(2, "")
	if got, err := os.ReadFile(filepath.Join(s.Dir, "keys")); err != nil || string(got) != "\x03\x1a\x1c\x11" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestSizeChangesReachTheProgram(t *testing.T) {
	t.Parallel()
	w := begin(t, spec(t, "bash", "--norc", "-c", `trap 'stty size; exit 11' WINCH; echo ready; while :; do read x; done`))
	w.expect("ready")
	w.control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 33, Col: 101})
	})
	w.write("\n")
	w.endsWith(11, "")
	w.expect("33 101")
}

// When tmux lets a terminal go, the kernel tells the leader of its session alone; the program must hear of it.
func TestHangUpReachesTheProgram(t *testing.T) {
	t.Parallel()
	w := begin(t, spec(t, "sh", "-c", `trap 'exit 9' HUP; echo ready; while :; do read x || sleep 0.01; done`))
	w.expect("ready")
	w.hangUp()
	w.endsWith(9, "")
}

func TestProgramThatIgnoresHangUpIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", `trap "" HUP; echo ready; read line < pipe; [ "$line" = go ] && exit 12`)
	pipe := filepath.Join(s.Dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	w := begin(t, s)
	w.expect("ready")
	w.hangUp()
	if err := os.WriteFile(pipe, []byte("go\n"), 0); err != nil { // opens when the program has opened it
		t.Fatal(err)
	}
	w.endsWith(12, "")
}

func TestTermToTheWrapperReachesTheProgram(t *testing.T) {
	t.Parallel()
	w := begin(t, spec(t, "sh", "-c", `trap 'exit 10' TERM; echo ready; while :; do read x; done`))
	w.expect("ready")
	if err := syscall.Kill(w.pid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.write("\n")
	w.endsWith(10, "")
}

// A killed wrapper leaves no record and no program: the leader of the terminal's session is gone, which is a hang-up.
func TestKilledWrapperTakesTheProgramAlong(t *testing.T) {
	t.Parallel()
	for name, argv := range map[string][]string{
		"program": {"sh", "-c", "echo $$ > pid; exec sleep 300"},
		"shell":   {"bash", "--norc", "--noprofile", "-i"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := spec(t, argv...)
			w := begin(t, s)
			if name == "shell" {
				w.write("echo $$ > pid\n")
			}
			pid := readInt(t, filepath.Join(s.Dir, "pid"))
			if err := syscall.Kill(w.pid(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if name == "shell" {
				// A hang-up that comes just before bash waits for a key is acted on at the next one. The end of the pane,
				// which the service then asks tmux for, leaves it none to wait for.
				w.hangUp()
			}
			eventually(t, "the program ends", func() bool { return !running(pid) })
			if entries, err := filepath.Glob(s.Record + "*"); err != nil || strings.Join(entries, " ") != s.Record+".open" {
				t.Errorf("left %q, %v", entries, err)
			}
		})
	}
}

// hangUp closes the terminal's other end, as the end of a tmux session does.
func (w *wrapped) hangUp() {
	w.t.Helper()
	if err := w.master.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// A program that hands the terminal back and stops its whole group is told at once that it goes on: nobody else would.
func TestProgramThatStopsItsGroup(t *testing.T) {
	t.Parallel()
	w := begin(t, spec(t, "bash", "--norc", "--noprofile", "-c", `trap 'echo resumed' CONT; kill -TSTP 0; read line; exit "$line"`))
	w.expect("resumed")
	w.write("7\n")
	w.endsWith(7, "")
}
