package sshd

import (
	"sync"
	"time"
)

// penalties makes failed logins from one address slower and slower. A penalty delays the refusal of a login, once for
// each connection, and never a login that succeeds: behind one address there can be a colleague, a tunnel or a whole
// office, and the owner of a good key must not pay for a neighbour.
type penalties struct {
	limits Limits
	now    func() time.Time

	mu      sync.Mutex
	address map[string]*record
}

// record is what is held against an address.
type record struct {
	failures int
	since    time.Time // one failure is forgiven for each forgiveAfter from here
}

const (
	forgiveAfter = 30 * time.Second
	maxRecords   = 10_000
)

func newPenalties(l Limits, now func() time.Time) *penalties {
	return &penalties{limits: l, now: now, address: map[string]*record{}}
}

// failed notes one connection that ended without a login.
func (p *penalties) failed(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.current(address)
	if r == nil {
		if len(p.address) >= maxRecords {
			p.prune()
		}
		r = &record{since: p.now()}
		p.address[address] = r
	}
	r.failures++
}

// delay is how long to wait before a login from address is refused.
func (p *penalties) delay(address string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.current(address)
	if r == nil || r.failures <= p.limits.Forgiven {
		return 0
	}
	d := p.limits.Penalty
	for range r.failures - p.limits.Forgiven - 1 {
		if d *= 2; d >= p.limits.MaxPenalty {
			return p.limits.MaxPenalty
		}
	}
	return d
}

// current is the record of address with what has been forgiven taken off, or nil where nothing is left.
func (p *penalties) current(address string) *record {
	r := p.address[address]
	if r == nil {
		return nil
	}
	forgiven := int(p.now().Sub(r.since) / forgiveAfter)
	if forgiven > 0 {
		r.failures -= forgiven
		r.since = r.since.Add(time.Duration(forgiven) * forgiveAfter)
	}
	if r.failures <= 0 {
		delete(p.address, address)
		return nil
	}
	return r
}

// prune makes room: what is forgiven goes, and where that is nothing, everything does.
func (p *penalties) prune() {
	for a := range p.address {
		p.current(a)
	}
	if len(p.address) >= maxRecords {
		clear(p.address)
	}
}
