package runtime_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// daemon starts a session whose program leaves a process of its own behind in its first run, in a session of its own, and
// returns both.
func (r *rig) daemon(title string) (hitchpost.Session, int) {
	r.t.Helper()
	file := filepath.Join(r.dir, title+".pid")
	s := r.start(title, "sh", "-c",
		// Only where it could write down that it is there: a run that comes up while the test goes would leave one more.
		`[ -e "$0" ] || setsid sh -c 'echo $$ > "$0.new" && mv "$0.new" "$0" && exec sleep 1000' "$0" & cat`, file)
	var pid int
	eventually(r.t, func() bool {
		text, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	}, func() string { return "no daemon" })
	r.t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return s, pid
}

// last is the newest event of a session.
func (r *rig) last(id, kind string) hitchpost.Event {
	r.t.Helper()
	events, err := r.store.Events(context.Background(), hitchpost.EventRequest{Session: id})
	must(r.t, err)
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Kind == kind {
			return events[i]
		}
	}
	r.t.Fatalf("no event %s", kind)
	return hitchpost.Event{}
}

// A process that left its terminal outlives tmux. It is named and stops the restart until it has ended.
func TestRestartIsRefusedBesideASurvivor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lost, pid := r.daemon("lost")
	_, other := r.daemon("other") // of another session
	r.killTmux()
	r.becomes(lost.ID, hitchpost.Recoverable)

	_, err := r.Restart(context.Background(), admin, lost.ID, hitchpost.RestartRequest{})
	kind(t, err, hitchpost.ConflictError)
	named := fmt.Sprintf("sleep (process %d, since %d-", pid, time.Now().UTC().Year())
	if !hitchpost.Forcible(err) || !strings.Contains(err.Error(), "lost left a process behind: "+named) {
		t.Errorf("error %v", err)
	}
	if now, err := r.Show(context.Background(), admin, lost.ID); err != nil || now.State != hitchpost.Recoverable || now.Restarts != 0 {
		t.Errorf("after the refusal: %+v, %v", now, err)
	}
	left, err := filepath.Glob(filepath.Join(r.dir, "sessions", lost.ID, "*run-1*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left of the refused run: %q, %v", left, err)
	}

	must(t, syscall.Kill(pid, syscall.SIGKILL))
	if _, err := r.Restart(context.Background(), admin, lost.ID, hitchpost.RestartRequest{}); err != nil {
		t.Fatal(err)
	}
	if e := r.last(lost.ID, "restart_asked"); e.Reason != "restart asked" {
		t.Errorf("reason %q", e.Reason)
	}
	if syscall.Kill(other, 0) != nil {
		t.Error("the other session's process has ended")
	}
}

func TestForcedRestartLeavesTheSurvivorAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lost, pid := r.daemon("lost")
	_, err := r.Stop(context.Background(), admin, lost.ID, hitchpost.StopRequest{Timeout: time.Second})
	must(t, err)
	_, err = r.Restart(context.Background(), admin, lost.ID, hitchpost.RestartRequest{})
	kind(t, err, hitchpost.ConflictError) // also after a stop
	res, err := r.Restart(context.Background(), admin, lost.ID, hitchpost.RestartRequest{Force: true})
	must(t, err)
	if res.Session.State != hitchpost.Detached || res.Session.Restarts != 1 || syscall.Kill(pid, 0) != nil {
		t.Errorf("session %+v, survivor %v", res.Session, syscall.Kill(pid, 0))
	}
	if e := r.last(lost.ID, "restart_asked"); !strings.HasPrefix(e.Reason, fmt.Sprintf("restart forced beside sleep (process %d", pid)) {
		t.Errorf("reason %q", e.Reason)
	}
}

// A shell that was left by its own end may leave jobs behind: that is what nohup is for.
func TestShellMayLeaveJobsBehind(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	res, err := r.Start(context.Background(), admin, hitchpost.StartRequest{Title: "shell"})
	must(t, err)
	file := filepath.Join(r.dir, "job.pid")
	_, err = r.Send(context.Background(), admin, res.Session.ID, hitchpost.SendRequest{
		Text: "nohup sleep 1000 >/dev/null 2>&1 & echo $! > " + file + "; exit\n",
	})
	must(t, err)
	r.becomes(res.Session.ID, hitchpost.Stopped)
	text, err := os.ReadFile(file)
	must(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(t, err)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	if _, err := r.Restart(context.Background(), admin, res.Session.ID, hitchpost.RestartRequest{}); err != nil {
		t.Error(err)
	}
	if syscall.Kill(pid, 0) != nil {
		t.Error("the job has ended")
	}
}

// What ends with its terminal is no survivor, though it takes a moment; and what a task of the session runs is its own.
func TestRestartWaitsForWhatIsAboutToEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.start("slow", "sh", "-c", `trap 'sleep 0.3; exit 0' HUP; echo up; while :; do sleep 0.05; done`)
	eventually(t, func() bool {
		text, err := r.captured(admin, s.ID, hitchpost.CaptureRequest{})
		return err == nil && strings.Contains(string(text), "up")
	}, func() string { return "the program does not come up" })
	ran, err := r.RunTask(context.Background(), admin, hitchpost.TaskRequest{Session: s.ID, Argv: []string{"sleep", "1000"}})
	must(t, err)
	t.Cleanup(func() { _, _ = r.CancelTask(context.Background(), admin, ran.ID) })
	must(t, r.tmux.Kill(context.Background(), s.ID))
	r.becomes(s.ID, hitchpost.Recoverable)
	if _, err := r.Restart(context.Background(), admin, s.ID, hitchpost.RestartRequest{}); err != nil {
		t.Fatal(err)
	}
	r.becomes(s.ID, hitchpost.Detached)
}
