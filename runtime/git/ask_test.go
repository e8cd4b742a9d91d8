package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/runtime/git"
)

// git says the same as its files do, where these can be read.
func TestGitIsAskedRightly(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	same := func(want string) {
		t.Helper()
		if got, err := git.Ask(t.Context(), dir); err != nil || got != want || find(t, dir).Branch != want {
			t.Errorf("git says %q, %v; the files %q; want %q", got, err, find(t, dir).Branch, want)
		}
	}
	same("main")
	commit := command(t, dir, "rev-parse", "HEAD")
	command(t, dir, "switch", "-q", "--detach")
	same(commit[:7])
	command(t, dir, "switch", "-q", "--orphan", "unborn")
	same("unborn")
}

// A repository whose HEAD is elsewhere is asked of git, and nothing that its configuration names is run.
func TestNothingOfARepositorysOwnIsRun(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	proof := filepath.Join(t.TempDir(), "pwned")
	script := filepath.Join(t.TempDir(), "script")
	write(t, script, "#!/bin/sh\ntouch "+proof+"\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "alias.symbolic-ref",
		"alias.rev-parse", "pager.symbolic-ref", "credential.helper"} {
		command(t, dir, "config", name, script)
	}
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change"} {
		if err := os.Symlink(script, filepath.Join(dir, ".git/hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := git.Ask(t.Context(), dir); err != nil || got != "main" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := os.Stat(proof); !errors.Is(err, os.ErrNotExist) {
		t.Error("the repository's script was run")
	}
}

// standIn puts a program called git in front of the real one. It cannot run beside tests that need that.
func standIn(t *testing.T, script string) {
	t.Helper()
	bin := t.TempDir()
	write(t, filepath.Join(bin, "git"), "#!/bin/sh\n"+script)
	if err := os.Chmod(filepath.Join(bin, "git"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
}

// reftable is a working tree as git makes it with --ref-format=reftable, as far as HEAD goes.
func reftable(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tables")
	write(t, filepath.Join(dir, ".git/HEAD"), "ref: refs/heads/.invalid\n")
	return dir
}

func TestHeadInATableIsAskedOfGit(t *testing.T) {
	dir := reftable(t)
	t.Setenv("GIT_DIR", "/elsewhere")
	standIn(t, `echo "$*" > "`+dir+`/asked"; env > "`+dir+`/env"; echo refs/heads/in-table`)
	check(t, dir, "tables", "in-table")
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil || !strings.HasSuffix(string(asked), "-C "+dir+" symbolic-ref --quiet HEAD\n") {
		t.Errorf("%q, %v", asked, err)
	}
	env, err := os.ReadFile(filepath.Join(dir, "env"))
	if err != nil || strings.Contains(string(env), "GIT_DIR") || !strings.Contains(string(env), "GIT_OPTIONAL_LOCKS=0\n") {
		t.Errorf("%q, %v", env, err)
	}
}

func TestGitThatDoesNotAnswerIsGivenUp(t *testing.T) {
	dir := reftable(t)
	standIn(t, "exec sleep 60")
	began := time.Now()
	if h, err := git.Find(t.Context(), dir); !errors.Is(err, context.DeadlineExceeded) || h != (git.Head{}) {
		t.Errorf("%v, %v", h, err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestGitThatFloodsIsCutShort(t *testing.T) {
	dir := reftable(t)
	standIn(t, `printf refs/heads/; head -c 10000000 /dev/zero | tr '\0' x`)
	if got := find(t, dir).Branch; got != strings.Repeat("x", 200) {
		t.Errorf("%.300q", got)
	}
}
