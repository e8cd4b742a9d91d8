package runtime_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store/storetest"
)

func TestStartRunsTheProgramInItsDirectory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := filepath.Join(r.dir, "odd #(touch pwned) #{pid} 'dir")
	must(t, os.Mkdir(dir, 0o700))
	res, err := r.Start(context.Background(), admin, hitchpost.StartRequest{
		Title: "x#(touch pwned)", Cwd: dir, Args: []string{"sh", "-c", `echo "in $PWD as $0 with $1"; env; sleep 1000`, "a b", "c;d"},
	})
	must(t, err)
	var text []byte
	eventually(t, func() bool {
		text, err = r.captured(admin, res.Session.ID, hitchpost.CaptureRequest{History: true})
		return err == nil && strings.Contains(string(text), "HITCHPOST_SESSION="+res.Session.ID)
	}, func() string { return string(text) })
	if want := "in " + dir + " as a b with c;d"; !strings.Contains(strings.ReplaceAll(string(text), "\n", ""), want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	for _, leak := range []string{"TMUX=", "TMUX_PANE=", "GOCOVERDIR", "PGHOST"} {
		if strings.Contains(string(text), leak) {
			t.Errorf("%s leaks into the session:\n%s", leak, text)
		}
	}
	for _, place := range []string{dir, r.dir, "/"} {
		if _, err := os.Stat(filepath.Join(place, "pwned")); err == nil {
			t.Errorf("a name was run as a command, in %s", place)
		}
	}
}

func TestStartRefusesBeforeAnythingIsMade(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	plain := filepath.Join(r.dir, "plain")
	must(t, os.WriteFile(plain, []byte("text"), 0o600))
	for name, req := range map[string]hitchpost.StartRequest{
		"no directory":        {Cwd: filepath.Join(r.dir, "none"), Args: []string{"true"}},
		"file as directory":   {Cwd: plain, Args: []string{"true"}},
		"no program":          {Args: []string{"no-such-program-here"}},
		"not executable":      {Args: []string{plain}},
		"control in title":    {Title: "a\x1b[2Jb", Args: []string{"true"}},
		"newline in title":    {Title: "a\nb", Args: []string{"true"}},
		"shell with words":    {Kind: hitchpost.Shell, Args: []string{"true"}},
		"command without any": {Kind: hitchpost.Command},
		"unknown kind":        {Kind: "window", Args: []string{"true"}},
		"open quote":          {RestartCommand: "echo 'x", Args: []string{"true"}},
	} {
		_, err := r.Start(context.Background(), admin, req)
		if k := hitchpost.KindOf(err); k != hitchpost.UsageError {
			t.Errorf("%s: %v of kind %q", name, err, k)
		}
	}
	sessions, err := r.List(context.Background(), admin, hitchpost.ListRequest{All: true})
	must(t, err)
	if len(sessions) != 0 {
		t.Errorf("left over: %+v", sessions)
	}
	panes, err := r.tmux.Panes(context.Background())
	must(t, err)
	if len(panes) != 0 {
		t.Errorf("left over in tmux: %+v", panes)
	}
}

func TestStartReportsAnEarlyEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	res, err := r.Start(context.Background(), admin, hitchpost.StartRequest{
		Args: []string{"sh", "-c", "echo no config; exit 7"}, Watch: waitLimit,
	})
	must(t, err)
	if res.Early == nil || res.Early.Code == nil || *res.Early.Code != 7 {
		t.Fatalf("early end %+v, want code 7", res.Early)
	}
	if len(res.FirstLines) == 0 || res.FirstLines[0] != "no config" {
		t.Errorf("first lines %q", res.FirstLines)
	}
	if res.Session.State != hitchpost.Failed {
		t.Errorf("state %s", res.Session.State)
	}
	eventually(t, func() bool {
		panes, err := r.tmux.Panes(context.Background())
		return err == nil && len(panes) == 0
	}, func() string { return "the dead pane stays" })
	text, err := r.captured(admin, res.Session.ID, hitchpost.CaptureRequest{})
	must(t, err)
	if !strings.Contains(string(text), "no config") {
		t.Errorf("kept screen %q", text)
	}
}

