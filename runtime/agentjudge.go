package runtime

import (
	"context"
	"os"
	"reflect"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
	"github.com/hitchpost/hitchpost/store"
)

const (
	// hooksPatience is how long after its register entry an agent may be without a hook before that is told.
	hooksPatience = 5 * time.Second
	// movePatience is how long the register must name another conversation than the store before it is believed without a
	// hook: a hook is sooner, and knows how it came.
	movePatience = 3 * time.Second
)

// judgeAgent holds what is known of an agent against what the store has, and tells the store of what is new.
func (s *Service) judgeAgent(ctx context.Context, session hitchpost.Session, entries []claude.Entry) error {
	seen := s.agents.of(s, session)
	now := time.Now()
	sight := claude.Sight{Now: now, Started: session.StartedAt, Heard: seen.heard, Hooks: seen.hooks}
	if pane := s.agents.pane(session); pane != 0 {
		if entry, ok := claude.OfProcess(entries, pane); ok {
			sight.Entry, sight.Heard = &entry, now
			seen.pid, seen.heard = entry.Pid, now
		}
	}
	agent := *session.Agent
	agent.Mark = "" // what comes of looking is older or newer than no event
	agent.Hooks = hookHealth(session, seen, sight.Entry, now)
	n := store.AgentNews{Run: session.Restarts, Source: hitchpost.FromRegistry}
	if v := claude.Judge(sight); v.Known {
		agent.Status, agent.StatusSource, agent.StatusAt, agent.Uncertain = v.Status, v.Source, v.Since.UTC(), v.Uncertain
		n.Waits, n.Reason, n.Source, n.Since = &v.Waits, v.Reason, v.Source, v.Since
		if sameWait(session, v) && !seen.worked {
			n.Since = session.StateSince
		}
	}
	if e := sight.Entry; e != nil {
		agent.Version = e.Version
		n.Conversation, n.How = s.otherConversation(session, seen, *e, now)
	}
	s.readFacts(ctx, session, seen, &agent, now)
	n.Agent = agent
	if isNews(session, n) {
		if err := s.noteAgent(ctx, session, n); err != nil {
			return err
		}
	}
	seen.worked = false
	return nil
}

// sameWait reports whether a verdict is of the wait that the session is in: hook and register tell of it one after the
// other.
func sameWait(session hitchpost.Session, v claude.Verdict) bool {
	return v.Waits && session.State == hitchpost.WaitingForInput && v.Reason == session.StateReason &&
		v.Since.Sub(session.StateSince).Abs() < movePatience
}

// otherConversation is the conversation that the register has in place of the store's, once it has told so for a while.
func (s *Service) otherConversation(
	session hitchpost.Session, seen *agentSeen, e claude.Entry, now time.Time,
) (id, how string) {
	switch {
	case e.Conversation == session.ConversationID || !isConversation(e.Conversation):
		seen.differ = time.Time{}
	case seen.differ.IsZero():
		seen.differ = now
	case now.Sub(seen.differ) > movePatience:
		seen.read = factsRead{}
		return e.Conversation, "changed"
	}
	return "", ""
}

// hookHealth tells whether hooks of this run were seen. They come before the register shows a prompt.
func hookHealth(session hitchpost.Session, seen *agentSeen, e *claude.Entry, now time.Time) hitchpost.HookHealth {
	switch {
	case !seen.hooks.Heard.IsZero():
		return hitchpost.HooksSeen
	case e != nil && e.Status != "" && now.Sub(session.StartedAt) > hooksPatience:
		return hitchpost.HooksNotSeen
	}
	return session.Agent.Hooks
}

// isNews reports whether the store should be told.
func isNews(session hitchpost.Session, n store.AgentNews) bool {
	agent := n.Agent
	agent.Mark = session.Agent.Mark
	if !reflect.DeepEqual(agent, *session.Agent) || n.Conversation != "" {
		return true
	}
	waits := session.State == hitchpost.WaitingForInput
	return n.Waits != nil && (*n.Waits != waits || waits && n.Reason != session.StateReason)
}

// factsRead is when and in what state the transcript was read last.
type factsRead struct {
	at   time.Time
	due  bool // something ended that the transcript tells of
	size int64
	mod  time.Time
}

const (
	// factsEvery is how often a transcript that grows is read at most, where no hook tells of the end of a turn.
	factsEvery = 10 * time.Second
	// factsTime is how long that may take.
	factsTime = 2 * time.Second
)

// readFacts takes from the transcript what the agent's row shows, where it has changed since.
func (s *Service) readFacts(
	ctx context.Context, session hitchpost.Session, seen *agentSeen, agent *hitchpost.Agent, now time.Time,
) {
	if !seen.read.due && now.Sub(seen.read.at) < factsEvery {
		return
	}
	seen.read.at = now
	if agent.Transcript == "" {
		path, _, err := claude.FindTranscript(ctx, agent.ConfigDir, session.ConversationID)
		if err != nil || path == "" {
			return
		}
		agent.Transcript = path
	}
	about, err := os.Stat(agent.Transcript)
	if err != nil {
		agent.Transcript = "" // it may come back, also elsewhere
		return
	}
	if about.Size() == seen.read.size && about.ModTime().Equal(seen.read.mod) {
		seen.read.due = false
		return
	}
	ctx, cancel := context.WithTimeout(ctx, factsTime)
	defer cancel()
	facts, err := claude.ReadFacts(ctx, agent.Transcript)
	if err != nil {
		s.agentTrouble("a transcript", err)
		return
	}
	tokens, err := seen.tally.Read(ctx, agent.Transcript)
	if err != nil {
		s.agentTrouble("a transcript", err)
		return
	}
	seen.read = factsRead{at: now, due: !tokens.Whole, size: about.Size(), mod: about.ModTime()}
	if !tokens.Whole {
		seen.read.size = -1 // there is more to count
	}
	agent.Title, agent.LastPrompt, agent.LastAnswer = facts.Title, facts.LastPrompt, facts.LastAnswer
	agent.TokensIn, agent.TokensOut, agent.ContextTokens = tokens.In, tokens.Out, facts.Context
}
