package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/runtime/claude"
)

// hookEnv is what a hook of a session inherits.
func hookEnv(spool string) []string {
	return []string{
		claude.SpoolVariable + "=" + spool, claude.SessionVariable + "=s", claude.TokenVariable + "=t", claude.RunVariable + "=1",
	}
}

const hookEvent = `{"session_id":"c","hook_event_name":"Stop","cwd":"/p"}`

// calledHook runs the hook as Claude Code does and holds what it must never do against it.
func calledHook(t *testing.T, env []string, stdin io.Reader) time.Duration {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "'"+built+"' hook")
	var out bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, stdin, &out, &out
	begin := time.Now()
	if err := cmd.Run(); err != nil || out.Len() > 0 {
		t.Errorf("hook: %v, printed %q", err, out.String())
	}
	return time.Since(begin)
}

// What the hook leaves is read by the service's side of it, and tells who called: not the shell between.
func TestHookReachesTheSpool(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hooks")
	spool, err := claude.OpenSpool(dir)
	must(t, err)
	defer spool.Close()
	calledHook(t, hookEnv(dir), strings.NewReader(hookEvent))
	var got []claude.Event
	_, err = spool.Read(t.Context(), func(string) (string, error) { return "t", nil }, func(_ context.Context, e claude.Event) error {
		got = append(got, e)
		return nil
	})
	must(t, err)
	if len(got) != 1 || got[0].Name != claude.HookStop || got[0].Run != 1 || !got[0].From(os.Getpid()) || len(got[0].Callers) == 0 {
		t.Errorf("%+v, called by %d", got, os.Getpid())
	}
}

// Whatever is wrong, Claude Code hears of nothing and is not held up.
func TestHookIsSilent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, writeFile(file, ""))
	for name, c := range map[string]struct {
		env   []string
		stdin string
	}{
		"no session":   {nil, hookEvent},
		"no spool":     {hookEnv(filepath.Join(dir, "gone")), hookEvent},
		"a file":       {hookEnv(file), hookEvent},
		"no directory": {hookEnv("/dev/null"), hookEvent},
		"no event":     {hookEnv(dir), "}{"},
		"nothing":      {hookEnv(dir), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calledHook(t, c.env, strings.NewReader(c.stdin))
		})
	}
}

// A disk without space, here a limit on files, loses the event and nothing else.
func TestHookOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command("/bin/sh", "-c", "ulimit -f 0; exec '"+built+"' hook")
	cmd.Env, cmd.Stdin = hookEnv(dir), strings.NewReader(hookEvent)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v, printed %q", err, out)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// An input that never ends or never comes, or a disk that does not answer, costs the person's turn two seconds at most.
func TestHookGivesUp(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"no input": "", "half an input": `{"session_id":"c",`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			must(t, err)
			defer func() { _ = w.Close() }()
			_, err = io.WriteString(w, text)
			must(t, err)
			if took := calledHook(t, hookEnv(t.TempDir()), r); took > 10*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
	t.Run("a spool that hangs", func(t *testing.T) {
		t.Parallel()
		fifo := filepath.Join(t.TempDir(), "hooks")
		must(t, syscall.Mkfifo(fifo, 0o600)) // to open it waits for a writer
		if took := calledHook(t, hookEnv(fifo), strings.NewReader(hookEvent)); took > 10*time.Second {
			t.Errorf("took %s", took)
		}
	})
	t.Run("without an end", func(t *testing.T) {
		t.Parallel()
		zero, err := os.Open("/dev/zero")
		must(t, err)
		defer func() { _ = zero.Close() }()
		calledHook(t, hookEnv(t.TempDir()), io.MultiReader(strings.NewReader(`{"session_id":"c","hook_event_name":"Stop","x":"`), zero))
	})
}

// A person's turn waits for the hook: it must cost next to nothing beside the tool that it tells of.
func TestHookIsLight(t *testing.T) {
	t.Parallel()
	best := time.Hour
	for range 10 {
		cmd := exec.Command(built, "hook")
		cmd.Env, cmd.Stdin = hookEnv(t.TempDir()), strings.NewReader(hookEvent)
		must(t, cmd.Run())
		best = min(best, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	limit := 30 * time.Millisecond
	if raceEnabled {
		limit *= 10
	}
	if best > limit {
		t.Errorf("takes %s of processor time, more than %s", best, limit)
	}
}

// BenchmarkHook is one event of Claude Code, from the start of the program until the event is in the spool. cpu-ms is
// the processor time of it.
func BenchmarkHook(b *testing.B) {
	dir := b.TempDir()
	cpu := 0.0
	for range b.N {
		cmd := exec.Command(built, "hook")
		cmd.Env, cmd.Stdin = hookEnv(dir), strings.NewReader(hookEvent)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		names, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil || len(names) != 1 {
			b.Fatalf("%v, %v", names, err)
		}
		if err := os.Remove(names[0]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(1000*cpu/float64(b.N), "cpu-ms/op")
}
