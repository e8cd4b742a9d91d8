package runtime_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
)

// inWorktree asks for a session in a worktree of its own.
func inWorktree(title, cwd, branch string, args ...string) hitchpost.StartRequest {
	return hitchpost.StartRequest{Title: title, Cwd: cwd, Worktree: true, Branch: branch, Args: args}
}

// A session with a worktree works in the same sub-directory on a branch of its own, beside another agent. The worktree
// outlives its session, and goes when somebody asks for that; its branch stays.
func TestSessionInAWorktree(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir, codex := r.repo("app"), r.agent("codex")
	_, err := r.tryIn(dir, "first", codex)
	must(t, err)
	res, err := r.Start(t.Context(), admin, inWorktree("Fix it", filepath.Join(dir, "src"), "", codex))
	must(t, err)
	s := res.Session
	branch := "fix-it-" + s.ID[len(s.ID)-8:]
	if s.Cwd != filepath.Join(r.dir, "worktrees", "app-"+branch, "src") || s.Worktree != filepath.Dir(s.Cwd) || s.WorktreeOf != dir {
		t.Errorf("cwd %s, worktree %s of %s", s.Cwd, s.Worktree, s.WorktreeOf)
	}
	if e := r.last(s.ID, "created"); e.Reason != "new, in a worktree of its own" {
		t.Errorf("reason %q", e.Reason)
	}
	r.displays(s.ID, "codex is up")
	list, err := r.Worktrees(t.Context(), viewer)
	must(t, err)
	if len(list) != 1 || list[0].Session.ID != s.ID || list[0].Branch != branch || list[0].Path != s.Worktree || list[0].Of != dir {
		t.Errorf("%+v", list)
	}

	_, err = r.RemoveWorktree(t.Context(), admin, s.ID)
	kind(t, err, hitchpost.ConflictError) // it lives
	_, err = r.Stop(t.Context(), admin, s.ID, hitchpost.StopRequest{})
	must(t, err)
	_, err = r.CloseSession(t.Context(), admin, s.ID)
	must(t, err)
	r.write(filepath.Join(s.Cwd, "new"), "new")
	r.write(filepath.Join(s.Cwd, "code"), "two\n")
	_, err = r.RemoveWorktree(t.Context(), viewer, s.ID)
	kind(t, err, hitchpost.DeniedError)
	_, err = r.RemoveWorktree(t.Context(), admin, s.ID)
	kind(t, err, hitchpost.ConflictError)
	var e *hitchpost.Error
	if !errors.As(err, &e) || len(e.InTheWay) != 2 || e.InTheWay[0].What != "changed" || e.InTheWay[1].First[0] != "src/new" ||
		!strings.Contains(e.Message, "1 changed (src/code), 1 untracked (src/new)") {
		t.Errorf("%v, %+v", err, e)
	}
	r.git(s.Cwd, "add", ".")
	r.git(s.Cwd, "commit", "-q", "-m", "work")
	_, err = r.RemoveWorktree(t.Context(), admin, s.ID)
	kind(t, err, hitchpost.ConflictError)
	if err == nil || !strings.Contains(err.Error(), "1 on no remote and no other branch (work)") {
		t.Errorf("%v", err)
	}
	r.git(dir, "branch", "kept", branch)
	r.write(filepath.Join(dir, ".git", "info", "exclude"), "junk\n")
	r.write(filepath.Join(s.Worktree, "junk"), "made anew")
	pid, end := r.outside(s.Cwd, r.agent("tool"))
	if _, err = r.RemoveWorktree(t.Context(), admin, s.ID); err == nil || !strings.Contains(err.Error(), "tool (process ") {
		t.Errorf("in use by %d: %v", pid, err)
	}
	end()
	gone, err := r.RemoveWorktree(t.Context(), admin, s.ID)
	must(t, err)
	if gone.Branch != branch || gone.Ignored.Count != 1 || gone.Ignored.First[0] != "junk" {
		t.Errorf("%+v", gone)
	}
	if _, err := os.Lstat(s.Worktree); !errors.Is(err, os.ErrNotExist) {
		t.Error("it is still there")
	}
	r.git(dir, "rev-parse", "--verify", branch)
	if e := r.last(s.ID, "worktree_removed"); e.Actor != admin.Name || !strings.Contains(e.Reason, branch) {
		t.Errorf("%+v", e)
	}
	if list, err := r.Worktrees(t.Context(), admin); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = r.RemoveWorktree(t.Context(), admin, s.ID)
	kind(t, err, hitchpost.NotFoundError)
}

