package runtime

import (
	"context"
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
func (s *Service) judgeAgent(ctx context.Context, session hitchpost.Session, r reading, dir *configDir) error {
	seen := s.agents.of(s, session)
	now := time.Now()
	sight := claude.Sight{Now: now, Started: session.StartedAt, Blind: r.trouble(now) != nil, Hooks: seen.hooks}
	if pane := s.agents.pane(session); pane != 0 && !sight.Blind {
		if entry, ok := claude.OfProcess(r.entries, pane); ok {
			sight.Entry, seen.pid, seen.noted = &entry, entry.Pid, r.at
		}
	}
	sight.Noted = seen.noted
	agent := *session.Agent
	agent.Mark = "" // what comes of looking is older or newer than no event
	if e := sight.Entry; e != nil {
		agent.Version = e.Version
		if moved, err := s.followRegister(ctx, session, seen, *e, now); moved || err != nil {
			return err
		}
	}
	agent.Hooks = hookHealth(session, seen, sight.Entry, now)
	n := store.AgentNews{Run: session.Restarts, Source: hitchpost.FromRegistry}
	heed(session, seen, claude.Judge(sight), &agent, &n)
	if now.Sub(seen.asked) >= factsEvery || now.Before(seen.due) {
		seen.asked = now
		dir.ask(session)
	}
	s.agentTrouble("the transcript of "+session.ID, dir.tell(session, &agent))
	if seen.answer != "" && now.Sub(seen.said) < factsEvery {
		agent.LastAnswer = seen.answer
	}
	n.Agent = agent
	if isNews(session, n) {
		if err := s.noteAgent(ctx, session, n); err != nil {
			return err
		}
	}
	seen.worked = false
	return nil
}

// heed puts a verdict into what the store is told.
func heed(session hitchpost.Session, seen *agentSeen, v claude.Verdict, agent *hitchpost.Agent, n *store.AgentNews) {
	if !v.Known {
		if v.Uncertain != "" {
			agent.Uncertain = v.Uncertain
		}
		return
	}
	// In the database's unit: else each look would find another time than the store has.
	since := v.Since.UTC().Truncate(time.Microsecond)
	agent.Status, agent.StatusSource, agent.StatusAt, agent.Uncertain = v.Status, v.Source, since, v.Uncertain
	n.Waits, n.Reason, n.Source, n.Since = &v.Waits, v.Reason, v.Source, since
	if sameWait(session, v) && !seen.worked {
		n.Since = session.StateSince
	}
}

// sameWait reports whether a verdict is of the wait that the session is in: hook and register tell of it one after the
// other.
func sameWait(session hitchpost.Session, v claude.Verdict) bool {
	return v.Waits && session.State == hitchpost.WaitingForInput && v.Reason == session.StateReason &&
		v.Since.Sub(session.StateSince).Abs() < movePatience
}

// followRegister records the conversation that the register has in place of the store's, once it has told so for a while.
func (s *Service) followRegister(
	ctx context.Context, session hitchpost.Session, seen *agentSeen, e claude.Entry, now time.Time,
) (moved bool, err error) {
	switch {
	case e.Conversation == session.ConversationID || !claude.IsConversation(e.Conversation):
		seen.differ = time.Time{}
		return false, nil
	case seen.differ.IsZero():
		seen.differ = now
		return false, nil
	case now.Sub(seen.differ) <= movePatience:
		return false, nil
	}
	agent := *session.Agent
	agent.Mark = ""
	err = s.noteAgent(ctx, session, store.AgentNews{
		Run: session.Restarts, Agent: agent, Conversation: e.Conversation, How: "changed", Source: hitchpost.FromRegistry,
		Since: seen.differ,
	})
	if err == nil {
		seen.differ, seen.asked, seen.answer = time.Time{}, time.Time{}, ""
		s.agents.look()
	}
	return true, err
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
