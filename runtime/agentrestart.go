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
			Words: words, Conversation: session.ConversationID, Dir: session.Cwd, Fresh: r.Fresh, Chosen: strings.ToLower(r.Conversation),
			NewID: id.String(),
		}
		if was := session.Agent; was != nil {
			facts.Talked = was.LastPrompt != "" || was.LastAnswer != ""
			facts.Moved = len(was.Former) > 0
		}
		look := func(id string) (claude.TranscriptState, error) {
			if !isConversation(id) {
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
		if err != nil && facts.Chosen == "" {
			err = s.keptCopy(session, err)
		}
		return plan, err
	}
}

// settleAgent takes in what the hooks of a session's last run have left, and returns the session as it is then.
func (s *Service) settleAgent(ctx context.Context, session hitchpost.Session) (hitchpost.Session, error) {
	if session.Agent == nil {
		return session, nil
	}
	if err := s.agents.lock(ctx); err != nil {
		return session, err
	}
	s.heedHooks(ctx)
	s.agents.unlock()
	return s.Store.Session(ctx, session.ID)
}
