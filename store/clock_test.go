package store_test

import (
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/store"
)

// What was noted while a clock was hours ahead does not stand there for hours after it was set right.
func TestLastOutputComesBackFromTheFuture(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	id := b.live(t, "work").ID
	now := time.Now().UTC().Truncate(time.Second)
	for _, c := range []struct{ told, kept time.Time }{
		{now.Add(8 * time.Hour), now.Add(8 * time.Hour)},
		{now, now},
		{now.Add(-time.Hour), now}, // as ever
		{now.Add(30 * time.Second), now.Add(30 * time.Second)},
		{now, now.Add(30 * time.Second)}, // two machines' clocks are never quite the same
	} {
		if err := b.Touch(t.Context(), []store.Output{{ID: id, At: c.told}}); err != nil {
			t.Fatal(err)
		}
		if s, err := b.Session(t.Context(), id); err != nil || !s.LastOutputAt.Equal(c.kept) {
			t.Errorf("told %s: kept %s, want %s, %v", c.told, s.LastOutputAt, c.kept, err)
		}
	}
}
