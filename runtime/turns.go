package runtime

import (
	"context"
	"sync"
)

// turns lets those who do something with the same session do it one after the other.
type turns struct {
	mu   sync.Mutex
	held map[string]*turn
}

// turn is a lock that waiting for can be given up.
type turn struct {
	token chan struct{} // full while somebody has it
	users int           // who have it or wait for it
}

func newTurns() *turns { return &turns{held: map[string]*turn{}} }

// take waits for the turn at a session, or for the end of ctx, whose cause is the error then.
func (t *turns) take(ctx context.Context, id string) (release func(), err error) {
	t.mu.Lock()
	one := t.held[id]
	if one == nil {
		one = &turn{token: make(chan struct{}, 1)}
		t.held[id] = one
	}
	one.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(t.held, id)
		}
	}
	select {
	case one.token <- struct{}{}:
		return func() { <-one.token; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
