package sshd

import (
	"container/list"
	"net"
	"sync"
)

// slots counts connections, in total and for each address. Connections that have not logged in yet are held in the
// order of their arrival: where there are too many the oldest goes, so that clients who connect and say nothing
// cannot keep others out.
type slots struct {
	limits Limits

	mu      sync.Mutex
	total   int
	address map[string]*addressSlots
	waiting *list.List // of *slot, the oldest first
}

type addressSlots struct {
	total   int
	waiting int
}

// slot is the place that one connection takes. Its fields belong to the slots it is from.
type slot struct {
	address string
	drop    func()        // ends the connection
	waiting *list.Element // nil once logged in
	freed   bool
}

func newSlots(l Limits) *slots {
	return &slots{limits: l, address: map[string]*addressSlots{}, waiting: list.New()}
}

// take gives a place to a connection from address, or nil where every place is taken. drop is called, from another
// goroutine and at most once, when the place is needed for a newer connection.
func (s *slots) take(address string, drop func()) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Dropping comes first: it takes an address off the map together with its last slot.
	if a := s.address[address]; a != nil && a.waiting >= s.limits.WaitingPerAddress {
		s.dropOldest(address)
	} else if s.waiting.Len() >= s.limits.Waiting {
		s.dropOldest("")
	}
	a := s.address[address]
	if a == nil {
		a = &addressSlots{}
	}
	if s.total >= s.limits.Connections || a.total >= s.limits.ConnectionsPerAddress {
		return nil
	}
	s.address[address] = a
	sl := &slot{address: address, drop: drop}
	sl.waiting = s.waiting.PushBack(sl)
	s.total++
	a.total++
	a.waiting++
	return sl
}

// dropOldest frees the place of the connection that has waited longest, of those from address unless that is empty.
func (s *slots) dropOldest(address string) {
	for e := s.waiting.Front(); e != nil; e = e.Next() {
		if sl := e.Value.(*slot); address == "" || sl.address == address {
			s.freeLocked(sl)
			go sl.drop()
			return
		}
	}
}

// loggedIn takes the connection out of those that can be dropped. It is false where that has happened already.
func (s *slots) loggedIn(sl *slot) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sl.freed {
		return false
	}
	s.stopWaiting(sl)
	return true
}

// free gives the place back. It may be called more than once.
func (s *slots) free(sl *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freeLocked(sl)
}

func (s *slots) freeLocked(sl *slot) {
	if sl.freed {
		return
	}
	sl.freed = true
	s.stopWaiting(sl)
	s.total--
	a := s.address[sl.address]
	if a.total--; a.total == 0 {
		delete(s.address, sl.address)
	}
}

func (s *slots) stopWaiting(sl *slot) {
	if sl.waiting == nil {
		return
	}
	s.waiting.Remove(sl.waiting)
	sl.waiting = nil
	s.address[sl.address].waiting--
}

// addressOf is the part of a client's address that limits count by: the IP address, or its /64 network for IPv6,
// where one client has as many addresses as it likes.
func addressOf(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return a.Network()
	}
	if ip4 := tcp.IP.To4(); ip4 != nil {
		return ip4.String()
	}
	return tcp.IP.Mask(net.CIDRMask(64, 128)).String()
}
