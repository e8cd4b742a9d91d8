package host_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/runtime/host"
)

// Marks of this package's tests alone.
const (
	mark   = "HITCHPOST_TEST_MARK"
	exempt = "HITCHPOST_TEST_EXEMPT"
)

// lookVerb makes this test binary print what it finds of its own mark.
const lookVerb = "look-for-mark"

// idleVariable in its environment makes this test binary do nothing until it is ended.
const idleVariable = "HITCHPOST_TEST_IDLE"

func TestMain(m *testing.M) {
	if os.Getenv(idleVariable) != "" {
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGTERM)
		<-ended
		return
	}
	if len(os.Args) == 3 && os.Args[1] == lookVerb {
		found, err := host.Marked(context.Background(), host.Mark{Name: mark}, os.Args[2:])
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(found[os.Args[2]])
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 2 {
		if verb, ok := systemVerbs()[os.Args[1]]; ok {
			if err := verb(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			return
		}
	}
	os.Exit(m.Run())
}

// run starts a program in a session of its own, with this environment and a PATH, and returns its process.
func run(t *testing.T, env []string, argv ...string) int {
	t.Helper()
	path, err := exec.LookPath(argv[0])
	if err != nil {
		t.Fatal(err)
	}
	// Not os/exec, which gives a name that stands twice in env once. It returns after execve(2): env is in place.
	p, err := os.StartProcess(path, argv, &os.ProcAttr{
		Env: append([]string{"PATH=" + os.Getenv("PATH")}, env...), Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
		_, _ = p.Wait()
	})
	return p.Pid
}

// value is a value of the mark that no other test has.
func value(t *testing.T, name string) string {
	t.Helper()
	return fmt.Sprintf("%s-%s-%d-%d", t.Name(), name, os.Getpid(), time.Now().UnixNano())
}

func TestMarkedFindsEachInOneLook(t *testing.T) {
	t.Parallel()
	one, two, none := value(t, "one"), value(t, "two"), value(t, "none")
	before := time.Now().Add(-2 * time.Second)
	first := run(t, []string{"A=1", mark + "=" + one, mark + "=twice"}, "sleep", "1000")
	second := run(t, []string{mark + "=" + two}, "sleep", "1000")
	run(t, []string{mark + "=" + one, exempt + "="}, "sleep", "1000")
	run(t, []string{mark + "=" + one}, "env", "-i", "sleep", "1000")
	run(t, []string{mark + "=" + one + "x", "X=" + mark + "=" + one}, "sleep", "1000")

	var found map[string][]host.Process
	eventually(t, "only what carries the mark", func() bool { // env is itself for a moment before it is sleep
		var err error
		found, err = host.Marked(t.Context(), host.Mark{Name: mark, Unless: exempt}, []string{one, two, none})
		if err != nil {
			t.Fatal(err)
		}
		return len(found[one]) == 1
	})
	if len(found) != 2 || len(found[two]) != 1 || found[one][0].Pid != first || found[two][0].Pid != second {
		t.Fatalf("found %+v, want %d and %d", found, first, second)
	}
	got := found[one][0]
	if got.Program != "sleep" || got.Parent != os.Getpid() || got.Since.Before(before) || got.Since.After(time.Now().Add(2*time.Second)) {
		t.Errorf("%+v, is a child of %d", got, os.Getpid())
	}
}

// A program is found by its mark when its parent has ended and it is in a session of its own.
func TestMarkedFindsADaemon(t *testing.T) {
	t.Parallel()
	id := value(t, "id")
	cmd := exec.Command("sh", "-c", "trap '' HUP; setsid sleep 1000 >/dev/null 2>&1 & echo $!")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), mark + "=" + id}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(out), &pid); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	eventually(t, "the daemon alone is found", func() bool {
		found, err := host.Marked(t.Context(), host.Mark{Name: mark}, []string{id})
		return err == nil && len(found[id]) == 1 && found[id][0].Pid == pid && found[id][0].Program == "sleep"
	})
}

// Whoever looks, and whoever started it, carry the mark of the session that it was started from.
func TestMarkedLeavesOutWhoLooks(t *testing.T) {
	t.Parallel()
	id := value(t, "id")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := run(t, []string{mark + "=" + id}, "sleep", "1000")
	cmd := exec.Command("sh", "-c", `"$0" "$@"; exit $?`, self, lookVerb, id)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), mark + "=" + id}
	if got := look(t, cmd); len(got) != 1 || got[0].Pid != other {
		t.Errorf("found %+v, want %d alone", got, other)
	}
}

// What another account runs may not be read, and is no error. Without root's rights every look meets such processes.
func TestMarkedPassesOverOtherAccounts(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		if _, err := host.Marked(t.Context(), host.Mark{Name: mark}, []string{"x"}); err != nil {
			t.Error(err)
		}
		return
	}
	id := value(t, "id")
	run(t, []string{mark + "=" + id}, "sleep", "1000")
	dir, err := os.MkdirTemp("", "hp-host-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Another process writes the copy: what this one has open for writing, a child of another test holds open too.
	copied := filepath.Join(dir, "look")
	if out, err := exec.Command("install", "-m", "0755", self, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(copied, lookVerb, id)
	cmd.Env, cmd.Dir = []string{"PATH=" + os.Getenv("PATH")}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if got := look(t, cmd); len(got) != 0 {
		t.Errorf("another account found %+v", got)
	}
}

// Processes that come and go while they are looked at are no error.
func TestMarkedWhileProcessesEnd(t *testing.T) {
	t.Parallel()
	id := value(t, "id")
	run(t, []string{mark + "=" + id}, "sh", "-c", "while :; do true & sh -c : ; done")
	for range 30 {
		found, err := host.Marked(t.Context(), host.Mark{Name: mark}, []string{id})
		if err != nil {
			t.Fatal(err)
		}
		if len(found[id]) == 0 {
			t.Fatal("not even the shell was found")
		}
		if slices.ContainsFunc(found[id], func(p host.Process) bool { return p.Pid <= 0 || p.Program == "" }) {
			t.Errorf("half a process: %+v", found[id])
		}
	}
}

func TestMarkedHeedsItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	cancel(reason)
	if found, err := host.Marked(ctx, host.Mark{Name: mark}, []string{"x"}); !errors.Is(err, reason) {
		t.Errorf("found %v, error %v", found, err)
	}
}

// BenchmarkMarked is one look at all processes of the machine, for a hundred sessions.
func BenchmarkMarked(b *testing.B) {
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = fmt.Sprintf("0190f5fe-7c00-7000-8000-%012d", i)
	}
	for b.Loop() {
		if _, err := host.Marked(b.Context(), host.Mark{Name: mark}, ids); err != nil {
			b.Fatal(err)
		}
	}
}

// look runs a process that looks, and returns what it found.
func look(t *testing.T, cmd *exec.Cmd) []host.Process {
	t.Helper()
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	var got []host.Process
	if err := json.NewDecoder(bufio.NewReader(strings.NewReader(string(out)))).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return got
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(30 * time.Second); !ok(); <-tick.C {
		if time.Now().After(limit) {
			t.Fatal("waited in vain: " + what)
		}
	}
}
