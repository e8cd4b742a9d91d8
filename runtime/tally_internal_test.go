package runtime

import (
	"fmt"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

func TestTally(t *testing.T) {
	t.Parallel()
	tl := newTally(2, 5)
	at := time.Unix(0, 0)
	admit := func(origin string) bool {
		at = at.Add(time.Second)
		return tl.admit(origin, hitchpost.Event{Reason: origin, At: at})
	}
	var got []string
	for _, origin := range []string{"a", "a", "a", "b", "a", "b", "c", "d", "c", "e", "e"} {
		if admit(origin) {
			got = append(got, origin)
		}
	}
	if want := "[a a b b c]"; fmt.Sprint(got) != want {
		t.Errorf("let through %v, want %s", got, want)
	}
	left, rest := tl.turn()
	if rest != 3 { // d, e, e
		t.Errorf("%d of others", rest)
	}
	more := map[string]int{}
	for _, c := range left {
		more[c.first.Reason] = c.more
		if c.first.Reason == "a" && (!c.first.At.Equal(time.Unix(1, 0)) || !c.last.Equal(time.Unix(5, 0))) {
			t.Errorf("first %v, last %v", c.first.At, c.last)
		}
	}
	if fmt.Sprint(more) != "map[a:2 c:1]" {
		t.Errorf("left out %v", more)
	}
	if left, rest := tl.turn(); len(left) != 0 || rest != 0 {
		t.Errorf("a minute later %v and %d", left, rest)
	}
	if !admit("e") {
		t.Error("not let through a minute later")
	}
}

// However many strangers come, their tally holds no more than it lets through.
func TestTallyIsBounded(t *testing.T) {
	t.Parallel()
	tl := newTally(refusalsEach, refusalsAll)
	through := 0
	for i := range 100_000 {
		if tl.admit(fmt.Sprint(i%50_000), hitchpost.Event{}) {
			through++
		}
	}
	if through != refusalsAll || len(tl.origins) > refusalsAll {
		t.Errorf("%d let through, %d origins kept", through, len(tl.origins))
	}
	left, rest := tl.turn()
	for _, c := range left {
		rest += c.more
	}
	if rest != 100_000-refusalsAll {
		t.Errorf("%d counted", rest)
	}
}
