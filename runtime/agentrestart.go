package runtime

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
)

// nextConversation plans a Restart of a session: which conversation the fresh process opens. What hooks have told of the
// one before is taken in first: it may have moved.
func (s *Service) nextConversation(
	ctx context.Context, session hitchpost.Session, r hitchpost.RestartRequest,
) func(claude.Words, hitchpost.Agent) (claude.Plan, error) {
	return func(words claude.Words, agent hitchpost.Agent) (claude.Plan, error) {
		id, err := uuid.NewV7()
		if err != nil {
			return claude.Plan{}, err
		}
		facts := claude.RestartFacts{
			Words: words, Conversation: session.ConversationID, Dir: session.Cwd, Fresh: r.Fresh,
			Chosen: strings.ToLower(r.Conversation), NewID: id.String(),
		}
		if was := session.Agent; was != nil {
			prompted, err := ask(ctx, s.disk, func() (bool, error) { return s.prompted(session), nil })
			if err != nil {
				return claude.Plan{}, err
			}
			facts.Talked = was.LastPrompt != "" || was.LastAnswer != "" || prompted
			facts.Moved = len(was.Former) > 0
		}
		look := func(id string) (claude.TranscriptState, error) {
			if !claude.IsConversation(id) {
				return claude.TranscriptNone, nil // refused by the plan
			}
			return s.transcript(ctx, agent, id)
		}
		if facts.Transcript, err = look(facts.Conversation); err != nil {
			return claude.Plan{}, err
		}
		if facts.ChosenTranscript, err = look(facts.Chosen); err != nil {
			return claude.Plan{}, err
		}
		facts.CleanupDays, err = ask(ctx, s.disk, func() (int, error) { return claude.CleanupDays(agent.ConfigDir), nil })
		if err != nil {
			return claude.Plan{}, err
		}
		plan, err := claude.PlanRestart(facts)
		plan.Prompt = r.Prompt
		if err != nil && facts.Chosen == "" {
			err = s.keptCopy(session, err)
		}
		return plan, err
	}
}

// prompted reports whether hooks told of a prompt in the conversation that a session had last. Claude Code may be killed
// before it has written that down.
func (s *Service) prompted(session hitchpost.Session) bool {
	at := s.readHeard(session).Prompted
	if former := session.Agent.Former; len(former) > 0 {
		return at.After(former[len(former)-1].Until)
	}
	return !at.IsZero()
}

// settleAgent waits a moment for the end of a session's last process, which may still be writing down what was said, takes
// in what its hooks have left, and returns the session as it is then.
func (s *Service) settleAgent(ctx context.Context, session hitchpost.Session) (hitchpost.Session, error) {
	if session.Agent == nil {
		return session, nil
	}
	if session.State.Ended() {
		_, _ = s.survivors(ctx, session.ID, false) // those that stay are told of later
	}
	if s.agents.lock(ctx) != nil {
		return session, hitchpost.Errorf(hitchpost.UnavailableError, "what the agent of %s told last was not taken in in time",
			session.Handle).Hinted("try again in a moment")
	}
	s.heedHooks(ctx)
	s.agents.unlock()
	return s.Store.Session(ctx, session.ID)
}

// whereItWorked is the directory in which an agent goes on: that of its conversation, though a link on the way there was
// set to another since, or taken away.
func (s *Service) whereItWorked(ctx context.Context, session hitchpost.Session) (string, error) {
	if session.Kind != hitchpost.Claude || session.Agent == nil || session.Agent.Dir == "" {
		return session.Cwd, nil
	}
	return ask(ctx, s.disk, func() (string, error) {
		if claude.RealDir(session.Cwd) == session.Agent.Dir {
			return session.Cwd, nil
		}
		return session.Agent.Dir, nil
	})
}
