package runtime

import (
	"context"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/tmux"
)

// pastePause is how long after a text an agent takes a key for a part of what was pasted: an Enter would send nothing.
const pastePause = 400 * time.Millisecond

// typeInto types what is asked for. The keys that follow a text for an agent come after it was seen to arrive, and a
// pause; what others send still comes before or after both.
func (s *Service) typeInto(ctx context.Context, session hitchpost.Session, before tmux.Glance, r hitchpost.SendRequest) error {
	if session.Agent == nil || r.Text == "" || len(r.Keys) == 0 {
		return s.Tmux.Type(ctx, before.Pane, tmux.Typing{Text: r.Text, Keys: r.Keys})
	}
	if err := s.Tmux.Type(ctx, before.Pane, tmux.Typing{Text: r.Text}); err != nil {
		return err
	}
	s.watchSent(ctx, session, sight{before: before, tail: tailOf(r.Text)})
	<-time.After(pastePause)
	if err := s.Tmux.Type(ctx, before.Pane, tmux.Typing{Keys: r.Keys}); err != nil {
		return hitchpost.Errorf(hitchpost.UnconfirmedError, "the text was typed, and the keys may not have been: %w", err).
			Hinted("look at the screen before you type them again")
	}
	return nil
}

// answerTime is how long Send stays until a waiting agent is seen to go on. Its hook takes a few hundred milliseconds.
const answerTime = 2 * time.Second

// awaitAnswered stays until an agent that waited is known to have taken up what was sent to it: who then waits for the
// agent to need a person again must not be told of the old wait. Not every key makes it go on.
func (s *Service) awaitAnswered(ctx context.Context, session hitchpost.Session, r hitchpost.SendRequest) {
	if session.Agent == nil || session.State != hitchpost.WaitingForInput || len(r.Keys) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	_, _ = s.await(ctx, session, func(now hitchpost.Session) bool {
		return now.State != hitchpost.WaitingForInput || now.StateSince.After(session.StateSince)
	})
}
