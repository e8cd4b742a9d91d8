package runtime_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/hitchpost/hitchpost"
)

// repo is a repository that holds the file src/code too.
func (r *rig) repo(name string) string {
	r.t.Helper()
	dir := r.repository(name)
	must(r.t, os.Mkdir(filepath.Join(dir, "src"), 0o700))
	r.write(filepath.Join(dir, "src", "code"), "one\n")
	r.git(dir, "add", ".")
	r.git(dir, "commit", "-q", "-m", "two")
	return dir
}

// agent makes a program that is called like an agent and does nothing.
func (r *rig) agent(name string) string {
	r.t.Helper()
	path := filepath.Join(r.dir, "bin", name)
	must(r.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(r.t, os.WriteFile(path, []byte("#!/bin/sh\necho \"$0 is up\"\ncat\n:\n"), 0o700))
	return path
}

func (r *rig) tryIn(dir, title string, args ...string) (hitchpost.Session, error) {
	res, err := r.Start(context.Background(), admin, hitchpost.StartRequest{Title: title, Cwd: dir, Args: args})
	return res.Session, err
}

// outside has a program that reads to the end of its input run in a directory, as a child of nobody here. end ends it.
func (r *rig) outside(dir, program string) (pid int, end func()) {
	r.t.Helper()
	fifo := filepath.Join(r.t.TempDir(), "in")
	must(r.t, syscall.Mkfifo(fifo, 0o600))
	in, err := os.OpenFile(fifo, os.O_RDWR, 0)
	must(r.t, err)
	r.t.Cleanup(func() { _ = in.Close() })
	cmd := exec.Command("sh", "-c", `"$0" <"$1" >/dev/null 2>&1 & echo $!`, program, fifo)
	cmd.Dir = dir
	out, err := cmd.Output()
	must(r.t, err)
	pid, err = strconv.Atoi(strings.TrimSpace(string(out)))
	must(r.t, err)
	r.t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	eventually(r.t, func() bool {
		name, err := (&process.Process{Pid: int32(pid)}).Name()
		return err == nil && name == filepath.Base(program)
	}, func() string { return program + " does not come up" })
	return pid, func() {
		must(r.t, in.Close())
		eventually(r.t, func() bool { return syscall.Kill(pid, 0) != nil }, func() string { return program + " does not end" })
	}
}

// beside fails the test unless err refuses a start beside another, with these words.
func beside(t *testing.T, err error, want ...string) {
	t.Helper()
	kind(t, err, hitchpost.ConflictError)
	for _, w := range append(want, "another agent is at work in ") {
		if err == nil || !hitchpost.Forcible(err) || !strings.Contains(err.Error(), w) {
			t.Errorf("error %v, want %q", err, w)
		}
	}
}

// One agent works in a tree at a time, wherever in it and by whatever path; what is no agent, another repository and
// another worktree are free.
func TestOneAgentInATree(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir, codex, aider := r.repo("app"), r.agent("codex"), r.agent("aider")
	other := r.repo("other")
	linked := filepath.Join(r.dir, "linked")
	r.git(dir, "worktree", "add", "-q", linked)
	link := filepath.Join(r.dir, "link")
	must(t, os.Symlink(filepath.Join(dir, "src"), link))
	first, err := r.tryIn(dir, "first", codex)
	must(t, err)

	for _, where := range []string{dir, filepath.Join(dir, "src"), link} {
		_, err = r.tryIn(where, "second", aider)
		beside(t, err, fmt.Sprintf("%q: session first (codex, ", dir))
	}
	list, err := r.List(t.Context(), admin, hitchpost.ListRequest{All: true})
	must(t, err)
	if len(list) != 1 {
		t.Errorf("left of the refused: %+v", list)
	}
	for where, program := range map[string]string{dir: "cat", other: aider, linked: aider} {
		if _, err := r.tryIn(where, "free", program); err != nil {
			t.Errorf("%s in %s: %v", program, where, err)
		}
	}
	_, err = r.Stop(t.Context(), admin, first.ID, hitchpost.StopRequest{})
	must(t, err)
	if _, err := r.tryIn(link, "second", aider); err != nil {
		t.Error(err)
	}
}

// Whoever forces it gets both, told of in the event; both are marked on every list until one has ended.
func TestForcedAgentsClash(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir, codex := r.repo("app"), r.agent("codex")
	first, err := r.tryIn(dir, "first", codex)
	must(t, err)
	res, err := r.Start(t.Context(), admin, hitchpost.StartRequest{Title: "second", Cwd: dir, Args: []string{codex}, Force: true})
	must(t, err)
	second := res.Session
	if len(second.Clash) != 1 || second.Clash[0].Session != "first" {
		t.Errorf("%+v", second.Clash)
	}
	if e := r.last(second.ID, "created"); !strings.HasPrefix(e.Reason, "new, beside session first (codex") {
		t.Errorf("reason %q", e.Reason)
	}
	clashes := func(id string) string {
		s, err := r.Show(t.Context(), admin, id)
		must(t, err)
		list, err := r.List(t.Context(), admin, hitchpost.ListRequest{})
		must(t, err)
		snapshot, _ := r.Snapshot()
		for _, seen := range append(list, snapshot...) {
			if seen.ID == id && len(seen.Clash) != len(s.Clash) {
				return "" // a moment ago
			}
		}
		var names []string
		for _, c := range s.Clash {
			names = append(names, c.Session+" "+c.Agent)
		}
		return strings.Join(names, ",")
	}
	eventually(t, func() bool { return clashes(first.ID) == "second codex" && clashes(second.ID) == "first codex" },
		func() string { return clashes(first.ID) + "; " + clashes(second.ID) })
	_, err = r.Stop(t.Context(), admin, first.ID, hitchpost.StopRequest{})
	must(t, err)
	eventually(t, func() bool { return clashes(second.ID) == "" && clashes(first.ID) == "" },
		func() string { return clashes(second.ID) })
}

// An agent that somebody started without Hitchpost, or by hand in a shell, counts too.
func TestAgentsThatNobodyAskedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir, codex, aider := r.repo("app"), r.agent("codex"), r.agent("aider")
	pid, end := r.outside(filepath.Join(dir, "src"), aider)
	_, err := r.tryIn(dir, "one", codex)
	beside(t, err, fmt.Sprintf("aider (process %d, since ", pid))
	end()

	shell, err := r.tryIn(dir, "shell")
	must(t, err)
	_, err = r.Send(t.Context(), admin, shell.ID, hitchpost.SendRequest{Text: codex + "\n"})
	must(t, err)
	r.displays(shell.ID, "codex is up")
	_, err = r.tryIn(dir, "one", codex)
	beside(t, err, "session shell (codex, process ")
	_, err = r.Send(t.Context(), admin, shell.ID, hitchpost.SendRequest{Keys: []string{"C-c"}})
	must(t, err)
	eventually(t, func() bool { _, err = r.tryIn(dir, "one", codex); return err == nil }, func() string { return err.Error() })
}