func TestParallelStarts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const n = 30
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			asked := hitchpost.StartRequest{Title: "same", Args: []string{"cat"}}
			_, err := r.Start(context.Background(), admin, asked)
			for hitchpost.KindOf(err) == hitchpost.UnavailableError { // a loaded machine
				_, err = r.Start(context.Background(), admin, asked)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	live := func() (live int) {
		sessions, err := r.List(context.Background(), admin, hitchpost.ListRequest{})
		must(t, err)
		handles := map[string]bool{}
		for _, s := range sessions {
			handles[s.Handle] = true
			if s.State.Live() {
				live++
			}
		}
		if len(handles) != len(sessions) {
			t.Errorf("%d sessions, %d handles", len(sessions), len(handles))
		}
		return live
	}
	eventually(t, func() bool { return live() == n }, func() string { return fmt.Sprint(live(), " live") })
	panes, err := r.tmux.Panes(context.Background())
	must(t, err)
	if len(panes) != n {
		t.Errorf("%d panes, want %d", len(panes), n)
	}
}

func TestTwoRestartsGiveOneProcess(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	starts := filepath.Join(r.dir, "starts")
	s := r.start("job", "sh", "-c", "echo start >> "+starts+"; read x")
	started := func(n int) {
		t.Helper()
		eventually(t, func() bool {
			raw, _ := os.ReadFile(starts)
			return strings.Count(string(raw), "start") >= n
		}, func() string { return "the process does not come up" })
	}
	started(1)
	_, err := r.Stop(context.Background(), admin, s.ID, hitchpost.StopRequest{})
	must(t, err)
	const n = 8
	var wg sync.WaitGroup
	errs := make(chan error, n)
	for range n {
		wg.Go(func() {
			_, err := r.Restart(context.Background(), admin, s.ID, hitchpost.RestartRequest{})
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	done := 0
	for err := range errs {
		if err == nil {
			done++
			continue
		}
		kind(t, err, hitchpost.ConflictError)
	}
	if done != 1 {
		t.Errorf("%d restarts succeeded, want 1", done)
	}
	started(2)
	raw, err := os.ReadFile(starts)
	must(t, err)
	if got := strings.Count(string(raw), "start"); got != 2 {
		t.Errorf("%d starts, want 2", got)
	}
	if now := r.becomes(s.ID, hitchpost.Detached); now.Restarts != 1 || now.Handle != s.Handle {
		t.Errorf("after the restart: %+v", now)
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	shell, err := r.Start(context.Background(), admin, hitchpost.StartRequest{Kind: hitchpost.Shell})
	must(t, err)
	deaf := r.start("deaf", "sh", "-c", `trap "" TERM HUP INT; echo deaf; while :; do sleep 0.1; done`)
	polite := r.start("polite", "sh", "-c", `trap "echo bye; exit 4" TERM; echo polite; while :; do sleep 0.1; done`)
	for _, s := range []hitchpost.Session{deaf, polite} {
		eventually(t, func() bool {
			text, err := r.captured(admin, s.ID, hitchpost.CaptureRequest{})
			return err == nil && strings.Contains(string(text), s.Title)
		}, func() string { return s.Title + " does not come up" })
	}
	got, err := r.Stop(context.Background(), admin, shell.Session.ID, hitchpost.StopRequest{})
	must(t, err)
	if got.State != hitchpost.Stopped || got.ExitSignal == "KILL" {
		t.Errorf("shell: %s, signal %q", got.State, got.ExitSignal)
	}
	got, err = r.Stop(context.Background(), admin, polite.ID, hitchpost.StopRequest{})
	must(t, err)
	if got.State != hitchpost.Stopped || got.ExitCode == nil || *got.ExitCode != 4 {
		t.Errorf("polite: %s, code %v", got.State, got.ExitCode)
	}
	got, err = r.Stop(context.Background(), admin, deaf.ID, hitchpost.StopRequest{Timeout: 200 * time.Millisecond})
	must(t, err)
	if got.State != hitchpost.Stopped || got.ExitSignal != "KILL" {
		t.Errorf("deaf: %s, signal %q", got.State, got.ExitSignal)
	}
	_, err = r.Stop(context.Background(), admin, deaf.ID, hitchpost.StopRequest{})
	kind(t, err, hitchpost.ConflictError)
	_, err = r.Stop(context.Background(), admin, polite.ID, hitchpost.StopRequest{Signal: "NOPE"})
	kind(t, err, hitchpost.UsageError)
}

func TestLostSessionsAreRecoverable(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	command := r.start("command", "sh", "-c", "read x; exit 5")
	shell, err := r.Start(context.Background(), admin, hitchpost.StartRequest{Kind: hitchpost.Shell})
	must(t, err)
	r.killTmux()
	for _, id := range []string{command.ID, shell.Session.ID} {
		lost := r.becomes(id, hitchpost.Recoverable)
		if lost.StateSource != hitchpost.FromTmux || lost.StateReason == "" {
			t.Errorf("source %q, reason %q", lost.StateSource, lost.StateReason)
		}
	}
	if _, err := r.Restart(context.Background(), admin, command.ID, hitchpost.RestartRequest{}); err != nil {
		t.Fatal(err)
	}
	r.becomes(command.ID, hitchpost.Detached)
	got, err := r.CloseSession(context.Background(), admin, shell.Session.ID)
	must(t, err)
	if got.State != hitchpost.Stopped || got.Open() {
		t.Errorf("closed: %s, open %v", got.State, got.Open())
	}
}

func TestExitWhileTheServiceIsDown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	gate := filepath.Join(r.dir, "gate")
	s := r.start("job", "sh", "-c", "while [ ! -e "+gate+" ]; do sleep 0.05; done; echo last words; exit 9")
	r.down()
	must(t, os.WriteFile(gate, nil, 0o600))
	eventually(t, func() bool {
		left, err := filepath.Glob(filepath.Join(r.dir, "exits", s.ID+"-0.json"))
		return err == nil && len(left) == 1
	}, func() string { return "no exit record" })
	r.up()
	got := r.becomes(s.ID, hitchpost.Failed)
	if got.ExitCode == nil || *got.ExitCode != 9 {
		t.Errorf("exit code %v, want 9", got.ExitCode)
	}
	text, err := r.captured(admin, s.ID, hitchpost.CaptureRequest{History: true})
	must(t, err)
	if !strings.Contains(string(text), "last words") {
		t.Errorf("kept screen %q", text)
	}
}

func TestUnknownLiveSessionIsAdopted(t *testing.T) {
	t.Parallel()
	other := storetest.URL(t) // a database that never knew the session
	r := newRig(t)
	s := r.start("kept title", "cat")
	r.down()
	r.url = other
	r.node = hitchpost.Node{}
	r.up()
	got := r.becomes(s.ID, hitchpost.Detached)
	if got.Title != s.Title || got.Handle != s.Handle || got.Cwd != s.Cwd || len(got.Args) != 1 || got.Args[0] != "cat" {
		t.Errorf("adopted %+v, was %+v", got, s)
	}
}

func TestRolesAreEnforced(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.start("job", "cat")
	ctx := context.Background()
	viewer := hitchpost.Actor{Name: "vera", Role: hitchpost.Viewer, Fingerprint: "SHA256:vera"}
	operator := hitchpost.Actor{Name: "olga", Role: hitchpost.Operator, Fingerprint: "SHA256:olga"}
	denied := func(what string, err error) {
		t.Helper()
		if k := hitchpost.KindOf(err); k != hitchpost.DeniedError {
			t.Errorf("%s: %v of kind %q", what, err, k)
		}
	}
	_, err := r.Start(ctx, viewer, hitchpost.StartRequest{Args: []string{"cat"}})
	denied("start", err)
	_, err = r.Stop(ctx, viewer, s.ID, hitchpost.StopRequest{})
	denied("stop", err)
	_, err = r.Restart(ctx, viewer, s.ID, hitchpost.RestartRequest{})
	denied("restart", err)
	_, err = r.CloseSession(ctx, viewer, s.ID)
	denied("close", err)
	_, err = r.Rename(ctx, viewer, s.ID, "x")
	denied("rename", err)
	_, err = r.Complete(ctx, viewer, "/")
	denied("complete", err)
	_, err = r.Keys(ctx, operator)
	denied("keys", err)
	_, err = r.AddKey(ctx, operator, hitchpost.Key{})
	denied("add key", err)
	_, err = r.RevokeKey(ctx, operator, "SHA256:x")
	denied("revoke key", err)
	_, err = r.List(ctx, hitchpost.Actor{}, hitchpost.ListRequest{})
	denied("list without a role", err)

	v, err := r.Attach(ctx, viewer, hitchpost.AttachRequest{Ref: s.Handle, Terminal: hitchpost.Terminal{Size: hitchpost.Size{Cols: 40, Rows: 10}}})
	must(t, err)
	_, err = v.Write([]byte("typed by a viewer\n"))
	must(t, err)
	v.Close(hitchpost.EndDetached, "")
	text, err := r.captured(viewer, s.ID, hitchpost.CaptureRequest{})
	must(t, err)
	if strings.Contains(string(text), "typed") {
		t.Errorf("a viewer typed into the session:\n%s", text)
	}
}

// TestScreenOfALostSession is the evidence: what a session showed is kept while it shows it, told with its time once
// the process is lost, and offered above the screen of the process that a Restart makes.
