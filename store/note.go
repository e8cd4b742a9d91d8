package store

import (
	"context"
	"fmt"

	"github.com/hitchpost/hitchpost"
)

// SetNote writes the note of an open session, or adds a line to it, and returns the session as it is then. Of many
// that add at the same time each one's text is kept. UsageError where the note would be none that CheckNote lets pass;
// ConflictError, with the session as it is, where the note is not the one that the request expects.
func (s *Store) SetNote(ctx context.Context, id string, r hitchpost.NoteRequest, by By) (noted hitchpost.Session, err error) {
	if err := hitchpost.CheckNote(r.Text); err != nil {
		return noted, err
	}
	err = s.write(ctx, "write a note", func(ctx context.Context, tx *writing) error {
		found, now, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if !found.Open() {
			return hitchpost.Errorf(hitchpost.ConflictError, "session %s is closed", found.Handle).
				Hinted("its note can only be read")
		}
		noted = found
		if r.Expect != nil && found.Note != *r.Expect {
			return hitchpost.Errorf(hitchpost.ConflictError, "the note of %s was changed meanwhile", found.Handle).For("note").
				Hinted("read it again, then write what is to stand there")
		}
		if r.Append && r.Text == "" {
			return nil
		}
		var size int
		err = tx.QueryRow(ctx, `update terminal_sessions set note =
				case when not $3 then $2 when note = '' or note like E'%\n' then note || $2 else note || E'\n' || $2 end
			where id = $1 returning octet_length(note)`, id, r.Text, r.Append).Scan(&size)
		if err != nil {
			return err
		}
		if size > hitchpost.MaxNote {
			return hitchpost.NoteTooLong()
		}
		if noted, err = load(ctx, tx, id); err != nil {
			return err
		}
		tx.append(&hitchpost.Event{SessionID: id, At: now, Kind: EventNoted, Reason: noteReason(r)}, by)
		tx.notify(Notice{TopicSession, id})
		return nil
	})
	return noted, err
}

// noteReason tells what was done to a note without its words, which are changed while events stay.
func noteReason(r hitchpost.NoteRequest) string {
	switch {
	case r.Append:
		return fmt.Sprintf("%d bytes added to the note", len(r.Text))
	case r.Text == "":
		return "note cleared"
	default:
		return fmt.Sprintf("note of %d bytes written", len(r.Text))
	}
}
