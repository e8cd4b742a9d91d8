package runtime_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
	"github.com/hitchpost/hitchpost/store/storetest"
)

// printing is a live session in a repository that has printed something.
func (r *rig) printing(title string) hitchpost.Session {
	r.t.Helper()
	s := r.startIn(r.repository(title), title, "sh", "-c", "echo hello; cat")
	eventually(r.t, func() bool { return slices.Contains(r.card(title).Evidence.Screen, "hello") },
		func() string { return "nothing on the screen" })
	return s
}

// While the database hangs, what does not come from it is known in time, and to attach is still the advice.
func TestCardWhileTheDatabaseHangs(t *testing.T) {
	t.Parallel()
	cluster := storetest.NewCluster(t)
	schema, err := store.Open(context.Background(), cluster.URL(), slog.New(slog.NewTextHandler(logTo{t}, nil)))
	must(t, err)
	must(t, schema.Migrate(context.Background()))
	schema.Close()
	r := newRigOn(t, cluster.URL())
	r.printing("api")
	must(t, cluster.Suspend())
	t.Cleanup(func() { _ = cluster.Resume() })
	var c hitchpost.Card
	eventually(t, func() bool {
		begun := time.Now()
		c = r.card("api")
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("a card took %v", took)
		}
		return !c.Database.OK
	}, func() string { return "the database still counts as there" })
	if c.Process.Alive != hitchpost.IsAlive || c.Repo.Tree == "" || !c.Evidence.ScreenWhy.Known() ||
		c.Evidence.EventsWhy.Known() || c.Evidence.TasksWhy.Known() || c.Check.Unknown.Known() ||
		c.Advice.Do != hitchpost.StepAttach || !strings.Contains(c.Advice.Why, "the database is away") {
		t.Errorf("%+v", c)
	}
	must(t, cluster.Resume())
	eventually(t, func() bool { c = r.card("api"); return c.Database.OK && c.Evidence.EventsWhy.Known() },
		func() string { return "the database does not come back" })
}

// While tmux hangs nobody knows whether a process is alive, and no card says that it is gone.
func TestCardWhileTmuxHangs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.printing("api")
	resume := r.stopTmux()
	begun := time.Now()
	c := r.card("api")
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the card took %v", took)
	}
	if c.Process.Alive != hitchpost.NotCertain || !strings.HasPrefix(c.Process.How, "tmux does not answer") ||
		c.Advice.Do != hitchpost.StepWait || c.Repo.Tree == "" || len(c.Evidence.Events) == 0 {
		t.Errorf("%+v", c)
	}
	resume()
	r.advised("api", "alive")
}
