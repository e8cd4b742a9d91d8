package runtime

import (
	"context"
	"errors"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/tmux"
)

// terminalTitle is what the title of a terminal says that is attached to the session: what people call it, and where it
// works. Handles, branches and the like are chosen by others; tmux shows them as they are.
func terminalTitle(session hitchpost.Session) string {
	title := session.Handle + " · " + session.Node
	if work := session.Work(); work != "" {
		title += " · " + work
	}
	return hitchpost.OneLine(title)
}

// retitle has attached terminals show the title of a live session. That is only shown: where it cannot be changed, the old
// one stays.
func (s *Service) retitle(ctx context.Context, session hitchpost.Session) {
	err := s.Tmux.SetTitle(ctx, session.ID, terminalTitle(session))
	if err != nil && !errors.Is(err, tmux.ErrNoSession) && ctx.Err() == nil {
		s.Log.Warn("terminal title not changed", "session", session.ID, "err", err)
	}
}
