package runtime

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
	"github.com/hitchpost/hitchpost/runtime/preset"
	"github.com/hitchpost/hitchpost/store"
)

// hookedBy lets the agent of a preset tell of itself: its hooks find the way by the environment.
func (s *Service) hookedBy(ctx context.Context, session hitchpost.Session, p *program) error {
	token, err := ask(ctx, s.disk, func() (string, error) { return s.hookToken(session.ID) })
	if errors.Is(err, fs.ErrNotExist) {
		token, err = rand.Text(), nil
	}
	if err != nil {
		return err
	}
	run := session.Restarts
	if session.State.Ended() {
		run++
	}
	p.agent = &agentRun{agent: hitchpost.Agent{Program: p.path}, token: token}
	p.env = s.environment(session.ID, append(p.extra[:len(p.extra):len(p.extra)],
		claude.HookEnvironment(run, token, s.folder.hooks())...))
	return nil
}

// heedOther takes in an event of another agent than Claude Code. Those that tell both when they wait and when they work
// have a state; what the others tell is a notice.
func (s *Service) heedOther(ctx context.Context, session hitchpost.Session, e claude.Event) error {
	if e.Name != claude.HookOther || e.Mark <= session.Agent.Mark {
		return nil
	}
	agent := *session.Agent
	agent.Mark, agent.Hooks = e.Mark, hitchpost.HooksSeen
	n := store.AgentNews{
		Run: session.Restarts, Source: hitchpost.FromHook, Since: e.At, Reason: e.Message,
		Conversation: e.Conversation, How: "told",
	}
	waits := true
	switch preset.Means(e.Notification) {
	case preset.Waits:
		agent.Status, n.Waits = claude.StatusWaiting, &waits
	case preset.Finished:
		agent.Status, n.Waits = claude.StatusIdle, &waits
		if n.Reason == "" {
			n.Reason = claude.ReasonFinished
		}
	case preset.Works:
		waits = false
		agent.Status, n.Waits = claude.StatusBusy, &waits
		if n.Reason == "" {
			n.Reason = claude.ReasonWorks
		}
	case preset.Attention:
		if err := s.noteAttention(ctx, session, e); err != nil {
			return err
		}
	default:
		return nil
	}
	if n.Waits != nil {
		agent.StatusSource, agent.StatusAt = hitchpost.FromHook, e.At
	}
	n.Agent = agent
	return s.noteAgent(ctx, session, n)
}

// noteAttention writes down that an agent asked for attention.
func (s *Service) noteAttention(ctx context.Context, session hitchpost.Session, e claude.Event) error {
	at := e.At
	if at.After(time.Now()) {
		at = time.Now()
	}
	_, err := s.Store.AppendEvent(ctx, hitchpost.Event{
		SessionID: session.ID, At: at, Kind: store.EventAttention, Reason: e.Message,
	}, store.By{Source: hitchpost.FromHook})
	return err
}
