package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/inside"
	"github.com/hitchpost/hitchpost/runtime/launch"
	"github.com/hitchpost/hitchpost/store"
)

// environOf is the environment that a program wrote into a file.
func environOf(t *testing.T, path string) func(string) string {
	t.Helper()
	var env map[string]string
	eventually(t, func() bool {
		text, err := os.ReadFile(path)
		if err != nil || !strings.HasSuffix(string(text), "the end\n") {
			return false
		}
		env = map[string]string{}
		for line := range strings.SplitSeq(string(text), "\n") {
			name, value, _ := strings.Cut(line, "=")
			env[name] = value
		}
		return true
	}, func() string { return "no environment in " + path })
	return func(name string) string { return env[name] }
}

// TestASessionWritesItsOwnNote calls the service with the environment that programs in sessions have, across its restart.
func TestASessionWritesItsOwnNote(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	told := filepath.Join(r.dir, "told")
	tell := func(file string) []string {
		return []string{"sh", "-c", `env > "$0.new"; echo the end >> "$0.new"; mv "$0.new" "$0"; exec cat`, file}
	}
	res, err := r.Start(ctx, admin, hitchpost.StartRequest{Title: "job", Args: tell(told), Note: "by ada"})
	must(t, err)
	id := res.Session.ID
	getenv := environOf(t, told)
	ask := func(n inside.Note) (string, error) { return inside.Call(ctx, getenv, getenv(launch.Mark), n) }
	got, err := ask(inside.Note{Change: true, Append: true, Text: "from inside"})
	must(t, err)
	if got != "by ada\nfrom inside" {
		t.Errorf("the note is %q", got)
	}
	sessions, _ := r.Snapshot()
	if len(sessions) != 1 || sessions[0].Note != got {
		t.Errorf("in memory: %+v", sessions)
	}
	_, err = inside.Call(ctx, getenv, "0198c5b0-7c7e-7d1e-9f7a-3b0c5d1e2f30", inside.Note{})
	kind(t, err, hitchpost.DeniedError)
	events, err := r.store.Events(ctx, hitchpost.EventRequest{Session: id})
	must(t, err)
	last := events[len(events)-1]
	if last.Kind != store.EventNoted || last.Actor != "session job" || last.Fingerprint != "" {
		t.Errorf("the event is %+v", last)
	}
	r.down()
	_, err = ask(inside.Note{})
	kind(t, err, hitchpost.UnavailableError)
	r.up()
	if got, err = ask(inside.Note{}); err != nil || got != "by ada\nfrom inside" {
		t.Errorf("after a restart of the service: %q, %v", got, err)
	}

	// A task of the session has the same way in, one of none has not.
	inTask := filepath.Join(r.dir, "task")
	_, err = r.RunTask(ctx, admin, hitchpost.TaskRequest{Session: id, Argv: tell(inTask)})
	must(t, err)
	ofTask := environOf(t, inTask)
	if got, err = inside.Call(ctx, ofTask, ofTask(launch.Mark), inside.Note{Change: true, Text: "by its task"}); err != nil {
		t.Error(got, err)
	}
	alone := filepath.Join(r.dir, "alone")
	_, err = r.RunTask(ctx, admin, hitchpost.TaskRequest{Argv: tell(alone)})
	must(t, err)
	if env := environOf(t, alone); env(inside.SocketVariable) != "" || env(inside.TokenVariable) != "" {
		t.Errorf("a task of no session has %q", env(inside.SocketVariable))
	}
	_, err = r.Stop(ctx, admin, "job", hitchpost.StopRequest{})
	must(t, err)
	_, err = r.CloseSession(ctx, admin, "job")
	must(t, err)
	_, err = ask(inside.Note{Change: true, Text: "late"})
	kind(t, err, hitchpost.ConflictError)
}
