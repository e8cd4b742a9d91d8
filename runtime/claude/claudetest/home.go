package claudetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Home is a place for Claude Code that is nobody's: every folder it writes to, with the questions of a first start
// answered. Its paths have no symlinks and are short enough for sockets.
type Home struct {
	Dir     string // HOME
	Config  string // CLAUDE_CONFIG_DIR
	Tmp     string // TMPDIR
	Project string // a trusted directory to start in
}

// NewHome makes a home that goes when the test ends.
func NewHome(tb testing.TB) Home {
	tb.Helper()
	dir, err := os.MkdirTemp("", "hp-c-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	h, err := HomeIn(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

// HomeIn makes a home below dir, which is there. All below dir is trusted.
func HomeIn(dir string) (Home, error) {
	dir, err := filepath.EvalSymlinks(dir) // trust is looked up by the real path
	if err != nil {
		return Home{}, err
	}
	h := Home{
		Dir: filepath.Join(dir, "home"), Config: filepath.Join(dir, "config"), Tmp: filepath.Join(dir, "tmp"),
		Project: filepath.Join(dir, "project"),
	}
	for _, d := range []string{h.Dir, h.Config, h.Tmp, h.Project} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return Home{}, err
		}
	}
	answers, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true,
		"projects":               map[string]any{dir: map[string]any{"hasTrustDialogAccepted": true}},
	})
	if err != nil {
		return Home{}, err
	}
	return h, os.WriteFile(filepath.Join(h.Config, ".claude.json"), answers, 0o600)
}

// Environment is the whole environment of a start in this home, K=V, against the API at url. Nothing of the test's own
// environment is in it but PATH.
func (h Home) Environment(url string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.Dir, "SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=xterm-256color",
		"TMPDIR=" + h.Tmp, "CLAUDE_CODE_TMPDIR=" + h.Tmp, "CLAUDE_CONFIG_DIR=" + h.Config,
		"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_AUTH_TOKEN=dummy", // a key in place of a token would be asked about
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
	}
}

// Settings writes the person's own settings.json.
func (h Home) Settings(tb testing.TB, settings any) {
	tb.Helper()
	doc, err := json.Marshal(settings)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.Config, "settings.json"), doc, 0o600); err != nil {
		tb.Fatal(err)
	}
}
