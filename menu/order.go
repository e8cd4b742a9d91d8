package menu

import (
	"cmp"
	"slices"
	"time"

	"github.com/hitchpost/hitchpost"
)

// rank is the place of a state in the list: what needs a person comes first.
func rank(s hitchpost.State) int {
	switch s {
	case hitchpost.WaitingForInput:
		return 0
	case hitchpost.Recoverable:
		return 1
	case hitchpost.Failed:
		return 2
	case hitchpost.Running, hitchpost.Detached:
		return 3
	case hitchpost.Starting, hitchpost.Stopping:
		return 4
	default:
		return 5
	}
}

// needsPerson reports whether the session waits for somebody to act.
func needsPerson(s hitchpost.State) bool { return rank(s) <= rank(hitchpost.Failed) }

// order is the sessions as the list shows them. Those that wait longest for an answer come first; lost and failed ones
// follow, the newest first; then the live ones by their last activity, and the rest by when they got there.
func order(sessions []hitchpost.Session, now time.Time) []hitchpost.Session {
	type place struct { // a session is large: its place is sorted in its stead
		rank  int
		since time.Duration // before now; what is longer ago comes later
		of    int
	}
	places := make([]place, len(sessions))
	for i, s := range sessions {
		p := place{rank: rank(s.State), since: now.Sub(s.StateSince), of: i}
		switch p.rank {
		case rank(hitchpost.WaitingForInput):
			p.since = -p.since
		case rank(hitchpost.Running):
			p.since = now.Sub(activity(s, now))
		}
		places[i] = p
	}
	slices.SortFunc(places, func(a, b place) int {
		if c := cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.since, b.since)); c != 0 {
			return c
		}
		x, y := &sessions[a.of], &sessions[b.of]
		return cmp.Or(cmp.Compare(x.Handle, y.Handle), cmp.Compare(x.ID, y.ID))
	})
	sorted := make([]hitchpost.Session, len(sessions))
	for i, p := range places {
		sorted[i] = sessions[p.of]
	}
	return sorted
}

// activity is when a session last did something. What lies within the last minute counts as now: sessions that print
// all the time would change places with each line, under the finger of the person who is about to choose one.
func activity(s hitchpost.Session, now time.Time) time.Time {
	last := s.CreatedAt
	for _, t := range []time.Time{s.LastOutputAt, s.LastAttachedAt, s.StartedAt} {
		if t.After(last) {
			last = t
		}
	}
	if now.Sub(last) < time.Minute {
		return now
	}
	return last
}
