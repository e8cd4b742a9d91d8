package sshd

import (
	"encoding/binary"
	"sync"

	charm "charm.land/ssh"

	"github.com/hitchpost/hitchpost"
)

// sizes is the size of a client's terminal as it changes. Only the latest is kept, so that a client may change it as
// often as it likes while nobody looks.
type sizes struct {
	mu      sync.Mutex
	now     hitchpost.Size
	changed chan hitchpost.Size // holds at most the latest
	windows chan charm.Window   // the same for middleware
}

func newSizes() *sizes {
	return &sizes{changed: make(chan hitchpost.Size, 1), windows: make(chan charm.Window, 1)}
}

// set takes a new size. It never blocks.
func (s *sizes) set(to hitchpost.Size) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = to
	replace(s.changed, to)
	replace(s.windows, charm.Window{Width: to.Cols, Height: to.Rows})
}

// latest is the size now; what was waiting to be told of it is not told any more.
func (s *sizes) latest() hitchpost.Size {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.changed:
	default:
	}
	return s.now
}

// replace puts v in a channel of capacity one, in the place of what is there. Nobody else may send to it meanwhile.
func replace[T any](c chan T, v T) {
	select {
	case <-c:
	default:
	}
	c <- v
}

// maxCells is what a size may be before it is clamped: the wire has 32 bits, an int may have no more.
const maxCells = 1 << 20

// parseSize reads columns and rows from the front of a pty-req's or window-change's payload (RFC 4254 sections 6.2 and
// 6.7).
func parseSize(p []byte) (hitchpost.Size, bool) {
	if len(p) < 16 {
		return hitchpost.Size{}, false
	}
	cols := min(binary.BigEndian.Uint32(p), maxCells)
	rows := min(binary.BigEndian.Uint32(p[4:]), maxCells)
	return hitchpost.Size{Cols: int(cols), Rows: int(rows)}.Clamp(), true
}
