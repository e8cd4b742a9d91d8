package runtime

import (
	"context"
	"path/filepath"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/inside"
	"github.com/hitchpost/hitchpost/store"
)

// insideKey is what the tokens of sessions are made from.
func (f folder) insideKey() string { return filepath.Join(f.root, "inside.key") }

// insideSocket is where programs in sessions reach the service. It lies beside the socket of tmux: that directory is the
// account's alone, and its path short enough for one.
func (s *Service) insideSocket() string {
	return filepath.Join(filepath.Dir(s.Tmux.Socket()), "note.sock")
}

// wayIn is what the environment of a session holds for that; nothing outside of a session, and where there is no key.
func (s *Service) wayIn(session string) []string {
	if session == "" || s.inside == nil {
		return nil
	}
	return []string{inside.SocketVariable + "=" + s.insideSocket(), inside.TokenVariable + "=" + s.inside.Token(session)}
}

// insideAgain is how long it takes until a socket that could not be served is tried again.
const insideAgain = 3 * time.Second

// insideLoop serves the programs in sessions.
func (s *Service) insideLoop(ctx context.Context) error {
	if s.inside == nil {
		<-ctx.Done()
		return nil
	}
	server := inside.Server{Key: s.inside, Note: s.noteFromInside, Trouble: func(err error) {
		s.Log.Debug("call from inside a session not answered", "err", err)
	}}
	for ctx.Err() == nil {
		err := server.Serve(ctx, s.insideSocket())
		if err == nil {
			return nil
		}
		s.Log.Warn("sessions cannot reach the service", "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(insideAgain):
		}
	}
	return nil
}

// noteFromInside reads or changes the note of a session for a program in it. The session itself is who acts.
func (s *Service) noteFromInside(ctx context.Context, id string, n inside.Note) (string, error) {
	session, err := s.Store.Session(ctx, id)
	if err != nil || !n.Change {
		return session.Note, err
	}
	by := store.By{Actor: "session " + session.Handle, Source: hitchpost.FromPerson}
	got, err := s.Store.SetNote(ctx, id, hitchpost.NoteRequest{Text: n.Text, Append: n.Append}, by)
	if err != nil {
		return "", err
	}
	s.board.put(got)
	return got.Note, nil
}
