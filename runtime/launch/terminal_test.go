package launch_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost/runtime/launch"
)

// TestMain lets the test binary be the wrapper that the tests run, as the product's own binary is.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "run-session" {
		os.Exit(launch.Run(os.Args[2]))
	}
	os.Exit(m.Run())
}

const limit = 20 * time.Second

// eventually waits until done says so.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); time.Now().Before(end); <-tick.C {
		if done() {
			return
		}
	}
	t.Fatalf("waited %s in vain: %s", limit, what)
}

// spec is a run of argv in a directory of the test's own.
func spec(t *testing.T, argv ...string) launch.Spec {
	t.Helper()
	dir := t.TempDir()
	return launch.Spec{
		Session: "0193a000-0000-7000-8000-000000000001",
		Argv:    argv,
		Env:     []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "LANG=C.UTF-8", "PS1=$ "},
		Dir:     dir,
		Record:  filepath.Join(dir, "exit-0.json"),
	}
}

// wrapped is a wrapper at work on a terminal of its own, as tmux would have started it.
type wrapped struct {
	t      *testing.T
	spec   launch.Spec
	cmd    *exec.Cmd
	master *os.File

	mu     sync.Mutex
	output strings.Builder
	read   chan struct{} // closed when the terminal is gone
	ended  chan struct{} // closed when the wrapper has been waited for
}

// begin starts a wrapper for s on a new terminal. Whatever is left of it goes when the test ends.
func begin(t *testing.T, s launch.Spec) *wrapped {
	t.Helper()
	path := filepath.Join(s.Dir, "run.json")
	if filepath.Dir(s.Record) != s.Dir {
		path = filepath.Join(filepath.Dir(s.Record), "run.json")
	}
	writeSpec(t, path, s)
	return again(t, path, s)
}

func writeSpec(t *testing.T, path string, s launch.Spec) {
	t.Helper()
	p, err := launch.Prepare(path, s)
	if err == nil {
		err = p.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// again starts a wrapper for a spec that has been written.
func again(t *testing.T, path string, s launch.Spec) *wrapped {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &wrapped{t: t, spec: s, read: make(chan struct{}), ended: make(chan struct{})}
	w.cmd = exec.Command(self, "run-session", path)
	w.cmd.Env = []string{"TERM=tmux-256color", "TMUX=/nowhere,1,0", "TMUX_PANE=%1", "SECRET=of the service"}
	master, err := pty.StartWithSize(w.cmd, &pty.Winsize{Cols: 200, Rows: 50})
	if err != nil {
		t.Fatal(err)
	}
	w.master = pollable(t, master)
	go func() {
		defer close(w.read)
		buf := make([]byte, 4096)
		for {
			n, err := w.master.Read(buf)
			text, asked := strings.CutSuffix(string(buf[:n]), "\x1b[5n") // the wrapper's last words, as tmux answers them
			w.mu.Lock()
			w.output.WriteString(text)
			w.mu.Unlock()
			if asked {
				_, _ = w.master.WriteString("\x1b[0n") // the wrapper may be killed just now
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		defer close(w.ended)
		_ = w.cmd.Wait()
	}()
	t.Cleanup(func() {
		if err := launch.Kill(w.cmd.Process.Pid); err != nil && !errors.Is(err, launch.ErrNoWrapper) {
			t.Errorf("clean up: %v", err)
		}
		<-w.ended
		w.master.Close()
		<-w.read
	})
	return w
}

// pollable gives f to the runtime's poller, without which Close waits for a Read that waits for Close.
func pollable(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), f.Name())
}

// control calls do with the terminal's descriptor.
func (w *wrapped) control(do func(fd int) error) {
	w.t.Helper()
	conn, err := w.master.SyscallConn()
	if err != nil {
		w.t.Fatal(err)
	}
	if outer := conn.Control(func(fd uintptr) { err = do(int(fd)) }); outer != nil || err != nil {
		w.t.Fatal(outer, err)
	}
}

func (w *wrapped) pid() int { return w.cmd.Process.Pid }

func (w *wrapped) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.output.String()
}

// expect waits until the terminal has shown want.
func (w *wrapped) expect(want string) {
	w.t.Helper()
	eventually(w.t, fmt.Sprintf("terminal shows %q", want), func() bool { return strings.Contains(w.text(), want) })
}

func (w *wrapped) write(keys string) {
	w.t.Helper()
	if _, err := w.master.WriteString(keys); err != nil {
		w.t.Fatal(err)
	}
}

// end waits for the wrapper and returns its exit status and the record.
func (w *wrapped) end() (int, launch.Record) {
	w.t.Helper()
	select {
	case <-w.ended:
	case <-time.After(limit):
		w.t.Fatalf("the wrapper does not end; the terminal shows:\n%s", w.text())
	}
	r, err := launch.ReadRecord(w.spec.Record)
	if err != nil {
		w.t.Fatalf("%v; the terminal shows:\n%s", err, w.text())
	}
	return w.cmd.ProcessState.ExitCode(), r
}

// endsWith fails unless the program ends with that code (signal empty) or signal.
func (w *wrapped) endsWith(code int, signal string) launch.Record {
	w.t.Helper()
	status, r := w.end()
	if signal == "" && (r.Code == nil || *r.Code != code || r.Signal != "" || status != code) {
		w.t.Fatalf("recorded %s, wrapper's status %d; want code %d; the terminal shows:\n%s", ending(r), status, code, w.text())
	}
	if signal != "" && (r.Signal != signal || r.Code != nil || status != 128+launch.Number(signal)) {
		w.t.Fatalf("recorded %s, wrapper's status %d; want %s; the terminal shows:\n%s", ending(r), status, signal, w.text())
	}
	return r
}

func ending(r launch.Record) string {
	if r.Code != nil {
		return fmt.Sprintf("code %d %s", *r.Code, r.Error)
	}
	return "signal " + r.Signal
}

// running reports whether a process with that pid exists and is no zombie of this test's making.
func running(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// readInt waits for a file that holds a number.
func readInt(t *testing.T, path string) (n int) {
	t.Helper()
	eventually(t, path+" holds a number", func() bool {
		data, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		_, err = fmt.Sscanf(string(data), "%d\n", &n)
		return err == nil && strings.HasSuffix(string(data), "\n")
	})
	return n
}
