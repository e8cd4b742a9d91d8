package sshd

import "sync"

// group counts running goroutines so that whoever started them can wait for them. Unlike a sync.WaitGroup it refuses
// new ones once it is waited for, so that nothing starts behind the back of the waiter. The zero value is ready.
type group struct {
	mu     sync.Mutex
	n      int
	closed bool
	empty  chan struct{} // made by a waiter, closed by the last to leave
}

// enter counts one more. It is false, and counts nothing, once the group is waited for.
func (g *group) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.n++
	return true
}

// leave takes one off.
func (g *group) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n--
	if g.n == 0 && g.empty != nil {
		close(g.empty)
		g.empty = nil
	}
}

// wait lets nobody in any more and returns when everybody has left. It may be called more than once.
func (g *group) wait() { <-g.done() }

// done is wait for those who wait for something else too.
func (g *group) done() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	if g.n == 0 {
		over := make(chan struct{})
		close(over)
		return over
	}
	if g.empty == nil {
		g.empty = make(chan struct{})
	}
	return g.empty
}