// What was removed is not restarted, and the refusal says where the branch is.
func TestRestartWithoutItsWorktree(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := r.repo("app")
	res, err := r.Start(t.Context(), admin, inWorktree("job", dir, "topic", "cat"))
	must(t, err)
	s := res.Session
	r.killTmux()
	r.becomes(s.ID, hitchpost.Recoverable)
	_, err = r.RemoveWorktree(t.Context(), admin, s.ID)
	must(t, err)
	_, err = r.Restart(t.Context(), admin, s.ID, hitchpost.RestartRequest{})
	kind(t, err, hitchpost.ConflictError)
	if err == nil || !strings.Contains(err.Error(), "the worktree of job was removed") || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v", err)
	}
	res, err = r.Start(t.Context(), admin, inWorktree("again", dir, "topic", "cat")) // the branch is there
	must(t, err)
	if got := r.git(res.Session.Cwd, "symbolic-ref", "--short", "HEAD"); got != "topic" {
		t.Errorf("on %s", got)
	}
}

// A start that is refused, or comes to nothing, leaves no worktree.
func TestNoWorktreeWithoutASession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := r.repo("app")
	plain := filepath.Join(r.dir, "plain")
	must(t, os.Mkdir(plain, 0o700))
	must(t, os.Mkdir(filepath.Join(dir, "untracked"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\n"), 0o700))
	for name, c := range map[string]struct {
		ask  hitchpost.StartRequest
		kind hitchpost.ErrorKind
		say  string
	}{
		"no repository":     {inWorktree("x", plain, "", "cat"), hitchpost.ConflictError, "is in no git repository"},
		"no such program":   {inWorktree("x", dir, "", "no-such-program"), hitchpost.UsageError, "no-such-program"},
		"not committed":     {inWorktree("x", dir, "", "./tool"), hitchpost.UsageError, "tool"},
		"not on the branch": {inWorktree("x", filepath.Join(dir, "untracked"), "", "cat"), hitchpost.ConflictError, "is not on branch x-"},
		"taken":             {inWorktree("x", dir, "main", "cat"), hitchpost.ConflictError, `"main" is checked out`},
		"no branch":         {inWorktree("x", dir, "-q", "cat"), hitchpost.UsageError, "cannot be the name of a branch"},
		"a branch alone":    {hitchpost.StartRequest{Title: "x", Cwd: dir, Branch: "b"}, hitchpost.UsageError, "a branch is for a worktree"},
	} {
		_, err := r.Start(t.Context(), admin, c.ask)
		kind(t, err, c.kind)
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
	resume := r.stopTmux()
	_, err := r.Start(t.Context(), admin, inWorktree("x", dir, "", "cat"))
	kind(t, err, hitchpost.UnavailableError)
	resume()
	spoiled := filepath.Join(r.dir, "sessions")
	must(t, os.Rename(spoiled, spoiled+".away"))
	must(t, os.WriteFile(spoiled, nil, 0o600))
	_, err = r.Start(t.Context(), admin, inWorktree("x", dir, "", "cat"))
	kind(t, err, hitchpost.FailedError)
	must(t, os.Remove(spoiled))
	must(t, os.Rename(spoiled+".away", spoiled))
	left, err := filepath.Glob(filepath.Join(r.dir, "worktrees", "*"))
	if known := r.git(dir, "worktree", "list"); err != nil || len(left) != 0 || strings.Count(known, "\n") != 0 {
		t.Errorf("left: %q %v\n%s", left, err, known)
	}
	res, err := r.Start(t.Context(), admin, hitchpost.StartRequest{Title: "x", Cwd: dir, Args: []string{"cat"}})
	must(t, err)
	ask := inWorktree("x", dir, "", "cat")
	ask.IfAbsent = true
	if again, err := r.Start(t.Context(), admin, ask); err != nil || again.Session.ID != res.Session.ID {
		t.Errorf("%+v, %v", again, err)
	}
	_, err = r.RemoveWorktree(t.Context(), admin, res.Session.ID)
	kind(t, err, hitchpost.NotFoundError)
}

// A worktree that was made from another one goes also when that one is gone.
func TestRemoveAWorktreeOfAWorktree(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := r.repo("app")
	var made [2]hitchpost.Session
	for i, from := range []string{dir, ""} {
		if from == "" {
			from = made[0].Cwd
		}
		res, err := r.Start(t.Context(), admin, inWorktree([]string{"one", "two"}[i], from, "", "true"))
		must(t, err)
		made[i] = r.becomes(res.Session.ID, hitchpost.Stopped)
	}
	if made[1].WorktreeOf != made[0].Worktree {
		t.Errorf("made of %s", made[1].WorktreeOf)
	}
	for _, s := range made {
		_, err := r.RemoveWorktree(t.Context(), admin, s.ID)
		must(t, err)
	}
	if list := r.git(dir, "worktree", "list"); strings.Contains(list, "\n") {
		t.Errorf("left: %s", list)
	}
}
