package runtime_test

import (
	"context"
	"testing"

	"github.com/hitchpost/hitchpost"
)

func TestNoteIsWrittenAndRead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	_, err := r.Start(ctx, admin, hitchpost.StartRequest{Args: []string{"cat"}, Note: "\x1b[2J"})
	kind(t, err, hitchpost.UsageError)
	res, err := r.Start(ctx, admin, hitchpost.StartRequest{Title: "job", Args: []string{"cat"}, Note: "first"})
	must(t, err)
	got, err := r.Note(ctx, admin, "job", hitchpost.NoteRequest{Text: "second", Append: true})
	must(t, err)
	if want := "first\nsecond"; got.Note != want || got.ID != res.Session.ID {
		t.Errorf("note %q, want %q", got.Note, want)
	}
	shown, err := r.Show(ctx, viewer, "job")
	must(t, err)
	sessions, _ := r.Snapshot()
	if shown.Note != got.Note || len(sessions) != 1 || sessions[0].Note != got.Note {
		t.Errorf("shown %q, in memory %+v", shown.Note, sessions)
	}
	_, err = r.Note(ctx, viewer, "job", hitchpost.NoteRequest{Text: "x"})
	kind(t, err, hitchpost.DeniedError)
	_, err = r.Note(ctx, admin, "none", hitchpost.NoteRequest{Text: "x"})
	kind(t, err, hitchpost.NotFoundError)
}
