package runtime

import "github.com/hitchpost/hitchpost"

// trail is told of every reading of one session that reaches the board, also of those that were overtaken by a newer
// one before anybody looked: a state that lasted for a moment is not missed.
type trail struct {
	b    *board
	id   string
	wake chan struct{} // holds one

	// Guarded by b.mu.
	seen []hitchpost.Session // since the last take, in the order in which they came
	left bool                // it left the board, and no reading tells how
}

// trail has what the board learns of a session from now on put on a trail, until stop.
func (b *board) trail(id string) *trail {
	f := &trail{b: b, id: id, wake: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.trails[id] == nil {
		b.trails[id] = map[*trail]bool{}
	}
	b.trails[id][f] = true
	return f
}

func (f *trail) stop() {
	f.b.mu.Lock()
	defer f.b.mu.Unlock()
	delete(f.b.trails[f.id], f)
	if len(f.b.trails[f.id]) == 0 {
		delete(f.b.trails, f.id)
	}
}

// take returns what was told since the last take.
func (f *trail) take() (seen []hitchpost.Session, left bool) {
	f.b.mu.Lock()
	defer f.b.mu.Unlock()
	seen, left = f.seen, f.left
	f.seen, f.left = nil, false
	return seen, left
}

// tell is called with a reading of a session, with the lock held.
func (b *board) tell(s hitchpost.Session) {
	for f := range b.trails[s.ID] {
		if n := len(f.seen); n > 0 && sameStand(f.seen[n-1], s) {
			f.seen[n-1] = s
		} else {
			f.seen = append(f.seen, s)
		}
		f.nudge()
	}
}

// tellLeft is called when a session is on the board no more, with the lock held.
func (b *board) tellLeft(id string) {
	for f := range b.trails[id] {
		f.left = true
		f.nudge()
	}
}

func (f *trail) nudge() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// sameStand reports whether two readings of a session are of one run in one state.
func sameStand(a, b hitchpost.Session) bool {
	return a.State == b.State && a.Restarts == b.Restarts && a.Open() == b.Open()
}
