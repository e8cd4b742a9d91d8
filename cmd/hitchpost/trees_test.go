package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// repo makes a repository with one commit under the account's home.
func (s *stack) repo(name string) string {
	s.t.Helper()
	dir := s.path("home/" + name)
	must(s.t, os.MkdirAll(dir, 0o700))
	s.git(dir, "init", "-q", "-b", "main")
	must(s.t, os.WriteFile(filepath.Join(dir, "code"), []byte("one\n"), 0o600))
	s.git(dir, "add", ".")
	s.git(dir, "commit", "-q", "-m", "one")
	return dir
}

func (s *stack) git(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Ann", "-c", "user.email=ann@example.org"}, args...)...)
	cmd.Dir, cmd.Env = dir, s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// codex makes a program that is called like an agent, and runs a line of a shell.
func (s *stack) codex(line string) string {
	s.t.Helper()
	path := s.path("home/codex")
	must(s.t, os.WriteFile(path, []byte("#!/bin/sh\n"+line+"\ncat\n:\n"), 0o700))
	return path
}

// TestOneAgentInATree has five people start an agent in one tree at the same moment. One gets it, and the others are told
// who has it; after a reboot the same holds for restarts.
func TestOneAgentInATree(t *testing.T) {
	t.Parallel()
	s := start(t)
	dir, codex := s.repo("app"), s.codex("echo up")
	var wait sync.WaitGroup
	got := make([]answer, 5)
	for i := range got {
		wait.Go(func() { got[i] = s.ssh("new", "--json", "--cwd", "app", "--", codex) })
	}
	wait.Wait()
	made, handle := 0, ""
	for _, a := range got {
		var doc struct {
			Handle string
			Error  struct{ Code, Message, Hint string }
		}
		must(t, json.Unmarshal([]byte(a.out+a.err), &doc))
		switch {
		case a.code == 0:
			made, handle = made+1, doc.Handle
		case a.code != 4 || doc.Error.Code != "conflict" || !strings.Contains(doc.Error.Message, dir) ||
			!strings.Contains(doc.Error.Message, "session codex-app (codex") || !strings.Contains(doc.Error.Hint, "(--force)"):
			t.Errorf("%+v", a)
		}
	}
	if made != 1 || handle != "codex-app" {
		t.Fatalf("%d made, the last is %s", made, handle)
	}
	s.ok("new", "--title", "second", "--force", "--cwd", "app", "--", codex)
	s.eventually("both are marked", func() bool {
		list := s.ok("ls")
		return strings.Contains(list, "app@main (clash: second)") && strings.Contains(list, "app@main (clash: codex-app)")
	})
	s.killTmux()
	s.becomes("second", "RECOVERABLE")
	s.becomes("codex-app", "RECOVERABLE")
	s.ok("restart", "second")
	if a := s.ssh("restart", "codex-app"); a.code != 4 || !strings.Contains(a.err, "session second (codex") {
		t.Errorf("%+v", a)
	}
	s.ok("new", "--title", "apart", "--worktree", "--cwd", "app", "--", codex)
}

// TestWorktreeOfASession works in a worktree, and removes it once nothing would be lost.
func TestWorktreeOfASession(t *testing.T) {
	t.Parallel()
	s := start(t)
	dir := s.repo("app")
	s.ok("new", "--title", "job", "--worktree=topic", "--cwd", "app", "--", "cat")
	var doc struct{ Cwd, Worktree string }
	must(t, json.Unmarshal([]byte(s.ok("show", "job", "--json")), &doc))
	if doc.Worktree != s.path("data/worktrees/app-topic") || doc.Cwd != doc.Worktree || s.git(doc.Cwd, "branch", "--show-current") != "topic" {
		t.Errorf("%+v", doc)
	}
	s.eventually("it is on the list", func() bool { return strings.Contains(s.ok("ls"), "app-topic@topic") })
	if a := s.ssh("worktree", "rm", "job"); a.code != 4 {
		t.Errorf("of a live one: %+v", a)
	}
	s.ok("stop", "job")
	must(t, os.WriteFile(filepath.Join(doc.Cwd, "new"), []byte("x"), 0o600))
	a := s.ssh("worktree", "rm", "job", "--json")
	var refused struct {
		Error struct {
			Code     string
			InTheWay []struct {
				What  string
				First []string
			} `json:"in_the_way"`
		}
	}
	must(t, json.Unmarshal([]byte(a.err), &refused))
	if w := refused.Error.InTheWay; a.code != 4 || len(w) != 1 || w[0].What != "untracked" || w[0].First[0] != "new" {
		t.Errorf("%+v", a)
	}
	must(t, os.Remove(filepath.Join(doc.Cwd, "new")))
	if list := s.ok("worktree", "ls"); !strings.Contains(list, doc.Worktree) {
		t.Errorf("%s", list)
	}
	s.ok("worktree", "rm", "job")
	if a := s.ssh("restart", "job"); a.code != 4 || !strings.Contains(a.err, "the worktree of job was removed") {
		t.Errorf("%+v", a)
	}
	if a := s.ssh("new", "--worktree", "--", "cat"); a.code != 4 || !strings.Contains(a.err, "is in no git repository") {
		t.Errorf("%+v", a)
	}
	s.git(dir, "rev-parse", "--verify", "topic")
	if left := s.git(dir, "worktree", "list"); strings.Contains(left, "\n") {
		t.Errorf("left: %s", left)
	}
}

// TestCheckpointsOfASession loses an agent in the middle of its work: what it had done is there, also after a Restart that
// undid it.
func TestCheckpointsOfASession(t *testing.T) {
	t.Parallel()
	s := start(t)
	dir := s.repo("app")
	s.ok("new", "--title", "job", "--cwd", "app", "--", s.codex("read x && echo two > code"))
	s.ok("send", "job", "go", "--enter")
	s.eventually("it works", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "code"))
		return err == nil && string(text) == "two\n"
	})
	if out := s.ok("checkpoint", "job", "-m", "halfway"); !strings.HasPrefix(out, "1 ") {
		t.Errorf("%q", out)
	}
	must(t, os.WriteFile(filepath.Join(dir, "more"), []byte("more\n"), 0o600))
	s.killTmux()
	s.becomes("job", "RECOVERABLE")
	s.ok("restart", "job")
	list := s.ok("checkpoint", "ls", "job")
	if !strings.Contains(list, "halfway") || strings.Count(list, "\n") != 3 { // by itself, or before the restart
		t.Errorf("%s", list)
	}
	must(t, os.WriteFile(filepath.Join(dir, "code"), []byte("undone\n"), 0o600))
	if patch := s.ok("checkpoint", "diff", "job", "2"); !strings.Contains(patch, "-two\n+undone\n") {
		t.Errorf("%s", patch)
	}
	s.ok("checkpoint", "restore", "job", "2", "--branch", "back")
	if got := s.git(dir, "show", "back:code"); got != "two" || s.git(dir, "show", "back:more") != "more" {
		t.Errorf("%q", got)
	}
	if a := s.ssh("checkpoint", "restore", "job", "2", "--branch", "main"); a.code != 4 || !strings.Contains(a.err, "(--branch)") {
		t.Errorf("%+v", a)
	}
	if events := s.ok("events", "job"); !strings.Contains(events, "checkpoint 1, files: 1") {
		t.Errorf("%s", events)
	}
}

// keptDocuments has the verbs of checkpoints and worktrees print theirs.
func (s *stack) keptDocuments(ok func(form string, words ...string)) {
	s.t.Helper()
	s.repo("kept")
	s.ok("new", "--title", "kept", "--worktree", "--cwd", "kept", "--", "cat")
	ok("checkpoint", "checkpoint", "kept")
	ok("checkpoint ls", "checkpoint", "ls", "kept")
	ok("checkpoint diff", "checkpoint", "diff", "kept", "1")
	ok("checkpoint restore", "checkpoint", "restore", "kept", "1")
	ok("worktree ls", "worktree", "ls")
	s.ok("stop", "kept")
	ok("worktree rm", "worktree", "rm", "kept")
}
