package store_test

import (
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

// Each write that a reader can see gives a session a higher revision, and what the write returns bears it.
func TestRevisionGrows(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.create(t, "work")
	id := s.ID
	var first, second string
	last := s.Revision
	for _, c := range []struct {
		what string
		do   func() (hitchpost.Session, error)
	}{
		{"a change", func() (hitchpost.Session, error) { return b.change(t, id, hitchpost.ChangeStarted), nil }},
		{"the first client", func() (hitchpost.Session, error) { first = b.attach(t, id); return b.Session(t.Context(), id) }},
		{"another client", func() (hitchpost.Session, error) { second = b.attach(t, id); return b.Session(t.Context(), id) }},
		{"a client that leaves", func() (hitchpost.Session, error) { return b.Detach(t.Context(), first, "left") }},
		{"the last client that leaves", func() (hitchpost.Session, error) { return b.Detach(t.Context(), second, "left") }},
		{"another title", func() (hitchpost.Session, error) { return b.Rename(t.Context(), id, "play", store.By{}) }},
		{"output", func() (hitchpost.Session, error) {
			if err := b.Touch(t.Context(), []store.Output{{ID: id, At: time.Now()}}); err != nil {
				return hitchpost.Session{}, err
			}
			return b.Session(t.Context(), id)
		}},
		{"a branch", func() (hitchpost.Session, error) {
			if err := b.SetPlace(t.Context(), []store.Place{{ID: id, Repo: "r", Branch: "b"}}); err != nil {
				return hitchpost.Session{}, err
			}
			return b.Session(t.Context(), id)
		}},
		{"clients dropped", func() (hitchpost.Session, error) {
			b.attach(t, id)
			was, err := b.Session(t.Context(), id)
			if err != nil {
				return was, err
			}
			last = was.Revision
			if err := b.DropAttachments(t.Context(), b.node.ID); err != nil {
				return was, err
			}
			return b.Session(t.Context(), id)
		}},
	} {
		got, err := c.do()
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if got.Revision <= last {
			t.Errorf("%s: revision %d after %d", c.what, got.Revision, last)
		}
		last = got.Revision
		if now, err := b.Session(t.Context(), id); err != nil || now.Revision != last {
			t.Errorf("%s: returned revision %d, and kept is %d, %v", c.what, last, now.Revision, err)
		}
	}
}
