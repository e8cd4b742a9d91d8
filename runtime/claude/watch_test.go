package claude_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/runtime/claude"
)

// A register is watched before it is there, while it is, and after it was removed and made anew.
func TestWatchFollowsTheDirectory(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "config")
	dir := claude.RegistryDir(config)
	w := claude.WatchDir(dir)
	defer w.Close()
	awaitWake := func(what string) {
		t.Helper()
		limit := time.NewTimer(20 * time.Second)
		defer limit.Stop()
		select {
		case <-w.Wake():
		case <-limit.C:
			t.Fatal("not woken by: " + what)
		}
	}
	for range 3 {
		must(t, os.MkdirAll(dir, 0o700))
		awaitWake("the directory")
		path := filepath.Join(dir, "7.json")
		must(t, os.WriteFile(path, []byte("a"), 0o600))
		awaitWake("a new file")
		settle(w)
		must(t, os.WriteFile(path, []byte("b"), 0o600))
		awaitWake("a file that was written over")
		settle(w)
		must(t, os.Remove(path))
		awaitWake("a file that went")
		settle(w)
		must(t, os.RemoveAll(config))
		awaitWake("a directory that went")
		settle(w)
	}
}

// settle takes what several steps of one change woke, for as long as that goes on.
func settle(w *claude.Watch) {
	for {
		quiet := time.NewTimer(50 * time.Millisecond)
		select {
		case <-w.Wake():
			quiet.Stop()
		case <-quiet.C:
			return
		}
	}
}

// One that takes its time finds everything that came meanwhile in one waking, and nobody is held up.
func TestWatchHoldsUpNobody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := claude.WatchDir(dir)
	for range 100 {
		f, err := os.CreateTemp(dir, "")
		must(t, err)
		must(t, f.Close())
	}
	await(t, "a waking", func() bool { return len(w.Wake()) == 1 })
	w.Close()
}

// await waits for a condition.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(30 * time.Second); !ok(); <-tick.C {
		if time.Now().After(limit) {
			t.Fatal("waited in vain: " + what)
		}
	}
}
