package tmux

import (
	"sync"
	"time"
)

// heldLimit bounds what is kept for a view while its replay is on its way. A redraw is far smaller; when a session
// prints more than that meanwhile, tmux is left waiting and draws the screen anew afterwards, as for any slow terminal.
const heldLimit = 2 << 20

// held keeps what a live source gives while nobody reads it. Unread, tmux would soon drop the first screen, and with
// it what belongs between history and later lines.
type held struct {
	src  live
	done chan struct{} // closed when the goroutine ended; the rest is then the reader's alone

	end  sync.Once
	kept []byte
}

func holdFrom(src live) *held {
	h := &held{src: src, done: make(chan struct{})}
	go h.keep()
	return h
}

func (h *held) keep() {
	defer close(h.done)
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	for len(h.kept) < heldLimit {
		n, err := h.src.Read(*buf)
		h.kept = append(h.kept, (*buf)[:n]...)
		if err != nil {
			return // the deadline of stop, or the end, which comes again
		}
	}
}

// stop ends the keeping and waits for it.
func (h *held) stop() {
	h.end.Do(func() {
		_ = h.src.SetReadDeadline(time.Unix(1, 0)) // fails only for a closed source, whose read ended
		<-h.done
		_ = h.src.SetReadDeadline(time.Time{})
	})
}

// read ends the keeping and gives out what was kept; 0 when nothing is left.
func (h *held) read(p []byte) int {
	h.stop()
	n := copy(p, h.kept)
	if h.kept = h.kept[n:]; len(h.kept) == 0 {
		h.kept = nil // it can be megabytes
	}
	return n
}
