package store_test

import (
	"errors"
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

// TestANoteIsNotOverwrittenUnseen has many write from the same reading of a note: one of them does, and the others get what
// it wrote.
func TestANoteIsNotOverwrittenUnseen(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	id := b.create(t, "work").ID
	write := func(text string, expect string) (hitchpost.Session, error) {
		return b.SetNote(t.Context(), id, hitchpost.NoteRequest{Text: text, Expect: &expect}, store.By{Actor: "ann"})
	}
	if got, err := write("first", ""); err != nil || got.Note != "first" {
		t.Fatalf("note %q, %v", got.Note, err)
	}
	texts := make([]string, 8)
	errs := make([]error, len(texts))
	seen := make([]string, len(texts))
	var all sync.WaitGroup
	for i := range texts {
		texts[i] = fmt.Sprint("from first ", i)
		all.Go(func() {
			var got hitchpost.Session
			got, errs[i] = write(texts[i], "first")
			seen[i] = got.Note
		})
	}
	all.Wait()
	now, err := b.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	wrote := 0
	for i, err := range errs {
		if seen[i] != now.Note {
			t.Errorf("%d was told of the note %q, which is %q", i, seen[i], now.Note)
		}
		if err == nil {
			wrote++
			continue
		}
		wantKind(t, err, hitchpost.ConflictError)
		var e *hitchpost.Error
		if !errors.As(err, &e) || e.Field != "note" {
			t.Errorf("%d: %+v", i, err)
		}
	}
	if wrote != 1 || !slices.Contains(texts, now.Note) {
		t.Errorf("%d have written, the note is %q", wrote, now.Note)
	}
	if _, err := write("", "first"); hitchpost.KindOf(err) != hitchpost.ConflictError {
		t.Errorf("cleared from an old reading: %v", err)
	}
	if got, err := write(now.Note, now.Note); err != nil || got.Note != now.Note {
		t.Errorf("written as it is: %q, %v", got.Note, err)
	}
}
