package runtime

import (
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
)

// tally bounds how many events of one sort are written down. Of each minute it lets the first few through, of one
// origin and in all, and counts the rest. Its memory is bounded by what it lets through.
type tally struct {
	each, all int // let through in a minute, of one origin and in all

	mu      sync.Mutex
	origins map[string]*counted // those of which one was let through
	through int
	rest    int // of other origins, after there were all
}

// counted is what was left out of one origin.
type counted struct {
	first   hitchpost.Event
	through int
	more    int
	last    time.Time // of the latest, let through or not
}

func newTally(each, all int) *tally {
	return &tally{each: each, all: all, origins: map[string]*counted{}}
}

// admit reports whether an event, which has its time, is to be written down.
func (t *tally) admit(origin string, e hitchpost.Event) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.origins[origin]
	if c == nil {
		if t.through >= t.all {
			t.rest++
			return false
		}
		c = &counted{first: e}
		t.origins[origin] = c
	}
	c.last = e.At
	if c.through >= t.each || t.through >= t.all {
		c.more++
		return false
	}
	c.through++
	t.through++
	return true
}

// turn ends the minute: it returns what was left out, by origin, and how much of others, and begins anew.
func (t *tally) turn() (left []counted, rest int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.origins {
		if c.more > 0 {
			left = append(left, *c)
		}
	}
	rest = t.rest
	t.origins, t.through, t.rest = map[string]*counted{}, 0, 0
	return left, rest
}
