package runtime

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/launch"
	"github.com/hitchpost/hitchpost/runtime/tmux"
)

// TestPlanWithASteppedClock sets the store's clock ahead and back between the notes of a session and the plan. No state
// may change for that alone.
func TestPlanWithASteppedClock(t *testing.T) {
	t.Parallel()
	noted := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	pane := &tmux.Pane{Session: planID, PaneID: "%1", Pid: 42, LastOutput: noted}
	for _, c := range []struct {
		name     string
		state    hitchpost.State
		step     time.Duration // of the clock; a second has passed
		pane     *tmux.Pane
		underway bool
		want     []stepKind
	}{
		{"live", hitchpost.Running, 8 * time.Hour, pane, false, nil},
		{"live, back", hitchpost.Detached, -2 * time.Hour, pane, false, nil},
		{"waiting, a year", hitchpost.WaitingForInput, 365 * 24 * time.Hour, pane, false, nil},
		{"start under way, no pane yet", hitchpost.Starting, 8 * time.Hour, nil, true, nil},
		{"start under way, pane just made", hitchpost.Starting, 8 * time.Hour, pane, true, nil},
		{"start under way, back", hitchpost.Starting, -2 * time.Hour, nil, true, nil},
		{"start of a service that died", hitchpost.Starting, 0, nil, false, nil},
		{"start of a service that died, ahead", hitchpost.Starting, 8 * time.Hour, nil, false, []stepKind{stepLost}},
		{"start of a service that died, ahead, pane up", hitchpost.Starting, 8 * time.Hour, pane, false, []stepKind{stepStarted}},
		{"start of a service that died, back", hitchpost.Starting, -2 * time.Hour, nil, false, []stepKind{stepLost}},
		{"start of a service that died, back, pane up", hitchpost.Starting, -2 * time.Hour, pane, false, []stepKind{stepStarted}},
		{"stop under way", hitchpost.Stopping, 8 * time.Hour, pane, true, nil},
		{"stop under way, back", hitchpost.Stopping, -2 * time.Hour, pane, true, nil},
		{"stop of a service that died", hitchpost.Stopping, 0, pane, false, nil},
		{"stop of a service that died, ahead", hitchpost.Stopping, 8 * time.Hour, pane, false, []stepKind{stepStopOver}},
		{"stop of a service that died, back", hitchpost.Stopping, -2 * time.Hour, pane, false, []stepKind{stepStopOver}},
		{"stopped", hitchpost.Stopped, 8 * time.Hour, nil, false, nil},
		{"lost", hitchpost.Recoverable, -2 * time.Hour, nil, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			stored := []hitchpost.Session{{
				ID: planID, State: c.state, StateSince: noted, LeaseUntil: noted.Add(startLease), LastOutputAt: noted,
			}}
			seen := observation{
				panes: map[string]tmux.Pane{}, records: map[runKey]launch.Record{}, underway: map[string]bool{planID: c.underway},
			}
			if c.pane != nil {
				seen.panes[planID] = *c.pane
			}
			var got []stepKind
			for _, st := range plan(noted.Add(time.Second+c.step), stored, seen) {
				got = append(got, st.kind)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("steps (-want +got):\n%s", d)
			}
		})
	}
}

// TestPrinted: what was noted while a clock was hours ahead hides no output of the hours after it was set right.
func TestPrinted(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		noted, seen time.Duration // from now
		want        bool
	}{
		"nothing new":                {-time.Hour, -time.Hour, false},
		"new":                        {-time.Hour, -time.Minute, true},
		"older":                      {-time.Hour, -2 * time.Hour, false},
		"noted in the future":        {8 * time.Hour, -time.Minute, true},
		"printed in the future only": {8 * time.Hour, 8 * time.Hour, false},
		"two clocks":                 {10 * time.Second, 9 * time.Second, false},
	} {
		if got := printed(now, now.Add(c.noted), now.Add(c.seen)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A start and a stop of one session may overlap, and the end of one is not that of the other.
func TestUnderway(t *testing.T) {
	t.Parallel()
	var u underway
	first, second := u.begin("a"), u.begin("a")
	first()
	if !u.has("a") || u.has("b") {
		t.Error("the second is forgotten, or another is known")
	}
	second()
	if u.has("a") || len(u.of) != 0 {
		t.Errorf("left: %v", u.of)
	}
}

// TestEvidenceIsDue follows one session through outputs, savings and steps of the clock that tmux tells outputs by: what
// was printed is saved, once it is known to be in it no more, and no clock stops that.
func TestEvidenceIsDue(t *testing.T) {
	t.Parallel()
	start := time.Now() // with the reading of both clocks
	l := evidenceLog{of: map[string]saving{}}
	for i, c := range []struct {
		at      time.Duration // of the look, by the clock that nobody sets
		printed time.Duration // the last output, as tmux tells it, from the start
		want    bool
	}{
		{0, -time.Minute, true},                                // never saved
		{5 * time.Second, -time.Minute, false},                 // nothing new
		{10 * time.Second, 9 * time.Second, true},              // printed
		{15 * time.Second, 9 * time.Second, false},             // and saved after the second of it
		{20 * time.Second, 21 * time.Second, true},             // printed just now
		{25 * time.Second, 21 * time.Second, true},             // perhaps after the capture
		{30 * time.Second, 21 * time.Second, false},            // not after that
		{35 * time.Second, 34*time.Second - 2*time.Hour, true}, // the clock was set back
		{40 * time.Second, 34*time.Second - 2*time.Hour, false},
		{45 * time.Second, 44*time.Second - 2*time.Hour, true},
		{50 * time.Second, 49*time.Second + 8*time.Hour, true}, // and ahead, and the session prints
		{55 * time.Second, 49*time.Second + 8*time.Hour, true}, // its time lies in the future, so once more
		{60 * time.Second, 49*time.Second + 8*time.Hour, false},
		{65 * time.Second, 49*time.Second + 8*time.Hour, false}, // and set right: a session at rest is not saved for hours
	} {
		now := start.Add(c.at)
		pane := tmux.Pane{Session: planID, LastOutput: start.Round(0).Truncate(time.Second).Add(c.printed)}
		due := l.due(now, []tmux.Pane{pane})
		if got := len(due) == 1; got != c.want {
			t.Errorf("look %d: due %v", i, got)
		}
		if len(due) > 0 {
			l.captured(planID, now)
		}
	}
	if l.due(start, nil); len(l.of) != 0 {
		t.Errorf("a session that is gone is remembered: %v", l.of)
	}
}

// A clock set a year ahead costs the tasks of one day, not all.
func TestTasksGoUnhurried(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var kept []keptTask
	for day := range 30 {
		kept = append(kept, keptTask{id: string(rune('a' + day)), at: now.Add(-time.Duration(day) * 24 * time.Hour)})
	}
	for name, c := range map[string]struct {
		before time.Time
		want   int
	}{
		"a year ahead": {now.Add((365 - 30) * 24 * time.Hour), 1},
		"as it is":     {now.Add(-29*24*time.Hour + time.Hour), 1},
		"all young":    {now.Add(-30 * 24 * time.Hour), 0},
	} {
		if got := outdated(slices.Clone(kept), unhurried(c.before, kept), 0); len(got) != c.want {
			t.Errorf("%s: %v go", name, got)
		}
	}
}
