package runtime_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/git"
)

// A checkpoint is made when somebody asks, is listed, compared and brought back as a branch; a viewer may look alone.
func TestCheckpointsOnDemand(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, dir := t.Context(), r.repo("app")
	s, err := r.tryIn(filepath.Join(dir, "src"), "job", "cat")
	must(t, err)
	r.write(filepath.Join(dir, "new"), "new\n")
	made, err := r.Checkpoint(ctx, admin, "job", "before I try")
	must(t, err)
	if !made.New || made.N != 1 || made.Files != 1 || made.Message != "before I try" {
		t.Errorf("%+v", made)
	}
	if e := r.last(s.ID, "checkpoint"); e.Reason != "checkpoint 1, files: 1" || e.Actor != admin.Name {
		t.Errorf("%+v", e)
	}
	if again, err := r.Checkpoint(ctx, admin, "job", ""); err != nil || again.New || again.N != 1 {
		t.Errorf("%+v, %v", again, err)
	}
	r.write(filepath.Join(dir, "src", "code"), "two\n")
	must(t, os.Remove(filepath.Join(dir, "new")))
	list, err := r.Checkpoints(ctx, viewer, "job")
	must(t, err)
	if len(list) != 1 || list[0] != made.Checkpoint {
		t.Errorf("%+v, made %+v", list, made)
	}
	diff, err := r.CheckpointDiff(ctx, viewer, "job", 1)
	must(t, err)
	if diff.Stat.Files != 2 || diff.Cut || !strings.Contains(diff.Patch, "-one\n+two\n") || diff.Checkpoint != made.Checkpoint {
		t.Errorf("%+v", diff)
	}
	before := r.git(dir, "status", "--porcelain")
	back, err := r.RestoreCheckpoint(ctx, admin, "job", 1, "")
	must(t, err)
	if back.Branch != "job-checkpoint-1" || r.git(dir, "show", back.Branch+":new") != "new" || r.git(dir, "status", "--porcelain") != before {
		t.Errorf("%+v", back)
	}
	_, err = r.RestoreCheckpoint(ctx, admin, "job", 1, "main")
	kind(t, err, hitchpost.ConflictError)
	_, err = r.RestoreCheckpoint(ctx, admin, "job", 7, "")
	kind(t, err, hitchpost.NotFoundError)
	_, err = r.CheckpointDiff(ctx, admin, "job", 7)
	kind(t, err, hitchpost.NotFoundError)
	_, err = r.Checkpoint(ctx, viewer, "job", "")
	kind(t, err, hitchpost.DeniedError)
	_, err = r.RestoreCheckpoint(ctx, viewer, "job", 1, "x")
	kind(t, err, hitchpost.DeniedError)
	for _, message := range []string{"\x1b[31m", "\xff", strings.Repeat("x", 1001)} {
		_, err = r.Checkpoint(ctx, admin, "job", message)
		kind(t, err, hitchpost.UsageError)
	}
	plain := filepath.Join(r.dir, "plain")
	must(t, os.Mkdir(plain, 0o700))
	_, err = r.tryIn(plain, "plain", "cat")
	must(t, err)
	_, err = r.Checkpoint(ctx, admin, "plain", "")
	kind(t, err, hitchpost.ConflictError)
	_, err = r.Checkpoints(ctx, admin, "plain")
	kind(t, err, hitchpost.ConflictError)
}

// Before a Restart the files are kept, and the event tells of it; where they cannot be, the Restart goes on and says so.
func TestCheckpointBeforeARestart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := r.repo("app")
	s, err := r.tryIn(dir, "job", "cat")
	must(t, err)
	r.write(filepath.Join(dir, "src", "code"), "two\n")
	r.killTmux()
	r.becomes(s.ID, hitchpost.Recoverable)
	_, err = r.Restart(t.Context(), admin, s.ID, hitchpost.RestartRequest{})
	must(t, err)
	if e := r.last(s.ID, "checkpoint"); e.Reason != "checkpoint 1, files: 1, before a restart" || e.Actor != admin.Name {
		t.Errorf("%+v", e)
	}
	if e := r.last(s.ID, "restart_asked"); e.Reason != "restart asked" {
		t.Errorf("%+v", e)
	}
	if got := r.git(dir, "show", "refs/hitchpost/"+s.ID+"/1:src/code"); got != "two" {
		t.Errorf("%q", got)
	}
	r.killTmux()
	r.becomes(s.ID, hitchpost.Recoverable)
	r.write(filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	must(t, os.RemoveAll(filepath.Join(dir, ".git", "objects")))
	_, err = r.Restart(t.Context(), admin, s.ID, hitchpost.RestartRequest{})
	must(t, err)
	if e := r.last(s.ID, "restart_asked"); !strings.HasPrefix(e.Reason, "restart asked, no checkpoint: ") {
		t.Errorf("%+v", e)
	}
}

