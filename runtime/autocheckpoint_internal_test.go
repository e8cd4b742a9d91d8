package runtime

import (
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// Files are kept when an agent begins to wait or ends, and of every live session after ten minutes; no one twice for one
// reason, and none for what was so before the service came.
func TestWhenFilesAreKept(t *testing.T) {
	t.Parallel()
	c := &checkpointer{s: &Service{Config: Config{Node: hitchpost.Node{Name: "here"}}}}
	start := time.Now()
	agent := hitchpost.Session{ID: "agent", Kind: hitchpost.Claude, Node: "here"}
	shell := hitchpost.Session{ID: "shell", Kind: hitchpost.Shell, Node: "here"}
	away := hitchpost.Session{ID: "away", Kind: hitchpost.Claude, Node: "there", State: hitchpost.WaitingForInput}
	for _, step := range []struct {
		after  time.Duration
		agent  hitchpost.State
		shell  hitchpost.State
		ofWhom map[string]string
	}{
		{0, hitchpost.WaitingForInput, hitchpost.Detached, nil},
		{1, hitchpost.Detached, hitchpost.Running, nil},
		{2, hitchpost.WaitingForInput, hitchpost.Detached, map[string]string{"agent": "its agent waits"}},
		{3, hitchpost.WaitingForInput, hitchpost.Failed, nil},
		{4, hitchpost.Stopping, hitchpost.Starting, nil},
		{5, hitchpost.Stopped, hitchpost.Detached, map[string]string{"agent": "its agent has ended"}},
		{6, hitchpost.Recoverable, hitchpost.Detached, nil},
		{keepEvery - 1, hitchpost.Stopped, hitchpost.Detached, nil},
		{keepEvery, hitchpost.Stopped, hitchpost.Running, map[string]string{"shell": keptRegularly}},
		{keepEvery + 1, hitchpost.Detached, hitchpost.Running, map[string]string{"agent": keptRegularly}},
		{2*keepEvery - 1, hitchpost.Detached, hitchpost.Running, nil},
		{2 * keepEvery, hitchpost.Recoverable, hitchpost.Running, map[string]string{"agent": "its agent has ended", "shell": keptRegularly}},
	} {
		agent.State, shell.State = step.agent, step.shell
		got := c.due([]hitchpost.Session{agent, shell, away}, start.Add(step.after))
		if len(got) != len(step.ofWhom) {
			t.Errorf("after %v: %v, want %v", step.after, got, step.ofWhom)
		}
		for id, why := range step.ofWhom {
			if got[id] != why {
				t.Errorf("after %v: %v, want %v", step.after, got, step.ofWhom)
			}
		}
	}
	c.seen["shell"].fault = "git took too long"
	c.seen["shell"].tried = start.Add(2 * keepEvery)
	if got := c.due([]hitchpost.Session{shell}, start.Add(4*keepEvery)); len(got) != 0 {
		t.Errorf("soon after one that failed: %v", got)
	}
	if got := c.due([]hitchpost.Session{shell}, start.Add(2*keepEvery+keepAnyway)); got["shell"] != keptRegularly {
		t.Errorf("an hour after one that failed: %v", got)
	}
	short := hitchpost.Session{ID: "short", Kind: hitchpost.Claude, Node: "here", State: hitchpost.Failed}
	if got := c.due([]hitchpost.Session{short}, start); got["short"] != "its agent has ended" {
		t.Errorf("of one that came and went: %v", got)
	}
	short.Restarts, short.State = 1, hitchpost.Stopped
	if got := c.due([]hitchpost.Session{short}, start); got["short"] != "its agent has ended" {
		t.Errorf("of a run that came and went: %v", got)
	}
	if c.due(nil, start); len(c.seen) != 0 {
		t.Errorf("remembered: %v", c.seen)
	}
}
