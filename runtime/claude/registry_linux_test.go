package claude_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost/runtime/claude"
)

// register is a config directory of the test's own.
type register struct {
	t      *testing.T
	config string
}

func newRegister(t *testing.T) register {
	t.Helper()
	r := register{t, t.TempDir()}
	must(t, os.Mkdir(claude.RegistryDir(r.config), 0o700))
	return r
}

func (r register) path(pid int) string {
	return filepath.Join(claude.RegistryDir(r.config), strconv.Itoa(pid)+".json")
}

// note writes an entry as Claude Code does.
func (r register) note(pid int, start, status, more string) {
	r.t.Helper()
	text := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":"/p","startedAt":%d,"procStart":%q,"version":"2.1.197","kind":"interactive",`+
		`"entrypoint":"cli","status":%q,"updatedAt":1800000000123,"statusUpdatedAt":1800000000123%s}`,
		pid, conversation, time.Now().UnixMilli(), start, status, more)
	must(r.t, os.WriteFile(r.path(pid), []byte(text), 0o600))
}

func (r register) entries() []claude.Entry {
	r.t.Helper()
	entries, err := claude.ReadRegistry(r.config)
	must(r.t, err)
	return entries
}

// sleeper is a process that does nothing until the test ends.
func sleeper(t *testing.T, argv ...string) *exec.Cmd {
	t.Helper()
	if len(argv) == 0 {
		argv = []string{"sleep", "1000"}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	return cmd
}

func TestReadRegistry(t *testing.T) {
	t.Parallel()
	r := newRegister(t)
	pid := sleeper(t).Process.Pid
	r.note(pid, startOf(t, pid), "waiting", `,"waitingFor":"permission\u001b prompt","name":"a\nname"`)
	got := r.entries()
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	if len(got[0].Parents) == 0 || got[0].Parents[0] != os.Getpid() {
		t.Errorf("parents %v, the first is %d", got[0].Parents, os.Getpid())
	}
	want := claude.Entry{
		Pid: pid, Start: got[0].Start, Conversation: conversation, Status: claude.StatusWaiting, WaitingFor: "permission\ufffd prompt",
		Cwd: "/p", Version: "2.1.197", Kind: "interactive", Name: "a name", StatusAt: time.UnixMilli(1800000000123).UTC(),
		Parents: got[0].Parents,
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Error(diff)
	}
}

// A register that is not there, as before the first start on a machine, is empty; one that is no directory is an error.
func TestReadRegistryWithoutOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if entries, err := claude.ReadRegistry(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
	must(t, os.WriteFile(claude.RegistryDir(dir), nil, 0o600))
	if entries, err := claude.ReadRegistry(dir); err == nil {
		t.Errorf("%v", entries)
	}
}

// What is left of a process that was killed is no entry, whoever has its pid now.
func TestReadRegistryHoldsEntriesAgainstProcesses(t *testing.T) {
	t.Parallel()
	r := newRegister(t)
	// A zombie: nobody has waited for it.
	zombie := sleeper(t)
	zombieStart := startOf(t, zombie.Process.Pid)
	r.note(zombie.Process.Pid, zombieStart, "idle", "")
	if got := r.entries(); len(got) != 1 {
		t.Fatalf("while it lives: %+v", got)
	}
	must(t, syscall.Kill(zombie.Process.Pid, syscall.SIGKILL))
	await(t, "a zombie is not alive", func() bool { return len(r.entries()) == 0 })
	must(t, os.Remove(r.path(zombie.Process.Pid)))

	other := sleeper(t).Process.Pid
	r.note(other, earlier(t, other), "idle", "")
	if got := r.entries(); len(got) != 0 {
		t.Errorf("of a pid that was given out anew: %+v", got)
	}
	r.note(other, startOf(t, other), "idle", "")
	must(t, os.Rename(r.path(other), r.path(os.Getpid())))
	if got := r.entries(); len(got) != 0 {
		t.Errorf("under another's name: %+v", got)
	}
}

func TestReadRegistryIsNotFooled(t *testing.T) {
	t.Parallel()
	r := newRegister(t)
	dir := claude.RegistryDir(r.config)
	good := sleeper(t).Process.Pid
	r.note(good, startOf(t, good), "busy", "")
	whole, err := os.ReadFile(r.path(good))
	must(t, err)
	for i, make := range []func(path string, pid int) error{
		func(path string, _ int) error { return syscall.Mkfifo(path, 0o600) },
		func(path string, _ int) error { return os.Symlink(r.path(good), path) },
		func(path string, _ int) error { return os.Mkdir(path, 0o700) },
		func(path string, _ int) error { return os.WriteFile(path, nil, 0o600) },
		func(path string, _ int) error { return os.WriteFile(path, whole[:len(whole)/2], 0o600) },
		func(path string, _ int) error { return os.WriteFile(path, whole, 0o600) }, // names another pid
		func(path string, pid int) error {
			return os.WriteFile(path, append(bytes.Replace(whole, []byte(strconv.Itoa(good)), []byte(strconv.Itoa(pid)), 1),
				bytes.Repeat([]byte(" "), 70_000)...), 0o600)
		},
		func(path string, _ int) error { return os.WriteFile(path, []byte(`[]`), 0o600) },
	} {
		pid := sleeper(t).Process.Pid
		if err := make(r.path(pid), pid); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	for _, name := range []string{"0.json", "1.json", "-1.json", "x.json", "99999999999999999999.json", "0" + strconv.Itoa(good) + ".json", strconv.Itoa(good)} {
		must(t, os.WriteFile(filepath.Join(dir, name), whole, 0o600))
	}
	if got := r.entries(); len(got) != 1 || got[0].Pid != good {
		t.Errorf("%+v", got)
	}
}

// Claude Code writes its entry over in place: a reader finds a part of it at times, and reads again.
func TestReadRegistryWhileItIsWritten(t *testing.T) {
	t.Parallel()
	r := newRegister(t)
	pid := sleeper(t).Process.Pid
	start := startOf(t, pid)
	r.note(pid, start, "idle", "")
	whole, err := os.ReadFile(r.path(pid))
	must(t, err)
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		defer close(done)
		tick := time.NewTicker(3 * time.Millisecond) // far more often than it does
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			f, err := os.OpenFile(r.path(pid), os.O_WRONLY|os.O_TRUNC, 0)
			if err == nil {
				_, err = f.Write(whole[:40])
			}
			if err == nil {
				_, err = f.Write(whole[40:])
			}
			if err = errors.Join(err, f.Close()); err != nil {
				done <- err
				return
			}
		}
	}()
	missed := 0
	for range 200 {
		if len(r.entries()) != 1 {
			missed++
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if missed > 10 {
		t.Errorf("missed %d of 200 times", missed)
	}
}

// Fields of other types, and procStart as a number.
func TestReadRegistryOfOtherTypes(t *testing.T) {
	t.Parallel()
	r := newRegister(t)
	pid := sleeper(t).Process.Pid
	must(t, os.WriteFile(r.path(pid), fmt.Appendf(nil,
		`{"pid":%d,"procStart":%s,"startedAt":%d,"sessionId":7,"status":["idle"],"statusUpdatedAt":"now","cwd":null}`,
		pid, startOf(t, pid), time.Now().UnixMilli()), 0o600))
	got := r.entries()
	if len(got) != 1 || got[0].Status != "" || got[0].Conversation != "" || time.Since(got[0].StatusAt).Abs() > time.Hour {
		t.Errorf("%+v", got)
	}
}

func TestOfProcess(t *testing.T) {
	t.Parallel()
	entries := []claude.Entry{
		{Pid: 30, Kind: "interactive", Conversation: "c", Parents: []int{20, 10, 5}},
		{Pid: 40, Kind: "sdk", Conversation: "d", Parents: []int{20, 10, 5}},
		{Pid: 50, Kind: "interactive", Conversation: "e", Parents: []int{30, 20, 10, 5}},
		{Pid: 60, Kind: "interactive", Conversation: "c", Parents: []int{1}},
	}
	for pid, want := range map[int]int{30: 30, 40: 40, 20: 30, 10: 30, 5: 30, 50: 50, 60: 60, 1: 60, 7: 0, 31: 0} {
		if got, ok := claude.OfProcess(entries, pid); got.Pid != want || ok != (want != 0) {
			t.Errorf("of %d: %d, %v, want %d", pid, got.Pid, ok, want)
		}
	}
	if got := claude.OfConversation(entries, "c"); len(got) != 2 || got[0].Pid != 30 || got[1].Pid != 60 {
		t.Errorf("%+v", got)
	}
	if got := claude.OfConversation(entries, "x"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// The session's program is a script: its Claude Code is found all the same.
func TestOfProcessFindsTheChildOfAScript(t *testing.T) {
	t.Parallel()
	r := newRegister(t)
	pids := filepath.Join(t.TempDir(), "pids")
	script := sleeper(t, "sh", "-c", `sh -c 'sleep 1000 & echo $! >"$0"; wait' "$0" & wait`, pids)
	child := 0
	await(t, "the script starts its child", func() bool {
		text, err := os.ReadFile(pids)
		if err != nil || !strings.HasSuffix(string(text), "\n") {
			return false
		}
		child, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	})
	r.note(child, startOf(t, child), "idle", "")
	if got, ok := claude.OfProcess(r.entries(), script.Process.Pid); !ok || got.Pid != child {
		t.Errorf("%+v, %v", got, ok)
	}
}

func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"pid":7,"procStart":"9","sessionId":"a","status":"idle","statusUpdatedAt":1e99}`))
	f.Add([]byte(`{"pid":7,"procStart":9,"status":"\u202e\n","waitingFor":"\u0000","statusUpdatedAt":-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := claude.ParseEntry(data, 7, 9)
		if err != nil {
			return
		}
		if e.Pid != 7 || e.Start != 9 {
			t.Errorf("%+v", e)
		}
		for _, s := range []string{e.Conversation, e.Status, e.WaitingFor, e.Version, e.Kind, e.Name} {
			fitToShow(t, s)
		}
	})
}

// startOf is what Claude Code notes of the beginning of a process: field 22 of proc_pid_stat(5).
func startOf(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	must(t, err)
	return string(bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])[19])
}

// earlier is the same of a process that had the pid before.
func earlier(t *testing.T, pid int) string {
	t.Helper()
	ticks, err := strconv.Atoi(startOf(t, pid))
	must(t, err)
	return strconv.Itoa(ticks - 1)
}
