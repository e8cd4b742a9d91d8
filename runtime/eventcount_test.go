package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// A follower who wants so many is let go with the last of them.
func TestEventsFollowedToACount(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.exec(`insert into terminal_events (change, source, reason)
		select 'noted', 'person', n::text from generate_series(1, 600) n`)
	var got []string
	see := func(page []hitchpost.Event) error {
		for _, e := range page {
			got = append(got, e.Reason)
		}
		return nil
	}
	q := hitchpost.EventQuery{Count: 550, Since: time.Now().Add(-time.Hour)}
	if err := r.FollowEvents(context.Background(), admin, q, see, nil); err != nil || len(got) != 550 {
		t.Errorf("%d events, %v", len(got), err)
	}
	got = nil
	next := make(chan error, 1)
	go func() { next <- r.FollowEvents(context.Background(), admin, hitchpost.EventQuery{Count: 2}, see, nil) }()
	for i := 0; ; i++ {
		r.append(r.store, "noted", fmt.Sprint("n", i))
		select {
		case err := <-next:
			if err != nil || len(got) != 2 || !strings.HasPrefix(got[0], "n") {
				t.Errorf("%q, %v", got, err)
			}
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}
