package runtime_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// repository is one with a commit, below the rig's directory.
func (r *rig) repository(name string) string {
	r.t.Helper()
	dir := filepath.Join(r.dir, name)
	must(r.t, os.MkdirAll(dir, 0o755))
	r.git(dir, "init", "-q", "-b", "main")
	r.write(filepath.Join(dir, "file"), "one\n")
	r.git(dir, "add", ".")
	cmd := exec.Command("git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "-q", "-m", "first")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_COMMITTER_DATE=@1700000000 +0000") // before any session
	must(r.t, cmd.Run())
	return dir
}

func (r *rig) git(dir string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Ann", "-c", "user.email=ann@example.org"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *rig) write(path, text string) {
	r.t.Helper()
	must(r.t, os.WriteFile(path, []byte(text), 0o600))
}

func (r *rig) startIn(dir, title string, args ...string) hitchpost.Session {
	r.t.Helper()
	res, err := r.Start(context.Background(), admin, hitchpost.StartRequest{Title: title, Cwd: dir, Args: args})
	must(r.t, err)
	return res.Session
}

func (r *rig) card(ref string) hitchpost.Card {
	r.t.Helper()
	c, err := r.Card(context.Background(), admin, ref, nil)
	must(r.t, err)
	if !c.Whole {
		r.t.Errorf("the card is not whole")
	}
	return c
}

// advised waits until the card advises by the row.
func (r *rig) advised(ref, row string) hitchpost.Card {
	r.t.Helper()
	var c hitchpost.Card
	eventually(r.t, func() bool { c = r.card(ref); return c.Advice.Row == row }, func() string {
		return "want " + row + ", got " + c.Advice.Row + ": " + c.Advice.Why
	})
	return c
}

func TestCardOfALiveSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := r.repository("api")
	s := r.startIn(dir, "api", "sh", "-c", "echo ready; sleep 1000 & wait")
	r.git(dir, "commit", "-q", "--allow-empty", "-m", "since \x1b[2J")
	r.write(filepath.Join(dir, "new\n\x1b[31m"), "x")
	eventually(t, func() bool { return slices.Contains(r.card("api").Evidence.Screen, "ready") },
		func() string { return "not on the screen" })

	c := r.advised("api", "alive")
	p := c.Process
	if p.Alive != hitchpost.IsAlive || p.Node.State != hitchpost.Online || !p.Unknown.Known() || len(p.Tree) != 2 ||
		p.Tree[0].Program != "sh" || p.Tree[0].Depth != 0 || p.Tree[1].Program != "sleep" || p.Tree[1].Depth != 1 || p.RSS == 0 ||
		!strings.HasPrefix(p.How, "tmux runs it as process ") {
		t.Errorf("process: %+v", p)
	}
	if len(p.Left)+len(p.Others) != 0 || !p.LeftWhy.Known() || !p.OthersWhy.Known() {
		t.Errorf("neighbours: %+v", p)
	}
	g := c.Repo
	if !g.Unknown.Known() || g.Branch != "main" || g.Untracked.Count != 1 || g.Untracked.First[0] != "new\n\x1b[31m" ||
		g.Since.Count != 1 || !g.NoRemote || g.Tree == "" || g.Checkpoint != nil || !g.CheckpointWhy.Known() {
		t.Errorf("repository: %+v", g)
	}
	e := c.Evidence
	if !e.ScreenWhy.Known() || !e.ScreenAt.IsZero() || !e.EventsWhy.Known() || len(e.Events) == 0 || e.Events[0].Kind != "created" ||
		!e.TasksWhy.Known() || len(e.Tasks) != 0 {
		t.Errorf("evidence: %+v", e)
	}
	if c.Advice.Restart.Unknown.Why != hitchpost.NotAsked || !c.Database.OK || c.Session.ID != s.ID {
		t.Errorf("%+v", c)
	}
}

