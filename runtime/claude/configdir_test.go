package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
)

func TestConfigDir(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"home/.claude", "real/config", "work"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "real", "loop": "loop", "home/.dots": "../real/config"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		env  string
		want string // below root
	}{
		{"HOME=$/home", "home/.claude"},
		{"HOME=$/home|CLAUDE_CONFIG_DIR=", "home/.claude"},
		{"HOME=$/home|CLAUDE_CONFIG_DIR=$/home/.dots", "real/config"},
		{"CLAUDE_CONFIG_DIR=$/link/config/", "real/config"},
		{"CLAUDE_CONFIG_DIR=$/link/new/deeper", "real/new/deeper"},
		{"CLAUDE_CONFIG_DIR=$/loop/x", "loop/x"},
		{"CLAUDE_CONFIG_DIR=../link/config", "real/config"}, // from the session's directory
		{"CLAUDE_CONFIG_DIR=$/e\u0301", "\u00e9"},           // as Claude Code composes it
		{"CLAUDE_CONFIG_DIR=$/a|CLAUDE_CONFIG_DIR=$/b", "b"},
		{"CLAUDE_CONFIG_DIRX=$/a|HOME=$", ".claude"},
	} {
		env := strings.Split(strings.ReplaceAll(test.env, "$", root), "|")
		if got, err := claude.ConfigDir(env, filepath.Join(root, "work")); err != nil || got != filepath.Join(root, test.want) {
			t.Errorf("%s: %q, %v; want %s", test.env, got, err, test.want)
		}
	}
	if got, err := claude.ConfigDir(nil, root); hitchpost.KindOf(err) != hitchpost.UsageError {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTranscriptFolder(t *testing.T) {
	t.Parallel()
	long := "/" + strings.Repeat("a", 199)
	for dir, want := range map[string]string{
		"/":               "-",
		"/home/me/Work_1": "-home-me-Work-1",
		"/a.b c/ä/é":      "-a-b-c----",
		"/😀":              "---", // two units of UTF-16
		long:              "-" + strings.Repeat("a", 199),
		long + "b":        "-" + strings.Repeat("a", 199) + "-b6ymvk",
		long + "😀/é":      "-" + strings.Repeat("a", 199) + "-f4gjwx",
	} {
		if got := claude.TranscriptFolder(dir); got != want {
			t.Errorf("%q: %q, want %q", dir, got, want)
		}
	}
}

func TestCleanupDays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`{"cleanupPeriodDays": 90}`: 90, `{"cleanupPeriodDays": 0}`: 0, `{"cleanupPeriodDays": 7.9}`: 7, "\ufeff" + `{"cleanupPeriodDays": 5}`: 5,
		`{"cleanupPeriodDays": 1e300}`: 36_500, `{"cleanupPeriodDays": -1}`: 30, `{"cleanupPeriodDays": "90"}`: 30,
		`{"cleanupPeriodDays": null}`: 30, `{"CleanupPeriodDays": 9}`: 30, `{}`: 30, ``: 30, `{"cleanupPeriodDays": 90`: 30, `[90]`: 30,
		`{"x":"` + strings.Repeat("x", 1<<20) + `","cleanupPeriodDays": 90}`: 30,
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "settings.json"), text, 0o600)
		if got := claude.CleanupDays(dir); got != want {
			t.Errorf("%.40s: %d, want %d", text, got, want)
		}
	}
	dir := t.TempDir()
	if got := claude.CleanupDays(dir); got != 30 {
		t.Errorf("no file: %d", got)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "settings.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := claude.CleanupDays(dir); got != 30 { // and nobody waits for a writer
		t.Errorf("a FIFO: %d", got)
	}
}
