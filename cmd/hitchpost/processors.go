package main

import (
	goruntime "runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// pace is how many processors Go runs on. With one, the echo of a key costs half of what it costs with two: each wake-up
// on the way from the network to the terminal and back makes Go start a further thread that looks for work, on the very
// processor that tmux waits for. With more, there is room for many people at once. So it starts with one and grows with
// the work.
type pace struct {
	now, most int
	quiet     int // looks in a row with little to do
}

const (
	paceEvery = 250 * time.Millisecond
	paceBusy  = 0.6 // of a processor, for each that is in use: from there on there are twice as many
	paceIdle  = 0.2 // the same: below it there are half as many, after some time
	paceQuiet = 8   // looks
)

// next is the number of processors after a time in which used of them were.
func (p *pace) next(used float64) int {
	switch share := used / float64(p.now); {
	case share > paceBusy:
		p.now, p.quiet = min(2*p.now, p.most), 0
	case share > paceIdle:
		p.quiet = 0
	default:
		if p.quiet++; p.quiet >= paceQuiet {
			p.now, p.quiet = max(p.now/2, 1), 0
		}
	}
	return p.now
}

// fitProcessors fits the number of processors to the work until the returned function is called, which brings back the
// number that there was.
func fitProcessors() (stop func()) {
	p := pace{now: 1, most: goruntime.GOMAXPROCS(1)}
	done := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		tick := time.NewTicker(paceEvery)
		defer tick.Stop()
		at, used := time.Now(), processorTime()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			now, total := time.Now(), processorTime()
			before := p.now
			if p.next(float64(total-used)/float64(now.Sub(at))) != before {
				goruntime.GOMAXPROCS(p.now) // stops all for some microseconds, so only for a change
			}
			at, used = now, total
		}
	})
	return func() {
		close(done)
		work.Wait()
		goruntime.GOMAXPROCS(p.most)
	}
}

// processorTime is what this process has used so far; getrusage(2).
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
