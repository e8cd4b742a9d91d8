package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
)

// checked runs the session's check and waits for its end.
func (r *rig) checked(ref string) hitchpost.Task {
	r.t.Helper()
	t, err := r.RunCheck(context.Background(), admin, ref)
	must(r.t, err)
	t, err = r.WaitTask(context.Background(), admin, t.ID)
	must(r.t, err)
	return t
}

func (r *rig) startChecked(dir, title, check string, args ...string) hitchpost.Session {
	r.t.Helper()
	res, err := r.Start(context.Background(), admin, hitchpost.StartRequest{Title: title, Cwd: dir, Check: check, Args: args})
	must(r.t, err)
	return res.Session
}

// A result counts for the files that it saw, whether they are committed or not, and for no others.
func TestCheckCountsForTheFilesItSaw(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := r.repository("api")
	file := filepath.Join(dir, "file")
	s := r.startChecked(dir, "api", `grep -q "good work" file`, "true")
	r.becomes(s.ID, hitchpost.Stopped)
	if c := r.card("api"); c.Advice.Row != "unchecked" || c.Check.Last != nil || c.Check.Stale != "" {
		t.Errorf("before the first: %+v, %+v", c.Advice, c.Check)
	}
	if got := r.checked("api"); got.Name != "check" || got.SessionID != s.ID || got.Cwd != dir || *got.ExitCode != 1 {
		t.Errorf("%+v", got)
	}
	c := r.card("api")
	last := c.Check.Last
	if last.Passed() || *last.Exit.Code != 1 || last.Dirty || last.Branch != "main" ||
		last.Commit != r.git(dir, "rev-parse", "HEAD") || c.Check.Stale != hitchpost.Fresh || c.Advice.Row != "gone" {
		t.Errorf("of what is not good: %+v, %+v, %+v", last, c.Check, c.Advice)
	}
	r.write(file, "good work\n")
	if c = r.card("api"); c.Check.Stale != hitchpost.Stale || c.Advice.Row != "unchecked" {
		t.Errorf("after an edit: %+v, %+v", c.Check, c.Advice)
	}
	r.checked("api")
	if c = r.card("api"); !c.Check.Last.Passed() || !c.Check.Last.Dirty || c.Check.Stale != hitchpost.Fresh ||
		c.Advice.Row != "dirty" {
		t.Errorf("of what is good: %+v, %+v", c.Check, c.Advice)
	}
	r.git(dir, "commit", "-q", "-a", "-m", "good")
	if c = r.card("api"); c.Check.Stale != hitchpost.Fresh || !strings.Contains(c.Check.Why, "at commit") || c.Advice.Row != "done" {
		t.Errorf("after a commit of it: %+v, %+v", c.Check, c.Advice)
	}
	_, err := r.SetCheck(context.Background(), admin, "api", "true")
	must(t, err)
	if c = r.card("api"); c.Check.Stale != hitchpost.Stale || c.Check.Why != "the check is another one now" {
		t.Errorf("with another command: %+v", c.Check)
	}
}

// The result is kept also where whoever asked for it has left, and only one check runs at a time.
func TestCheckRunsOnWithoutItsAsker(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	gate := filepath.Join(r.dir, "gate")
	s := r.startChecked(r.repository("api"), "api", `sh -c 'until [ -e "$0" ]; do sleep 0.05; done; exit 7' `+gate, "true")
	r.becomes(s.ID, hitchpost.Stopped)
	ctx, leave := context.WithCancel(context.Background())
	task, err := r.RunCheck(ctx, admin, "api")
	must(t, err)
	leave()
	if c := r.card("api"); c.Advice.Row != "check runs" || c.Check.Last.TaskID != task.ID {
		t.Errorf("%+v, %+v", c.Advice, c.Check)
	}
	_, err = r.RunCheck(context.Background(), admin, "api")
	kind(t, err, hitchpost.ConflictError)
	must(t, os.WriteFile(gate, nil, 0o600))
	eventually(t, func() bool {
		c := r.card("api").Check
		return c.Last.State == hitchpost.TaskFailed && *c.Last.Exit.Code == 7
	},
		func() string { return "no result" })
	c := r.card("api")
	if len(c.Evidence.Tasks) != 1 || c.Evidence.Tasks[0].Task.ID != task.ID {
		t.Errorf("%+v", c.Evidence.Tasks)
	}
}

func TestCheckOutsideOfARepository(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.startChecked(r.dir, "api", `sh -c 'echo some output; echo; exit 0'`, "true")
	r.becomes(s.ID, hitchpost.Stopped)
	r.checked("api")
	c := r.card("api")
	if !c.Check.Last.Passed() || c.Check.Last.Saw != hitchpost.NoRepository || c.Check.Stale != hitchpost.StaleUnknown ||
		c.Advice.Row != "done" || len(c.Evidence.Tasks) != 1 || c.Evidence.Tasks[0].Log[0] != "some output" {
		t.Errorf("%+v, %+v, %+v", c.Check.Last, c.Check, c.Advice)
	}
}

func TestCheckIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	r.start("none", "cat")
	_, err := r.RunCheck(ctx, admin, "none")
	kind(t, err, hitchpost.ConflictError)
	_, err = r.RunCheck(ctx, admin, "nobody")
	kind(t, err, hitchpost.NotFoundError)
	viewer := hitchpost.Actor{Name: "eve", Role: hitchpost.Viewer}
	_, err = r.RunCheck(ctx, viewer, "none")
	kind(t, err, hitchpost.DeniedError)
	_, err = r.SetCheck(ctx, viewer, "none", "true")
	kind(t, err, hitchpost.DeniedError)
	for _, bad := range []string{"'", "  "} {
		_, err = r.Start(ctx, admin, hitchpost.StartRequest{Title: "bad", Check: bad})
		kind(t, err, hitchpost.UsageError)
		_, err = r.SetCheck(ctx, admin, "none", bad)
		kind(t, err, hitchpost.UsageError)
	}
	_, err = r.SetCheck(ctx, admin, "none", "no-such-program; rm -rf x")
	must(t, err)
	_, err = r.RunCheck(ctx, admin, "none")
	kind(t, err, hitchpost.UsageError)
	if c := r.card("none"); c.Check.Last != nil {
		t.Errorf("a check that never began: %+v", c.Check.Last)
	}
}
