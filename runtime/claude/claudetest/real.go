package claudetest

import (
	"os"
	"path/filepath"
	"testing"
)

// Versions are those of the real program that are installed for tests: the oldest that was looked at, and the newest
// when it was. .ci/install names the same ones.
func Versions() []string { return []string{"2.1.197", "2.1.332"} }

// Real is the path of the real program in one of the Versions, where `make test-claude` installs it. It fails the test
// where it is not there.
func Real(tb testing.TB, version string) string {
	tb.Helper()
	dir := os.Getenv("HITCHPOST_TEST_CLAUDE")
	if dir == "" {
		cache := os.Getenv("XDG_CACHE_HOME")
		if cache == "" {
			cache = filepath.Join(os.Getenv("HOME"), ".cache")
		}
		dir = filepath.Join(cache, "hitchpost", "claude")
	}
	program := filepath.Join(dir, version, "claude")
	if _, err := os.Stat(program); err != nil {
		tb.Fatalf("no Claude Code %s: %v: run `make test-claude`, which installs it", version, err)
	}
	return program
}