// A card comes at once with what memory has, then part by part.
func TestCardComesInParts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.startIn(r.repository("api"), "api", "cat")
	var cards []hitchpost.Card
	last, err := r.Card(context.Background(), admin, "api", func(c hitchpost.Card) { cards = append(cards, c) })
	must(t, err)
	first := cards[0]
	if first.Whole || first.Repo.Unknown.Why != hitchpost.NotYet || first.Session.Title != "api" ||
		first.Advice.Do != hitchpost.StepWait {
		t.Errorf("the first: %+v", first)
	}
	if len(cards) < 5 || !cards[len(cards)-1].Whole || !last.Whole {
		t.Errorf("%d cards", len(cards))
	}
	for i, c := range cards[1:] {
		if cards[i].Repo.Unknown.Known() && !c.Repo.Unknown.Known() {
			t.Errorf("card %d knows less than the one before", i+1)
		}
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Card(gone, admin, "api", nil); err == nil {
		t.Error("a card for somebody who has gone")
	}
	_, err = r.Card(context.Background(), admin, "nothing", nil)
	kind(t, err, hitchpost.NotFoundError)
	_, err = r.Card(context.Background(), hitchpost.Actor{}, "api", nil)
	kind(t, err, hitchpost.DeniedError)
}

// After a crash: what it last said, what a restart would run, and that the work comes first.
func TestCardOfALostSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := r.repository("api")
	s := r.startIn(dir, "api", "sh", "-c", "echo the last words; cat")
	eventually(t, func() bool {
		text, err := r.captured(admin, s.ID, hitchpost.CaptureRequest{})
		return err == nil && strings.Contains(string(text), "last words")
	}, func() string { return "nothing printed" })
	evidence := filepath.Join(r.dir, "sessions", s.ID, "screen.gz")
	eventually(t, func() bool { _, err := os.Stat(evidence); return err == nil }, func() string { return "no evidence" })
	r.killTmux()
	r.becomes(s.ID, hitchpost.Recoverable)

	c := r.advised("api", "gone")
	if c.Process.Alive != hitchpost.IsGone || !slices.Contains(c.Evidence.Screen, "the last words") || c.Evidence.ScreenAt.IsZero() {
		t.Errorf("%+v, %+v", c.Process, c.Evidence)
	}
	plan := c.Advice.Restart
	if !plan.Unknown.Known() || plan.Refused != "" || !slices.Equal(plan.Argv, s.Args) || plan.Dir != dir ||
		!filepath.IsAbs(plan.Path) {
		t.Errorf("%+v", plan)
	}
	r.write(filepath.Join(dir, "file"), "two\n")
	if c = r.card("api"); c.Advice.Do != hitchpost.StepCheckpoint || c.Repo.FromHead.Files != 1 {
		t.Errorf("%+v", c.Advice)
	}
	r.git(dir, "checkout", "-q", "-b", "side")
	r.git(dir, "commit", "-q", "-a", "-m", "side")
	r.git(dir, "checkout", "-q", "main")
	r.write(filepath.Join(dir, "file"), "three\n")
	r.git(dir, "commit", "-q", "-a", "-m", "main")
	_ = exec.Command("git", "-C", dir, "merge", "-q", "side").Run() // fails by its conflict
	if c = r.card("api"); c.Advice.Row != "conflicts" || c.Repo.Operation != "merge" || c.Repo.Conflicted.Count != 1 {
		t.Errorf("%+v, %+v", c.Advice, c.Repo)
	}
	must(t, os.RemoveAll(dir))
	if c = r.card("api"); c.Advice.Row != "directory gone" || !strings.Contains(c.Advice.Restart.Refused, "no directory") {
		t.Errorf("%+v", c.Advice)
	}
}

