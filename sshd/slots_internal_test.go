package sshd

import (
	"fmt"
	"net"
	"testing"
	"time"
)

func TestSlotsDropTheOldestOfTheSameAddress(t *testing.T) {
	t.Parallel()
	s := newSlots(Limits{Connections: 10, ConnectionsPerAddress: 5, Waiting: 4, WaitingPerAddress: 2})
	dropped := make(chan string, 10)
	take := func(name, address string) *slot {
		t.Helper()
		sl := s.take(address, func() { dropped <- name })
		if sl == nil {
			t.Fatalf("no place for %s", name)
		}
		return sl
	}
	take("other", "b")
	a1, a2 := take("a1", "a"), take("a2", "a")
	if !s.loggedIn(a1) {
		t.Fatal("a1 was dropped")
	}
	take("a3", "a")
	take("a4", "a") // a2 goes: a1 has logged in, and b is another address
	if got := <-dropped; got != "a2" {
		t.Errorf("%s was dropped", got)
	}
	if s.loggedIn(a2) {
		t.Error("a dropped connection logged in")
	}
	take("c1", "c")
	take("d1", "d") // five would wait: the oldest of all goes
	if got := <-dropped; got != "other" {
		t.Errorf("%s was dropped", got)
	}
	s.free(a1)
	s.free(a1)
	if s.total != 4 {
		t.Errorf("%d places are taken, want 4", s.total)
	}
}

func TestSlotsHaveALimitForThoseWhoLoggedIn(t *testing.T) {
	t.Parallel()
	s := newSlots(Limits{Connections: 3, ConnectionsPerAddress: 2, Waiting: 9, WaitingPerAddress: 9})
	var taken []*slot
	for range 2 {
		sl := s.take("a", nil)
		s.loggedIn(sl)
		taken = append(taken, sl)
	}
	if s.take("a", nil) != nil {
		t.Error("a third for one address")
	}
	if s.take("b", nil) == nil || s.take("c", nil) != nil {
		t.Error("want one more, and no fourth")
	}
	s.free(taken[0])
	if s.take("c", nil) == nil {
		t.Error("no place after one was freed")
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::",
	} {
		if got := addressOf(&net.TCPAddr{IP: net.ParseIP(ip)}); got != want {
			t.Errorf("%s counts as %s, want %s", ip, got, want)
		}
	}
}

func TestPenaltiesGrowAndAreForgiven(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	p := newPenalties(Limits{Forgiven: 2, Penalty: time.Second, MaxPenalty: 5 * time.Second}, func() time.Time { return now })
	for i, want := range []time.Duration{0, 0, 1, 2, 4, 5, 5} {
		p.failed("a")
		if got := p.delay("a"); got != want*time.Second {
			t.Errorf("after %d failures: %v", i+1, got)
		}
	}
	if got := p.delay("b"); got != 0 {
		t.Errorf("another address: %v", got)
	}
	now = now.Add(3 * forgiveAfter)
	if got := p.delay("a"); got != 2*time.Second {
		t.Errorf("after a while: %v", got)
	}
	now = now.Add(100 * forgiveAfter)
	if got := p.delay("a"); got != 0 || len(p.address) != 0 {
		t.Errorf("after a long while: %v, %d records", got, len(p.address))
	}
}

// The oldest of all waiting connections is the only one of the address that the newest comes from.
func TestSlotsCountAnAddressWhoseOnlyConnectionIsDropped(t *testing.T) {
	t.Parallel()
	const places = 1024
	s := newSlots(Limits{Waiting: places}.withDefaults())
	dropped := make(chan int, places+1)
	taken := make([]*slot, 0, places+1)
	for i := range places {
		taken = append(taken, s.take(fmt.Sprintf("a%d", i), func() { dropped <- i }))
	}
	last := s.take("a0", func() { dropped <- places })
	if got := <-dropped; got != 0 {
		t.Errorf("connection %d was dropped, want the oldest", got)
	}
	if a := s.address["a0"]; a == nil || a.total != 1 || a.waiting != 1 {
		t.Errorf("a0 has %+v, want the one that waits", a)
	}
	for _, sl := range append(taken, last) {
		s.free(sl)
	}
	if s.total != 0 || s.waiting.Len() != 0 || len(s.address) != 0 {
		t.Errorf("%d places, %d waiting, %d addresses are left", s.total, s.waiting.Len(), len(s.address))
	}
}

// With one place for an address each newcomer drops the one before.
func TestSlotsSurviveAnAddressThatComesAgainAndAgain(t *testing.T) {
	t.Parallel()
	s := newSlots(Limits{Connections: 5, ConnectionsPerAddress: 3, Waiting: 9, WaitingPerAddress: 1})
	var taken []*slot
	for range 50 {
		taken = append(taken, s.take("a", func() {}))
	}
	if !s.loggedIn(taken[49]) {
		t.Error("the newest was dropped")
	}
	for _, sl := range taken {
		s.free(sl)
	}
	if s.total != 0 || len(s.address) != 0 {
		t.Errorf("%d places, %d addresses are left", s.total, len(s.address))
	}
}
