package runtime

import (
	"context"

	"github.com/hitchpost/hitchpost"
)

// Note writes the note of an open session, or adds a line to it, and returns the session as it is then. Show reads it.
func (s *Service) Note(ctx context.Context, a hitchpost.Actor, ref string, r hitchpost.NoteRequest) (hitchpost.Session, error) {
	if err := a.Require(hitchpost.Drive); err != nil {
		return hitchpost.Session{}, err
	}
	session, err := s.Show(ctx, a, ref)
	if err != nil {
		return session, err
	}
	got, err := s.Store.SetNote(ctx, session.ID, r, as(a, hitchpost.FromPerson, ""))
	if err != nil {
		return got, err
	}
	s.board.put(got)
	return got, nil
}
