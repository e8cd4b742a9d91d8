package runtime

import (
	"slices"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// Waiting is how many wait for the session with that id.
func (s *Service) Waiting(id string) int {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	return len(s.board.trails[id])
}

func TestTrailMissesNoState(t *testing.T) {
	t.Parallel()
	b := newBoard(time.Now())
	at := func(revision int64, state hitchpost.State) hitchpost.Session {
		return hitchpost.Session{ID: "a", Revision: revision, State: state}
	}
	b.put(at(1, hitchpost.Starting))
	tr, other := b.trail("a"), b.trail("b")
	took := func() (all []hitchpost.State, left bool) {
		t.Helper()
		select {
		case <-tr.wake:
		default:
			t.Error("nobody was woken")
		}
		seen, left := tr.take()
		for _, s := range seen {
			all = append(all, s.State)
		}
		return all, left
	}
	b.put(at(2, hitchpost.Detached))
	b.put(at(3, hitchpost.Running))
	b.put(at(4, hitchpost.Running))
	b.put(at(6, hitchpost.Detached))
	b.put(at(5, hitchpost.WaitingForInput)) // came late
	want := []hitchpost.State{hitchpost.Detached, hitchpost.Running, hitchpost.Detached, hitchpost.WaitingForInput}
	if got, left := took(); !slices.Equal(got, want) || left {
		t.Errorf("%v, %v, want %v", got, left, want)
	}
	if now, _ := b.get("a"); now.State != hitchpost.Detached {
		t.Errorf("on the board: %+v", now)
	}
	b.replace(b.mark(), []hitchpost.Session{at(7, hitchpost.Stopped)}, nil)
	if got, left := took(); !slices.Equal(got, []hitchpost.State{hitchpost.Stopped}) || left {
		t.Errorf("%v, %v", got, left)
	}
	b.replace(b.mark(), nil, nil)
	if got, left := took(); len(got) != 0 || !left {
		t.Errorf("%v, %v", got, left)
	}
	closed := at(8, hitchpost.Stopped)
	closed.ClosedAt = time.Now()
	b.put(closed)
	if seen, _ := tr.take(); len(seen) != 1 || seen[0].Open() {
		t.Errorf("%+v", seen)
	}
	tr.stop()
	b.put(at(9, hitchpost.Running))
	if seen, _ := tr.take(); len(seen) > 0 {
		t.Errorf("after stop: %+v", seen)
	}
	if seen, left := other.take(); len(seen) > 0 || !left { // it never was on the board, as a replace tells
		t.Errorf("another session's: %+v, %v", seen, left)
	}
	other.stop()
	if len(b.trails) != 0 {
		t.Errorf("left: %v", b.trails)
	}
}
