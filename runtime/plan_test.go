package runtime

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/launch"
	"github.com/hitchpost/hitchpost/runtime/tmux"
)

const planID = "0190f5fe-7c00-7000-8000-000000000001"

func TestPlan(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	leased, over := now.Add(time.Second), now.Add(-time.Second)
	seven := 7

	stored := func(state hitchpost.State, run int, lease time.Time) []hitchpost.Session {
		return []hitchpost.Session{{ID: planID, State: state, Restarts: run, LeaseUntil: lease, LastOutputAt: now}}
	}
	alive := func(run int) tmux.Pane {
		return tmux.Pane{Session: planID, PaneID: "%1", Pid: 42, Run: run, LastOutput: now}
	}
	dead := func(run int) tmux.Pane {
		p := alive(run)
		p.Dead = true
		return p
	}
	printed := alive(0)
	printed.LastOutput = now.Add(time.Second)
	deadKnown := dead(0)
	deadKnown.DeadSignal = "KILL"
	record := func(run int) map[runKey]launch.Record {
		return map[runKey]launch.Record{{planID, run}: {Session: planID, Run: run, Exit: hitchpost.Exit{Code: &seven, At: now}}}
	}
	hungUp := map[runKey]launch.Record{
		{planID, 0}: {Session: planID, Hangup: true, Exit: hitchpost.Exit{Signal: "HUP", At: now}},
	}
	none := map[runKey]launch.Record{}

	for _, c := range []struct {
		name    string
		stored  []hitchpost.Session
		pane    *tmux.Pane
		records map[runKey]launch.Record
		want    []stepKind
	}{
		{"live and running: nothing", stored(hitchpost.Running, 0, over), ptr(alive(0)), none, nil},
		{"live with new output", stored(hitchpost.Detached, 0, over), &printed, none, []stepKind{stepOutput}},
		{"live, pane gone", stored(hitchpost.Running, 0, over), nil, none, []stepKind{stepLost}},
		{"waiting, pane gone", stored(hitchpost.WaitingForInput, 0, over), nil, none, []stepKind{stepLost}},
		{"live, exit recorded, pane alive for a moment", stored(hitchpost.Running, 0, over), ptr(alive(0)), record(0), []stepKind{stepExit}},
		{"live, exit recorded, pane gone", stored(hitchpost.Running, 0, over), nil, record(0), []stepKind{stepExit}},
		{"live, ended as its terminal went away", stored(hitchpost.Running, 0, over), nil, hungUp, []stepKind{stepLost}},
		{"stopping, ended as its terminal went away", stored(hitchpost.Stopping, 0, over), nil, hungUp, []stepKind{stepExit}},
		{"live, record of an older run", stored(hitchpost.Running, 1, over), ptr(alive(1)), record(0), nil},
		{"live, pane of an older run only", stored(hitchpost.Running, 1, over), ptr(alive(0)), none, []stepKind{stepLost}},
		{"live, pane dead, no record", stored(hitchpost.Detached, 0, over), &deadKnown, none, []stepKind{stepExit}},
		{"starting, under lease, no pane", stored(hitchpost.Starting, 0, leased), nil, none, nil},
		{"starting, under lease, pane of the old run", stored(hitchpost.Starting, 1, leased), ptr(dead(0)), none, nil},
		{"starting, under lease, pane up", stored(hitchpost.Starting, 0, leased), ptr(alive(0)), none, nil},
		{"starting, lease over, no pane", stored(hitchpost.Starting, 0, over), nil, none, []stepKind{stepLost}},
		{"starting, lease over, pane up", stored(hitchpost.Starting, 0, over), ptr(alive(0)), none, []stepKind{stepStarted}},
		{"starting, ended at once", stored(hitchpost.Starting, 0, leased), ptr(dead(0)), record(0), []stepKind{stepExit}},
		{"stopping, still there", stored(hitchpost.Stopping, 0, leased), ptr(alive(0)), none, nil},
		{"stopping, whoever asked is gone", stored(hitchpost.Stopping, 0, over), ptr(alive(0)), none, []stepKind{stepStopOver}},
		{"stopping, pane gone", stored(hitchpost.Stopping, 0, leased), nil, none, []stepKind{stepLost}},
		{"stopped, no pane", stored(hitchpost.Stopped, 0, over), nil, none, nil},
		{"stopped, dead pane", stored(hitchpost.Stopped, 0, over), ptr(dead(0)), none, []stepKind{stepClear}},
		{"stopped, wrapper about to end", stored(hitchpost.Stopped, 0, over), ptr(alive(0)), record(0), []stepKind{stepClear}},
		{"recoverable, but tmux runs it", stored(hitchpost.Recoverable, 0, over), ptr(alive(0)), none, []stepKind{stepFound}},
		{"failed, tmux runs a later run", stored(hitchpost.Failed, 0, over), ptr(alive(1)), none, []stepKind{stepFound}},
		{"failed, an older run's pane is left", stored(hitchpost.Failed, 2, over), ptr(alive(1)), none, []stepKind{stepClear}},
		{"live, tmux is a run ahead", stored(hitchpost.Running, 0, over), ptr(alive(1)), none, []stepKind{stepFound}},
		{"unknown to the store", nil, ptr(alive(0)), none, []stepKind{stepAdopt}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			seen := observation{panes: map[string]tmux.Pane{}, records: c.records}
			if c.pane != nil {
				seen.panes[planID] = *c.pane
			}
			var got []stepKind
			for _, st := range plan(now, c.stored, seen) {
				got = append(got, st.kind)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("steps (-want +got):\n%s", d)
			}
		})
	}
}

// TestPlanStepsAreAllowed holds the planner to the table of transitions: whatever it proposes for any state, run and
// sight of tmux is a change that the state allows.
func TestPlanStepsAreAllowed(t *testing.T) {
	t.Parallel()
	now := time.Now()
	change := map[stepKind]hitchpost.Change{
		stepStarted: hitchpost.ChangeStarted, stepLost: hitchpost.ChangeLost,
		stepExit: hitchpost.ChangeExitedBadly, stepFound: hitchpost.ChangeFound,
	}
	for _, state := range hitchpost.States() {
		for _, pane := range []*tmux.Pane{nil, {Session: planID, Run: 0}, {Session: planID, Run: 1}, {Session: planID, Run: 1, Dead: true}, {Session: planID, Run: 2}} {
			for _, lease := range []time.Time{now.Add(time.Hour), now.Add(-time.Hour)} {
				for _, recorded := range []bool{false, true} {
					seen := observation{panes: map[string]tmux.Pane{}, records: map[runKey]launch.Record{}}
					if pane != nil {
						seen.panes[planID] = *pane
					}
					if recorded {
						seen.records[runKey{planID, 1}] = launch.Record{Session: planID, Run: 1}
					}
					s := hitchpost.Session{ID: planID, State: state, Restarts: 1, LeaseUntil: lease}
					for _, st := range plan(now, []hitchpost.Session{s}, seen) {
						c, moves := change[st.kind]
						if _, ok := hitchpost.Next(state, c); moves && !ok {
							t.Errorf("%s: step %s, but %s is not allowed", state, st.kind, c)
						}
					}
				}
			}
		}
	}
}

func ptr[T any](v T) *T { return &v }