// A card only looks: nothing on disk or in the store is another one afterwards.
func TestCardChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := r.repository("api")
	s := r.startIn(dir, "api", "sh", "-c", "exit 3")
	was := r.becomes(s.ID, hitchpost.Failed)
	r.write(filepath.Join(dir, "file"), "two\n")
	listing := func() string {
		// What goes while it is listed makes find fail, and the listing another.
		out, _ := exec.Command("find", dir, filepath.Join(r.dir, "sessions"), "-type", "f", "-exec", "cksum", "{}", "+").Output()
		lines := strings.Split(string(out), "\n")
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	var before string
	eventually(t, func() bool { // what was kept of its end is written in its own time
		now := listing()
		same := now == before && strings.Contains(now, "screen.gz")
		before = now
		return same
	}, func() string { return before })
	r.card("api")
	if after := listing(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if now := r.becomes(s.ID, hitchpost.Failed); now.Revision != was.Revision {
		t.Errorf("revision %d, was %d", now.Revision, was.Revision)
	}
}

// agentProgram is a program that is called like an agent and sleeps.
func (r *rig) agentProgram() string {
	r.t.Helper()
	sleep, err := exec.LookPath("sleep")
	must(r.t, err)
	text, err := os.ReadFile(sleep)
	must(r.t, err)
	program := filepath.Join(r.t.TempDir(), "claude")
	must(r.t, os.WriteFile(program, text, 0o700))
	return program
}

// agentIn runs a program that is called like an agent, outside of any session.
func (r *rig) agentIn(dir string, env ...string) int {
	r.t.Helper()
	// No child of ours: what the service itself starts, as to ask for a version, is no agent at work.
	cmd := exec.Command("sh", "-c", `"$0" 1000 >/dev/null 2>&1 & echo $!`, r.agentProgram())
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.Output()
	must(r.t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	must(r.t, err)
	r.t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

// Another agent in the same tree is named, one in a worktree of the repository is not.
func TestCardNamesAnotherAgentInTheTree(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := r.repository("api")
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	r.git(dir, "worktree", "add", "-q", filepath.Join(dir, "tree"))
	s := r.startIn(filepath.Join(dir, "sub"), "api", r.agentProgram(), "no time")
	shell := r.startIn(dir, "shell", "sh", "-c", "exit 1")
	r.becomes(s.ID, hitchpost.Failed)
	r.becomes(shell.ID, hitchpost.Failed)
	other := r.startIn(filepath.Join(dir, "tree"), "other", "cat")
	r.agentIn(filepath.Join(dir, "tree"))
	if c := r.card("api"); len(c.Process.Others) != 0 || !c.Process.OthersWhy.Known() {
		t.Errorf("%+v", c.Process)
	}
	pid := r.agentIn(dir, "HITCHPOST_SESSION="+other.ID)
	c := r.advised("api", "another agent")
	o := c.Process.Others
	if len(o) != 1 || o[0].Pid != pid || o[0].Agent != "claude" || o[0].Session != "other" || c.Advice.Command[1] != "other" {
		t.Errorf("%+v, %+v", o, c.Advice)
	}
	if c = r.card("shell"); len(c.Process.Others) != 1 || c.Advice.Do == hitchpost.StepHold {
		t.Errorf("of what is no agent: %+v, %+v", c.Process.Others, c.Advice)
	}
}

func TestCardNamesASurvivor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s, pid := r.daemon("lost")
	r.killTmux()
	r.becomes(s.ID, hitchpost.Recoverable)
	c := r.advised("lost", "left behind")
	if len(c.Process.Left) != 1 || c.Process.Left[0].Pid != pid {
		t.Errorf("%+v", c.Process)
	}
}

// Whatever a directory is like, the card says so on its part and knows the rest.
func TestCardOfBadDirectories(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, c := range map[string]struct {
		spoil func(dir string)
		why   string // of the repository's part; empty: it is known
	}{
		"plain":   {func(dir string) { must(t, os.RemoveAll(filepath.Join(dir, ".git"))) }, hitchpost.NoRepository},
		"deleted": {func(dir string) { must(t, os.RemoveAll(dir)) }, hitchpost.NoDirectory},
		"bare": {func(dir string) {
			must(t, os.RemoveAll(dir))
			must(t, os.Mkdir(dir, 0o755))
			r.git(dir, "init", "-q", "--bare")
		}, "bare repository"},
		"broken": {func(dir string) { r.write(filepath.Join(dir, ".git", "config"), "[core\n") }, "broken repository"},
		"hanging": {func(dir string) {
			hook := filepath.Join(dir, ".git", "hang")
			must(t, os.WriteFile(hook, []byte("#!/bin/sh\nsleep 1000\n"), 0o700))
			for _, at := range []string{"core.fsmonitor", "diff.external", "core.pager"} {
				r.git(dir, "config", at, hook)
			}
			must(t, os.Rename(hook, filepath.Join(dir, ".git", "hooks", "post-index-change")))
		}, ""},
		"huge": {func(dir string) {
			r.write(filepath.Join(dir, "file"), strings.Repeat("line\n", 1_000_000))
			r.write(filepath.Join(dir, "binary"), strings.Repeat("\x00\xff", 1_000_000))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := r.startIn(r.repository(name), name, "sh", "-c", "echo hello; cat")
			eventually(t, func() bool { return slices.Contains(r.card(name).Evidence.Screen, "hello") },
				func() string { return "nothing on the screen" })
			c.spoil(s.Cwd)
			begun := time.Now()
			card := r.card(name)
			took := time.Since(begun)
			if card.Repo.Unknown.Why != c.why || took > 4*time.Second {
				t.Errorf("%+v, after %v", card.Repo.Unknown, took)
			}
			p, e := card.Process, card.Evidence
			if p.Alive != hitchpost.IsAlive || len(p.Tree) == 0 || !e.ScreenWhy.Known() || !e.EventsWhy.Known() ||
				card.Advice.Row != "alive" {
				t.Errorf("%+v", card)
			}
		})
	}
}

// Of an agent the card has the conversation's last words and the exact command that would go on with it; no file is
// written for it.
func TestCardOfAnAgent(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	s := d.begin("job", "--model", "opus")
	if c := d.advised("job", "waiting"); c.Advice.Command[0] != "attach" || !strings.Contains(c.Advice.Why, s.StateReason) {
		t.Errorf("%+v", c.Advice)
	}
	d.prompt(s.ID, "hello")
	d.is(s.ID, "what was said", func(s hitchpost.Session) bool { return s.Agent.LastPrompt == "hello" })
	d.lose(s.ID)
	files := func() string {
		out, err := exec.Command("find", filepath.Join(d.dir, "sessions"), d.home.Config, "-type", "f", "-newer",
			filepath.Join(d.dir, "mark")).CombinedOutput()
		must(t, err)
		return string(out)
	}
	var c hitchpost.Card
	eventually(t, func() bool { // evidence and transcripts are kept in their own time
		d.write(filepath.Join(d.dir, "mark"), "x")
		c = d.card("job")
		return c.Advice.Row == "gone" && files() == ""
	}, func() string { return c.Advice.Row + ": " + c.Advice.Why + "\n" + files() })
	plan, agent := c.Advice.Restart, c.Session.Agent
	if !slices.Contains(plan.Argv, "--resume") || !slices.Contains(plan.Argv, s.ConversationID) ||
		!slices.Contains(plan.Argv, "opus") || plan.Path != filepath.Join(d.path, "claude") || agent.LastPrompt != "hello" || agent.TokensOut == 0 {
		t.Errorf("%+v, %+v", plan, agent)
	}
	must(t, os.RemoveAll(filepath.Join(d.home.Config, "projects")))
	c = d.advised("job", "refused")
	if !strings.Contains(c.Advice.Why, "--fresh") || c.Advice.Restart.Argv != nil {
		t.Errorf("%+v", c.Advice)
	}
}
