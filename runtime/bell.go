package runtime

import "sync"

// bell wakes all who wait, however many they are and whatever they do meanwhile: it waits for none of them.
type bell struct {
	mu   sync.Mutex
	rung chan struct{} // closed and replaced at each ring
}

func newBell() *bell { return &bell{rung: make(chan struct{})} }

// next returns a channel that is closed at the next ring after the call.
func (b *bell) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rung
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.rung)
	b.rung = make(chan struct{})
}
