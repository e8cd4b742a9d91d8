package runtime

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
)

// told is what was said in the conversation of an agent that draws on the alternate screen, of which no terminal keeps a
// history; nil where a history is not asked for, or the terminal has one, or nothing was said yet.
func (s *Service) told(ctx context.Context, session hitchpost.Session, r hitchpost.CaptureRequest) []byte {
	a := session.Agent
	if a == nil || a.Screen != hitchpost.AlternateScreen || !r.History {
		return nil
	}
	text, err := ask(ctx, s.disk, func() ([]byte, error) {
		path, state, err := claude.FindTranscript(ctx, a.ConfigDir, session.ConversationID)
		if err != nil || state != claude.TranscriptMessages {
			return nil, err
		}
		return claude.History(ctx, path)
	})
	if err != nil {
		s.Log.Warn("conversation not read", "session", session.ID, "err", err)
		return nil
	}
	if r.Lines > 0 {
		text = lastLines(text, r.Lines)
	}
	return text
}

// transcripts is where copies of a session's transcripts are kept.
func (f folder) transcripts(id string) string { return filepath.Join(f.session(id), "transcripts") }

// transcriptTime is how long the copy of one transcript may take.
const transcriptTime = time.Minute

// keepTranscripts copies the transcripts of sessions that are still on the list, before Claude Code removes them for
// their age. Of a config directory whose disk hangs it tries one.
func (s *Service) keepTranscripts(ctx context.Context, now time.Time) {
	sessions, _, _ := s.board.all()
	silent := map[string]bool{}
	for _, session := range sessions {
		a := session.Agent
		if session.Kind != hitchpost.Claude || a == nil || session.Node != s.Node.Name || silent[a.ConfigDir] {
			continue
		}
		if ctx.Err() != nil {
			return
		}
		kept, err := askFor(ctx, newDisk(), transcriptTime, func() (bool, error) { return s.keepTranscript(ctx, session, now) })
		silent[a.ConfigDir] = hitchpost.KindOf(err) == hitchpost.TimeoutError
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("transcript not kept", "session", session.ID, "kept", kept, "err", err)
		}
	}
}

// keepTranscript copies one, also where nobody has looked for it yet.
func (s *Service) keepTranscript(ctx context.Context, session hitchpost.Session, now time.Time) (kept bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, transcriptTime)
	defer cancel()
	path, _, err := claude.FindTranscript(ctx, session.Agent.ConfigDir, session.ConversationID)
	if err != nil || path == "" {
		return false, err
	}
	return claude.Keep(ctx, path, s.folder.transcripts(session.ID), claude.CleanupDays(session.Agent.ConfigDir), now)
}

// keptCopy adds to an error about a conversation that is gone where a copy of it is.
func (s *Service) keptCopy(session hitchpost.Session, err error) error {
	path := claude.KeptTranscript(s.folder.transcripts(session.ID), session.ConversationID)
	var gone *hitchpost.Error
	if session.Agent == nil || session.Agent.Transcript == "" || !errors.As(err, &gone) {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return gone
	}
	return hitchpost.Errorf(gone.Kind, "%s", gone.Message).Hinted("%s, or put the copy %s back as %s and restart",
		gone.Hint, path, session.Agent.Transcript)
}
