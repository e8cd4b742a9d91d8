package sshd

import (
	"sync"
	"sync/atomic"
	"time"
)

// stallSteps is in how many steps a limit is measured: a stall is noticed at the latest one step after the limit.
const stallSteps = 6

// stallWatch notices a client that takes no output: a write that does not end within the limit. Where the network is
// slow but moves, and the client's kernel takes bytes as they come, that is not the client's fault and the watch goes
// on. A write costs it two additions; the rest happens in a timer that runs only while there is output.
type stallWatch struct {
	step    time.Duration
	sending func() (taken uint64, more, known bool)
	stalled chan<- struct{} // has room for one token

	writes atomic.Uint64 // odd while a write is under way
	armed  atomic.Bool

	mu     sync.Mutex // guards the rest
	timer  *time.Timer
	ended  bool
	seen   uint64 // the write that was under way at the last step
	taken  uint64
	strike int
}

func newStallWatch(limit time.Duration, sending func() (uint64, bool, bool), stalled chan<- struct{}) *stallWatch {
	return &stallWatch{step: limit / stallSteps, sending: sending, stalled: stalled}
}

// begin is to be called before a write, end after it.
func (w *stallWatch) begin() {
	w.writes.Add(1)
	if !w.armed.Load() && w.armed.CompareAndSwap(false, true) {
		w.arm()
	}
}

func (w *stallWatch) end() { w.writes.Add(1) }

func (w *stallWatch) arm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.ended:
	case w.timer == nil:
		w.timer = time.AfterFunc(w.step, w.look)
	default:
		w.timer.Reset(w.step)
	}
}

// look is one step.
func (w *stallWatch) look() {
	w.mu.Lock()
	now := w.writes.Load()
	again := now%2 == 1
	if again {
		again = !w.strikes(now)
	}
	w.mu.Unlock()
	if again {
		w.arm()
		return
	}
	// A write that begins between the look and the next line finds the watch armed, so look once more.
	w.armed.Store(false)
	if w.writes.Load() != now && w.writes.Load()%2 == 1 && w.armed.CompareAndSwap(false, true) {
		w.arm()
	}
}

// strikes counts a step against the write that is under way, and tells whether the limit is reached.
func (w *stallWatch) strikes(write uint64) bool {
	taken, more, known := w.sending()
	moves := known && more && taken != w.taken
	w.taken = taken
	if write != w.seen || moves {
		w.seen, w.strike = write, 0
		return false
	}
	if w.strike++; w.strike < stallSteps {
		return false
	}
	select {
	case w.stalled <- struct{}{}:
	default:
	}
	return true
}

// stop ends the watch.
func (w *stallWatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