// What an agent has changed is kept when it ends and nobody is told; a program that is no agent is not looked after so.
func TestCheckpointWhenAnAgentEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir, other := r.repo("app"), r.repo("other")
	script := "#!/bin/sh\nread x\necho two > src/code\nexit 3\n"
	r.agent("codex")
	must(t, os.WriteFile(filepath.Join(r.dir, "bin", "codex"), []byte(script), 0o700))
	agent, err := r.tryIn(dir, "agent", filepath.Join(r.dir, "bin", "codex"))
	must(t, err)
	tool, err := r.tryIn(other, "tool", "sh", "-c", script)
	must(t, err)
	for _, s := range []hitchpost.Session{tool, agent} {
		_, err = r.Send(t.Context(), admin, s.ID, hitchpost.SendRequest{Text: "\n"})
		must(t, err)
		r.becomes(s.ID, hitchpost.Failed)
	}
	var list []hitchpost.Checkpoint
	eventually(t, func() bool {
		list, err = r.Checkpoints(t.Context(), admin, agent.ID)
		return err == nil && len(list) == 1
	}, func() string { return fmt.Sprintf("%+v, %v", list, err) })
	if list[0].Message != "its agent has ended" || r.git(dir, "show", list[0].Commit+":src/code") != "two" {
		t.Errorf("%+v", list)
	}
	if list, err := r.Checkpoints(t.Context(), admin, tool.ID); err != nil || len(list) != 0 {
		t.Errorf("of the tool: %+v, %v", list, err)
	}
	events, err := r.store.Events(t.Context(), hitchpost.EventRequest{Session: agent.ID})
	must(t, err)
	for _, e := range events {
		if e.Kind == "checkpoint" {
			t.Errorf("told: %+v", e)
		}
	}
}

// The checkpoints of a session outlive its worktree; files that are gone cannot be compared with.
func TestCheckpointsOfARemovedWorktree(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := r.repo("app")
	res, err := r.Start(t.Context(), admin, inWorktree("job", dir, "topic", "cat"))
	must(t, err)
	s := res.Session
	r.write(filepath.Join(s.Cwd, "new"), "new\n")
	_, err = r.Checkpoint(t.Context(), admin, s.ID, "")
	must(t, err)
	must(t, os.Remove(filepath.Join(s.Cwd, "new")))
	_, err = r.Stop(t.Context(), admin, s.ID, hitchpost.StopRequest{})
	must(t, err)
	_, err = r.RemoveWorktree(t.Context(), admin, s.ID)
	must(t, err)
	if list, err := r.Checkpoints(t.Context(), admin, s.ID); err != nil || len(list) != 1 || list[0].Message != "checkpoint" {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = r.CheckpointDiff(t.Context(), admin, s.ID, 1)
	kind(t, err, hitchpost.NotFoundError)
	_, err = r.Checkpoint(t.Context(), admin, s.ID, "")
	kind(t, err, hitchpost.NotFoundError)
	if _, err := r.RestoreCheckpoint(t.Context(), admin, s.ID, 1, "back"); err != nil || r.git(dir, "show", "back:new") != "new" {
		t.Error(err)
	}
}

// What an agent has changed is kept when it has finished its turn and waits.
func TestCheckpointWhenAnAgentWaits(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	d.git(d.home.Project, "init", "-q")
	s := d.begin("job")
	d.write(filepath.Join(d.home.Project, "work"), "done")
	d.prompt(s.ID, "hello")
	var list []hitchpost.Checkpoint
	eventually(t, func() bool {
		var err error
		list, err = d.Checkpoints(t.Context(), admin, s.ID)
		must(t, err)
		return len(list) > 0 && list[len(list)-1].Files == 1
	}, func() string { return fmt.Sprintf("%+v", list) })
	last := list[len(list)-1]
	if last.Message != "its agent waits" || d.git(d.home.Project, "show", last.Commit+":work") != "done" {
		t.Errorf("%+v", last)
	}
}

// Old checkpoints go by themselves, also those of a session that has left the list.
func TestOldCheckpointsGo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := r.repo("app")
	s, err := r.tryIn(filepath.Join(dir, "src"), "job", "cat")
	must(t, err)
	tree, err := git.Open(t.Context(), dir)
	must(t, err)
	for i, age := range []time.Duration{31 * 24 * time.Hour, time.Hour} {
		r.write(filepath.Join(dir, "src", "code"), fmt.Sprint(i))
		_, err = tree.Checkpoint(t.Context(), git.Wish{Session: s.ID, Now: time.Now().Add(-age)})
		must(t, err)
	}
	_, err = r.Stop(t.Context(), admin, s.ID, hitchpost.StopRequest{})
	must(t, err)
	_, err = r.CloseSession(t.Context(), admin, s.ID)
	must(t, err)
	r.down()
	r.up()
	eventually(t, func() bool {
		list, err := r.Checkpoints(t.Context(), admin, s.ID)
		must(t, err)
		return len(list) == 1 && list[0].N == 2
	}, func() string { return "the old one stays" })
}
