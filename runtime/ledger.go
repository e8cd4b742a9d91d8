package runtime

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
)

// ledgerLimit bounds what waits for an absent database; beyond it the oldest entries are dropped, with a log line.
// ledgerMinor bounds the part of it that strangers can cause, so that they push out nothing else; beyond it new ones are
// dropped.
const (
	ledgerLimit = 10_000
	ledgerMinor = 1000
)

// ledger writes down what has already happened, in order and off the path of the person it happened to: attaches,
// detaches, logins, refusals. While the database is away entries wait; nobody is held up by them.
type ledger struct {
	log   *slog.Logger
	pause time.Duration // between tries while the database is away

	mu      sync.Mutex
	entries []entry
	minor   int // how many of them are
	wake    chan struct{}
}

// entry is one thing to write down. write is called again after an error of kind UnavailableError, and once otherwise.
type entry struct {
	what  string // for the log
	write func(context.Context) error
	minor bool
}

func newLedger(log *slog.Logger) *ledger {
	return &ledger{log: log, pause: time.Second, wake: make(chan struct{}, 1)}
}

// add never blocks.
func (l *ledger) add(what string, write func(context.Context) error) {
	l.put(entry{what: what, write: write})
}

// addMinor is add for what may be dropped sooner than all else. It never blocks.
func (l *ledger) addMinor(what string, write func(context.Context) error) {
	l.put(entry{what: what, write: write, minor: true})
}

func (l *ledger) put(e entry) {
	l.mu.Lock()
	if e.minor && l.minor >= ledgerMinor {
		l.mu.Unlock()
		l.log.Warn("ledger holds enough of these, entry dropped", "entry", e.what)
		return
	}
	if len(l.entries) >= ledgerLimit {
		l.log.Error("ledger full, oldest entry dropped", "entry", l.entries[0].what)
		l.takeFirst()
	}
	l.entries = append(l.entries, e)
	l.count(e, 1)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run writes entries until ctx ends, then tries once more to write what is left, within a limit.
func (l *ledger) run(ctx context.Context) {
	for ctx.Err() == nil {
		if l.writeAll(ctx) {
			select {
			case <-l.wake:
			case <-ctx.Done():
			}
			continue
		}
		select {
		case <-time.After(l.pause):
		case <-ctx.Done():
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	if !l.writeAll(last) {
		l.log.Error("ledger not written to its end", "entries", len(l.entries))
	}
}

// writeAll reports whether nothing is left. Only run calls it.
func (l *ledger) writeAll(ctx context.Context) bool {
	for {
		e, ok := l.take()
		if !ok {
			return true
		}
		err := e.write(ctx)
		if err != nil && (ctx.Err() != nil || hitchpost.KindOf(err) == hitchpost.UnavailableError) {
			l.putBack(e)
			return false
		}
		if err != nil {
			l.log.Error("ledger entry not written", "entry", e.what, "err", err)
		}
	}
}

func (l *ledger) take() (entry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) == 0 {
		return entry{}, false
	}
	return l.takeFirst(), true
}

// takeFirst removes the oldest entry; the lock is held.
func (l *ledger) takeFirst() entry {
	e := l.entries[0]
	l.entries = l.entries[1:]
	l.count(e, -1)
	return e
}

// count keeps minor true; the lock is held.
func (l *ledger) count(e entry, n int) {
	if e.minor {
		l.minor += n
	}
}

func (l *ledger) putBack(e entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append([]entry{e}, l.entries...)
	l.count(e, 1)
}