// Of ten at the same moment one is made, and the others know its name. Where its start fails another has the turn.
func TestTenAgentsAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir, codex := r.repo("app"), r.agent("codex")
	var wait sync.WaitGroup
	errs := make([]error, 10)
	for i := range errs {
		wait.Go(func() { _, errs[i] = r.tryIn(dir, fmt.Sprintf("agent %d of ten", i), codex) })
	}
	wait.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
			continue
		}
		beside(t, err, "session agent-")
	}
	list, err := r.List(t.Context(), admin, hitchpost.ListRequest{All: true})
	must(t, err)
	if made != 1 || len(list) != 1 || list[0].State != hitchpost.Detached {
		t.Errorf("%d made, on the list %+v", made, list)
	}
}

// A Restart asks as well, for what it is about to run.
func TestRestartOfAnAgentBesideAnother(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir, codex := r.repo("app"), r.agent("codex")
	first, err := r.tryIn(dir, "first", codex)
	must(t, err)
	res, err := r.Start(t.Context(), admin, hitchpost.StartRequest{
		Title: "second", Cwd: dir, Args: []string{"cat"}, RestartCommand: codex,
	})
	must(t, err)
	second := res.Session
	r.killTmux()
	r.becomes(first.ID, hitchpost.Recoverable)
	r.becomes(second.ID, hitchpost.Recoverable)
	_, err = r.Restart(t.Context(), admin, first.ID, hitchpost.RestartRequest{})
	must(t, err)
	_, err = r.Restart(t.Context(), admin, second.ID, hitchpost.RestartRequest{})
	beside(t, err, "session first (codex")
	if s := r.becomes(second.ID, hitchpost.Recoverable); s.Restarts != 0 {
		t.Errorf("%+v", s)
	}
	left, err := filepath.Glob(filepath.Join(r.dir, "sessions", second.ID, "*run-1*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left of the refused run: %q, %v", left, err)
	}
	res, err = r.Restart(t.Context(), admin, second.ID, hitchpost.RestartRequest{Force: true})
	must(t, err)
	if e := r.last(second.ID, "restart_asked"); !strings.HasPrefix(e.Reason, "restart asked, beside session first (codex") ||
		len(res.Session.Clash) != 1 {
		t.Errorf("reason %q, clash %+v", e.Reason, res.Session.Clash)
	}
}

// Outside of a repository each directory is a tree of its own; a preset makes an agent of any program.
func TestAgentsOutsideOfRepositories(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.addPreset("mine", ownPreset)
	dir := filepath.Join(r.dir, "plain")
	must(t, os.MkdirAll(filepath.Join(dir, "below"), 0o700))
	ask := hitchpost.StartRequest{Title: "first", Preset: "mine", Cwd: dir}
	_, err := r.Start(t.Context(), admin, ask)
	must(t, err)
	codex := r.agent("codex")
	_, err = r.tryIn(dir, "second", codex)
	beside(t, err, "session first (mine, since ")
	if _, err := r.tryIn(filepath.Join(dir, "below"), "second", codex); err != nil {
		t.Error(err)
	}
	ask.Title, ask.IfAbsent = "first", true
	if res, err := r.Start(t.Context(), admin, ask); err != nil || res.Session.Handle != "first" {
		t.Errorf("%+v, %v", res, err)
	}
}
