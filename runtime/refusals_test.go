package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hitchpost/hitchpost"
)

// stopTmux stops the process of the tmux server: it lives and does not answer.
func (r *rig) stopTmux() (resume func()) {
	r.t.Helper()
	pid, err := r.tmux.Pid(context.Background())
	must(r.t, err)
	must(r.t, syscall.Kill(pid, syscall.SIGSTOP))
	resume = func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
	r.t.Cleanup(resume)
	return resume
}

// TestHungTmuxChangesNothing asks for a new session and a restart of a tmux that does not answer: both are refused, and
// the end of the earlier process is still known.
func TestHungTmuxChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	s := r.start("job", "sh", "-c", "read x; exit 5")
	_, err := r.Stop(ctx, admin, s.ID, hitchpost.StopRequest{})
	must(t, err)
	before, err := r.Show(ctx, admin, s.ID)
	must(t, err)
	resume := r.stopTmux()
	_, err = r.Restart(ctx, admin, s.ID, hitchpost.RestartRequest{})
	kind(t, err, hitchpost.UnavailableError)
	_, err = r.Start(ctx, admin, hitchpost.StartRequest{Title: "other", Args: []string{"cat"}})
	kind(t, err, hitchpost.UnavailableError)
	resume()
	after, err := r.Show(ctx, admin, s.ID)
	must(t, err)
	if after.State != before.State || after.Restarts != before.Restarts || after.ExitSignal != before.ExitSignal {
		t.Errorf("now %+v, was %+v", after, before)
	}
	sessions, err := r.List(ctx, admin, hitchpost.ListRequest{All: true})
	must(t, err)
	if len(sessions) != 1 {
		t.Errorf("left on the list: %+v", sessions)
	}
}

// TestStartWithoutSpaceLeavesNothing takes away the place for a session's files.
func TestStartWithoutSpaceLeavesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	must(t, os.RemoveAll(filepath.Join(r.dir, "sessions")))
	must(t, os.WriteFile(filepath.Join(r.dir, "sessions"), nil, 0o600)) // a file where the folder should be
	_, err := r.Start(ctx, admin, hitchpost.StartRequest{Title: "job", Args: []string{"cat"}})
	kind(t, err, hitchpost.FailedError)
	if err == nil || !strings.Contains(err.Error(), "free space") {
		t.Errorf("error %v says not what to do", err)
	}
	sessions, err := r.List(ctx, admin, hitchpost.ListRequest{})
	must(t, err)
	if len(sessions) != 0 {
		t.Errorf("left on the list: %+v", sessions)
	}
}

func TestKeysOfActors(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	add := func(n int, name string, role hitchpost.Role) error {
		fingerprint := "SHA256:" + strings.Repeat(strconv.Itoa(n), 43)
		_, err := r.AddKey(ctx, admin, hitchpost.Key{
			Fingerprint: fingerprint, AuthorizedKey: "ssh-ed25519 AAAA" + strconv.Itoa(n), Type: "ssh-ed25519", Actor: name, Role: role,
		})
		return err
	}
	for _, name := range []string{"a b", "a\x1b[31m", "a\n", "\u202eevil", strings.Repeat("x", 65), "a\xff"} {
		kind(t, add(1, name, hitchpost.Operator), hitchpost.UsageError)
	}
	must(t, add(1, "ada", hitchpost.Admin))
	must(t, add(2, "jürgen.o-2@host", hitchpost.Operator))
	_, err := r.RevokeKey(ctx, admin, "SHA256:"+strings.Repeat("1", 43))
	kind(t, err, hitchpost.ConflictError)
	must(t, add(3, "eva", hitchpost.Admin))
	_, err = r.RevokeKey(ctx, admin, "SHA256:"+strings.Repeat("1", 43))
	must(t, err)
}

func TestEnvironmentSurvivesARestart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	out := filepath.Join(r.dir, "out")
	_, err := r.Start(ctx, admin, hitchpost.StartRequest{Args: []string{"cat"}, Env: []string{"1BAD=x"}})
	kind(t, err, hitchpost.UsageError)
	res, err := r.Start(ctx, admin, hitchpost.StartRequest{
		Title: "job", Args: []string{"sh", "-c", `echo "<$GREETING>" >> ` + out + `; read x`}, Env: []string{"GREETING=a 'b' $c"},
	})
	must(t, err)
	wrote := func(want string) {
		t.Helper()
		var raw []byte
		eventually(t, func() bool { raw, _ = os.ReadFile(out); return string(raw) == want }, func() string { return string(raw) })
	}
	wrote("<a 'b' $c>\n")
	_, err = r.Stop(ctx, admin, res.Session.ID, hitchpost.StopRequest{})
	must(t, err)
	_, err = r.Restart(ctx, admin, res.Session.ID, hitchpost.RestartRequest{})
	must(t, err)
	wrote("<a 'b' $c>\n<a 'b' $c>\n")
}

func TestStartIfAbsent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ids := make(chan string, 10)
	var wg sync.WaitGroup
	for range cap(ids) {
		wg.Go(func() {
			res, err := r.Start(context.Background(), admin, hitchpost.StartRequest{Title: "only one", Args: []string{"cat"}, IfAbsent: true})
			if err != nil {
				t.Error(err)
			}
			ids <- res.Session.ID
		})
	}
	wg.Wait()
	close(ids)
	first := <-ids
	for id := range ids {
		if id != first {
			t.Errorf("session %s beside %s", id, first)
		}
	}
}
