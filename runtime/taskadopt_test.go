package runtime_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store/storetest"
)

// copies makes n more ended tasks on disk of the one with an id.
func (r *rig) copies(id string, n int) {
	r.t.Helper()
	tasks := filepath.Join(r.dir, "tasks")
	files, err := os.ReadDir(filepath.Join(tasks, id))
	must(r.t, err)
	for range n {
		other := uuid.Must(uuid.NewV7()).String()
		must(r.t, os.Mkdir(filepath.Join(tasks, other), 0o700))
		for _, f := range files {
			raw, err := os.ReadFile(filepath.Join(tasks, id, f.Name()))
			must(r.t, err)
			raw = bytes.ReplaceAll(raw, []byte(id), []byte(other))
			must(r.t, os.WriteFile(filepath.Join(tasks, other, f.Name()), raw, 0o600))
		}
	}
}

// A store that knows none of thousands of tasks on disk must not hold up the sessions, and the start of the service, until
// it knows all of them: they are taken in some at a time, and every one in the end.
func TestManyTasksAreAdoptedSomeAtATime(t *testing.T) {
	t.Parallel()
	const more = 120
	r := newRig(t)
	first := r.run(hitchpost.TaskRequest{Argv: []string{"true"}})
	r.ends(first.ID, hitchpost.TaskSucceeded)
	r.down()
	for range 150 { // what cannot be taken in, and is found first, does not keep the others out
		must(t, os.Mkdir(filepath.Join(r.dir, "tasks", uuid.Must(uuid.NewV7()).String()), 0o700))
	}
	r.copies(first.ID, more)
	r.url, r.node = storetest.URL(t), hitchpost.Node{}
	r.up()
	eventually(t, func() bool {
		all, err := r.store.Tasks(context.Background(), hitchpost.TaskListRequest{States: []hitchpost.TaskState{hitchpost.TaskSucceeded}})
		return err == nil && len(all) == 1+more
	}, func() string { return "not all tasks are adopted" })
	events, err := r.store.Events(context.Background(), hitchpost.EventRequest{})
	must(t, err)
	found := 0
	for _, e := range events {
		if e.Kind == string(hitchpost.ChangeTaskExitedWell) {
			break
		}
		if e.Kind == string(hitchpost.ChangeTaskFound) {
			found++
		}
	}
	if found == 0 || found > 100+1 { // one more where tmux still has the pane of the first: it is taken in for that
		t.Errorf("%d tasks were taken in by one pass", found)
	}
}
