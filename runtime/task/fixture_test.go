package task_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/runtime/launch"
	"github.com/hitchpost/hitchpost/runtime/task"
)

// TestMain lets the test binary be the runner that the tests run, as the product's own binary is.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "run-task" {
		os.Exit(task.Run(os.Args[2]))
	}
	os.Exit(m.Run())
}

const limit = time.Minute

// eventually waits until done says so.
func eventually(t testing.TB, what string, done func() bool) {
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

// spec is a task that runs argv in a directory of the test's own.
func spec(t testing.TB, argv ...string) task.Spec {
	t.Helper()
	dir := t.TempDir()
	return task.Spec{
		ID: "0193a000-0000-7000-8000-000000000001", Argv: argv, Dir: dir,
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "LANG=C.UTF-8"},
	}
}

// create makes the folder of a task.
func create(t testing.TB, s task.Spec) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "0193a000")
	if err := task.Create(folder, s); err != nil {
		t.Fatal(err)
	}
	return folder
}

// started is a runner at work.
type started struct {
	t      testing.TB
	folder string
	cmd    *exec.Cmd
	said   bytes.Buffer
	ended  chan struct{} // closed when the runner has been waited for
}

// begin makes a task of s and starts its runner. Whatever is left of it goes when the test ends.
func begin(t testing.TB, s task.Spec) *started {
	t.Helper()
	return runner(t, create(t, s))
}

// runner starts a runner for a folder.
func runner(t testing.TB, folder string) *started {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &started{t: t, folder: folder, cmd: exec.Command(self, "run-task", folder), ended: make(chan struct{})}
	r.cmd.Env = []string{"TMUX=/nowhere,1,0", "SECRET=of the service"}
	r.cmd.Stdout, r.cmd.Stderr = &r.said, &r.said
	r.cmd.WaitDelay = limit
	r.launch()
	return r
}

func (r *started) launch() {
	r.t.Helper()
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		_ = r.cmd.Wait()
	}()
	r.t.Cleanup(func() {
		if err := task.Cancel(r.folder); err != nil && !errors.Is(err, task.ErrEnded) && !errors.Is(err, fs.ErrNotExist) {
			r.t.Error(err)
		}
		r.wait()
	})
}

// wait waits for the runner to be gone.
func (r *started) wait() {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(limit):
		_ = r.cmd.Process.Kill()
		<-r.ended
		r.t.Fatalf("the runner does not end; it says %q", &r.said)
	}
}

// end waits for the runner and returns the record.
func (r *started) end() task.Record {
	r.t.Helper()
	r.wait()
	seen := look(r.t, r.folder)
	if seen.Record == nil || !seen.Started || seen.Alive || !seen.Over() {
		r.t.Fatalf("after its end a task looks like %+v; its runner said %q", seen, &r.said)
	}
	if code := r.cmd.ProcessState.ExitCode(); seen.Record.Code != nil && code != *seen.Record.Code {
		r.t.Errorf("the runner's status is %d, the code %d", code, *seen.Record.Code)
	}
	return *seen.Record
}

// endsWith fails unless the task ends with that code (signal empty) or signal.
func (r *started) endsWith(code int, signal string) task.Record {
	r.t.Helper()
	record := r.end()
	if !isEnd(record, code, signal) {
		r.t.Fatalf("recorded %s; want code %d signal %q; the log holds %.300q", ending(record), code, signal, output(r.t, r.folder))
	}
	return record
}

// wasCut fails unless the record of a task that has ended says so of its input.
func (r *started) wasCut(want bool) {
	r.t.Helper()
	if record := look(r.t, r.folder).Record; record == nil || record.InputCut != want {
		r.t.Errorf("record %+v, want the input cut: %v", record, want)
	}
}

func isEnd(r task.Record, code int, signal string) bool {
	if signal != "" {
		return r.Signal == signal && r.Code == nil
	}
	return r.Signal == "" && r.Code != nil && *r.Code == code
}

func ending(r task.Record) string {
	if r.Code != nil {
		return fmt.Sprintf("code %d %s", *r.Code, r.Error)
	}
	return fmt.Sprintf("signal %s cancelled %t timed out %t hangup %t", r.Signal, r.Cancelled, r.TimedOut, r.Hangup)
}

func look(t testing.TB, folder string) task.Seen {
	t.Helper()
	seen, err := task.Look(folder)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// output is what the log of a task gives to a reader.
func output(t testing.TB, folder string) string {
	t.Helper()
	return tail(t, folder, -1)
}

// tail is the last n lines of it, or all for -1.
func tail(t testing.TB, folder string, n int) string {
	t.Helper()
	log, err := task.OpenLog(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if n >= 0 {
		if err := log.Tail(n); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	if n, err := log.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Fatalf("%d of %d bytes, %v", n, b.Len(), err)
	}
	return b.String()
}

// running reports whether a process with that pid exists that has not ended.
func running(pid int) bool {
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

// readInt waits for a file that holds a number.
func readInt(t testing.TB, path string) (n int) {
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

// ready waits for a file that the command makes.
func (r *started) ready(path string) {
	r.t.Helper()
	eventually(r.t, path+" is there", func() bool { _, err := os.Stat(path); return err == nil })
}

// kill ends a process that a test left running on purpose.
func kill(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Error(err)
	}
}

func signalNumber(name string) int { return launch.Number(name) }
