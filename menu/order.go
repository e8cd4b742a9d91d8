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

// order sorts sessions as the list shows them. Those that wait longest for an answer come first; lost and failed ones
// follow, the newest first; then the live ones by their last activity, and the rest by when they got there.
func order(sessions []hitchpost.Session, now time.Time) {
	slices.SortFunc(sessions, func(a, b hitchpost.Session) int {
		ra, rb := rank(a.State), rank(b.State)
		if ra != rb {
			return cmp.Compare(ra, rb)
		}
		c := 0
		switch ra {
		case rank(hitchpost.WaitingForInput):
			c = a.StateSince.Compare(b.StateSince)
		case rank(hitchpost.Running):
			c = activity(b, now).Compare(activity(a, now))
		default:
			c = b.StateSince.Compare(a.StateSince)
		}
		return cmp.Or(c, cmp.Compare(a.Handle, b.Handle), cmp.Compare(a.ID, b.ID))
	})
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
