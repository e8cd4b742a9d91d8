package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost/runtime/host"
)

// guardVerb makes this test binary guard its memory, as some agents do, say so, and wait for the end of its input.
const guardVerb = "guard-memory"

// guardedVerb makes this test binary start a guarded codex where it is and print what it finds of it.
const guardedVerb = "look-for-guarded"

type guardedSight struct {
	Agents []host.Agent
	Hidden int
	Pid    int
}

// systemVerbs is what this test binary does instead of tests, by its only word.
func systemVerbs() map[string]func() error {
	return map[string]func() error{guardVerb: guard, guardedVerb: lookForGuarded}
}

func guard() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	fmt.Println("guarded")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func lookForGuarded() error {
	ctx := context.Background()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, guardVerb)
	cmd.Args[0] = "codex"
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if _, err := io.ReadFull(out, make([]byte, len("guarded"))); err != nil {
		return err
	}
	sight := guardedSight{Pid: cmd.Process.Pid}
	if sight.Agents, err = host.Agents(ctx, mark); err == nil {
		_, sight.Hidden, err = host.InDir(ctx, dir)
	}
	_ = in.Close()
	_ = cmd.Wait()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(sight)
}

// An agent that guards its memory is found, and it is said that its directory is not known. Root may read all the same,
// so that another account looks for root.
func TestAgentsThatGuardTheirMemory(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "hp-guard-")
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
	copied := filepath.Join(dir, "look")
	if out, err := exec.Command("install", "-m", "0755", self, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(copied, guardedVerb)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	var got guardedSight
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	i := slices.IndexFunc(got.Agents, func(a host.Agent) bool { return a.Pid == got.Pid })
	if i < 0 {
		t.Fatalf("process %d is not among %+v", got.Pid, got.Agents)
	}
	if a := got.Agents[i]; a.Agent != "codex" || a.Dir != "" || a.Mark != "" || a.Account == "" || a.Account == "root" {
		t.Errorf("%+v", a)
	}
	if got.Hidden == 0 {
		t.Error("a directory that may not be read is not counted")
	}
}

// The name in the kernel's line may hold anything; proc_pid_stat(5).
func TestParentBehindAnyName(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int32{"7 (a) S 3 7 7": 3, "7 (a) S 9) R 4 7 7": 4, "7 (:) (x y)) D 5 1": 5} {
		if got, ok := host.ParentIn([]byte(line)); !ok || got != want {
			t.Errorf("%q: %d, %v", line, got, ok)
		}
	}
	for _, line := range []string{"", "7", "7 (a)", "7 (a) S", "7 (a) S x", "7 a S 3"[:3]} {
		if got, ok := host.ParentIn([]byte(line)); ok {
			t.Errorf("%q: %d", line, got)
		}
	}
}
