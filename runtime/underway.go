package runtime

import "sync"

// underway is the sessions whose start or stop this service is carrying out. It knows so itself, and asks no clock: a
// lease is for those who come after a service that died, and would run out at once where a clock is set or the machine
// was asleep. The zero value is ready.
type underway struct {
	mu sync.Mutex
	of map[string]int // how many, by session id
}

// begin notes that one begins, before the store can know of it. end is to be called once, after the store was told of
// the outcome.
func (u *underway) begin(id string) (end func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.of == nil {
		u.of = map[string]int{}
	}
	u.of[id]++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.of[id]--; u.of[id] == 0 {
			delete(u.of, id)
		}
	}
}

func (u *underway) has(id string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.of[id] > 0
}
