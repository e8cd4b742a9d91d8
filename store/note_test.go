package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

func TestNote(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	id := b.create(t, "work").ID
	last := int64(-1)
	for _, c := range []struct {
		r    hitchpost.NoteRequest
		want string
	}{
		{hitchpost.NoteRequest{Text: "one", Append: true}, "one"},
		{hitchpost.NoteRequest{Text: "it's \\n $1 %s\n", Append: true}, "one\nit's \\n $1 %s\n"},
		{hitchpost.NoteRequest{Text: "三", Append: true}, "one\nit's \\n $1 %s\n三"},
		{hitchpost.NoteRequest{Text: "new"}, "new"},
		{hitchpost.NoteRequest{}, ""},
		{hitchpost.NoteRequest{Text: strings.Repeat("x", hitchpost.MaxNote)}, strings.Repeat("x", hitchpost.MaxNote)},
	} {
		got, err := b.SetNote(t.Context(), id, c.r, store.By{Actor: "ann"})
		if err != nil || got.Note != c.want || got.Revision <= last {
			t.Errorf("%.40q: note %.40q, revision %d after %d, %v", c.r.Text, got.Note, got.Revision, last, err)
		}
		last = got.Revision
	}
	for _, r := range []hitchpost.NoteRequest{
		{Text: "x", Append: true}, {Text: strings.Repeat("x", hitchpost.MaxNote+1)}, {Text: "\x1b[2J"}, {Text: "\xff"},
	} {
		_, err := b.SetNote(t.Context(), id, r, store.By{})
		wantKind(t, err, hitchpost.UsageError)
	}
	got, err := b.SetNote(t.Context(), id, hitchpost.NoteRequest{Append: true}, store.By{})
	if err != nil || got.Revision != last || len(got.Note) != hitchpost.MaxNote {
		t.Errorf("after what was refused, and an empty addition: %d bytes, revision %d, %v", len(got.Note), got.Revision, err)
	}
	events, err := b.Events(t.Context(), hitchpost.EventRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, e := range events {
		if e.Kind == store.EventNoted {
			reasons = append(reasons, e.Actor+": "+e.Reason)
		}
	}
	want := []string{
		"ann: 3 bytes added to the note", "ann: 14 bytes added to the note", "ann: 3 bytes added to the note",
		"ann: note of 3 bytes written", "ann: note cleared", "ann: note of 65536 bytes written",
	}
	if !slices.Equal(reasons, want) {
		t.Errorf("events %q", reasons)
	}
}

func TestNoteOfAClosedSessionStays(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	id := b.create(t, "work").ID
	b.change(t, id, hitchpost.ChangeExitedWell)
	b.change(t, id, hitchpost.ChangeClosed)
	_, err := b.SetNote(t.Context(), id, hitchpost.NoteRequest{Text: "x"}, store.By{})
	wantKind(t, err, hitchpost.ConflictError)
	_, err = b.SetNote(t.Context(), "0193a000-0000-7000-8000-00000000ffff", hitchpost.NoteRequest{Text: "x"}, store.By{})
	wantKind(t, err, hitchpost.NotFoundError)
}

func TestNotesAddedAtTheSameTimeAllArrive(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	id := b.create(t, "work").ID
	const n = 20
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			r := hitchpost.NoteRequest{Text: fmt.Sprintf("line %02d", i), Append: true}
			if _, err := b.SetNote(t.Context(), id, r, store.By{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := b.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(got.Note, "\n")
	slices.Sort(lines)
	for i := range n {
		if want := fmt.Sprintf("line %02d", i); len(lines) != n || lines[i] != want {
			t.Fatalf("kept %q", got.Note)
		}
	}
}
