package runtime

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
	"github.com/hitchpost/hitchpost/runtime/tmux"
	"github.com/hitchpost/hitchpost/store"
)

// calm is a service without a store, where n agents wait for a prompt and nothing is new of any.
func calm(tb testing.TB, n int) (*Service, *configDirs) {
	tb.Helper()
	now := time.Now()
	s := &Service{board: newBoard(now), agents: newAgentBook(), folder: folder{tb.TempDir()}}
	s.Node.Name, s.Log = "here", slog.New(slog.DiscardHandler)
	d := &configDir{path: "/config", news: func() {}, stop: make(chan struct{}), facts: newFacts()}
	since := now.Add(-time.Minute).UTC().Truncate(time.Millisecond)
	for i := range n {
		id, conversation := fmt.Sprint("session-", i), uuid.NewString()
		d.last.entries = append(d.last.entries, claude.Entry{
			Pid: 1000 + i, Conversation: conversation, Status: claude.StatusIdle, StatusAt: since, Version: "2.1.332",
			Kind: "interactive", Parents: []int{1, 2, 3},
		})
		s.board.put(hitchpost.Session{
			ID: id, Kind: hitchpost.Claude, Node: "here", State: hitchpost.WaitingForInput, StateReason: claude.ReasonPrompt,
			StateSince: since, StartedAt: since.Add(-time.Hour), ConversationID: conversation,
			Agent: &hitchpost.Agent{
				Version: "2.1.332", ConfigDir: d.path, Status: claude.StatusIdle, StatusSource: hitchpost.FromRegistry,
				StatusAt: since, Hooks: hitchpost.HooksNotSeen,
			},
		})
		s.agents.observed(map[string]tmux.Pane{id: {Session: id, Pid: 1000 + i}})
	}
	return s, &configDirs{news: func() {}, dirs: map[string]*configDir{d.path: d}}
}

// BenchmarkLookAtAgents is a look at 200 agents of which nothing is new.
func BenchmarkLookAtAgents(b *testing.B) {
	s, dirs := calm(b, 200)
	for b.Loop() {
		dirs.dirs["/config"].last.at = time.Now()
		s.lookAtAgents(context.Background(), dirs)
	}
}

// Nothing is written while nothing is new, whatever unit of time a source tells in: here there is no store to write to.
func TestAgentsOfWhichNothingIsNew(t *testing.T) {
	t.Parallel()
	s, dirs := calm(t, 3)
	dirs.dirs["/config"].last.at = time.Now()
	s.lookAtAgents(context.Background(), dirs)

	// A turn's end that hooks told of in nanoseconds, as the store has it.
	session, _ := s.board.get("session-0")
	at := time.Now().Add(-10 * time.Second).UTC()
	agent := *session.Agent
	v := claude.Judge(claude.Sight{Now: time.Now(), Started: session.StartedAt, Hooks: claude.Hooks{
		Heard: at, Phase: claude.PhaseFinished, At: at, Event: claude.HookStop,
	}})
	for range 2 {
		n := store.AgentNews{}
		heed(session, &agentSeen{}, v, &agent, &n)
		n.Agent = agent
		kept := agent
		kept.StatusAt = kept.StatusAt.Truncate(time.Microsecond)
		session.Agent, session.StateReason, session.StateSince = &kept, v.Reason, n.Since.Truncate(time.Microsecond)
		if isNews(session, n) {
			t.Errorf("news: %+v", n)
		}
	}
}
