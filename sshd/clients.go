package sshd

import "sync"

// maxClients is how many ids of clients are remembered.
const maxClients = 1024

// clients remembers the ids (HITCHPOST_CLIENT) of those that have attached, so that a client that comes back after a
// drop is known to have an earlier replay in its terminal. The oldest is forgotten for a new one.
type clients struct {
	mu    sync.Mutex
	known map[string]struct{}
	order []string
}

// saw notes that a client has attached. The empty id stands for none.
func (c *clients) saw(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.known[id]; ok || id == "" {
		return
	}
	if c.known == nil {
		c.known = map[string]struct{}{}
	}
	if len(c.order) >= maxClients {
		delete(c.known, c.order[0])
		c.order = c.order[1:]
	}
	c.known[id] = struct{}{}
	c.order = append(c.order, id)
}

// seen tells whether a client has attached before.
func (c *clients) seen(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.known[id]
	return ok
}
