package sshd

import (
	"sync"

	charm "charm.land/ssh"
)

// maxSignals is how many signals wait for somebody who takes them; later ones are dropped.
const maxSignals = 16

// signals passes on the signals that a client sends. It never blocks the client's other requests.
type signals struct {
	mu      sync.Mutex
	to      chan<- charm.Signal
	waiting []charm.Signal
}

// register makes c the one who takes signals, those that wait first; nil: nobody. What c cannot hold is dropped.
func (s *signals) register(c chan<- charm.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = c
	if c == nil {
		return
	}
	for _, sig := range s.waiting {
		offer(c, sig)
	}
	s.waiting = nil
}

// send passes on one signal.
func (s *signals) send(sig charm.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.to != nil:
		offer(s.to, sig)
	case len(s.waiting) < maxSignals:
		s.waiting = append(s.waiting, sig)
	}
}

func offer(c chan<- charm.Signal, sig charm.Signal) {
	select {
	case c <- sig:
	default:
	}
}
