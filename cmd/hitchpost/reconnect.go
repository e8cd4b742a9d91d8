package main

import (
	"math/rand/v2"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
)

// sshEnd is how one run of ssh ended.
type sshEnd struct {
	status int            // exit status; 255 also where ssh was killed
	asked  syscall.Signal // a signal that came for this program and was handed on; 0: none
	seen   bool           // a session was open on the terminal
	slept  bool           // ended by us because the machine has slept too long for the server to have waited
	lasted time.Duration  // since the session was seen
	said   string         // what ssh said last, where it was kept from the screen
}

// sshFailed is how ssh itself fails, connection lost included; ssh(1), EXIT STATUS.
const sshFailed = 255

// verdict tells whether connect is over after end, and with which exit status. Without a session so far, what ssh
// complains of is for the person to mend: the host's name, its key, their own key.
func verdict(end sshEnd, been bool) (status int, over bool) {
	switch {
	case end.asked != 0:
		return 128 + int(end.asked), true
	case end.status == hitchpost.UnavailableError.ExitStatus():
		return 0, false
	case end.status == sshFailed:
		return sshFailed, !been
	}
	return end.status, true
}

// The shortest and longest wait between two tries.
const (
	shortestWait = 500 * time.Millisecond
	longestWait  = 10 * time.Second
)

// backoff doubles the wait with each try. The zero value is the start.
type backoff struct{ tries int }

// next is the next wait: anything between half of what it has grown to and all of it, so that clients that lost the
// same server do not all come back in the same moment.
func (b *backoff) next() time.Duration {
	grown := longestWait
	if b.tries < 4 { // 1, 2, 4, 8 s
		grown = 2 * shortestWait << b.tries
		b.tries++
	}
	return grown/2 + rand.N(grown/2+1) //nolint:gosec // nobody gains by guessing it
}

// moment is one point in time by three clocks: the one on the wall, which may be set at any time; the one that nobody
// sets and that stands still while the machine sleeps; and the one that nobody sets and that goes on.
type moment struct {
	wall        time.Time
	awake, boot time.Duration
}

// clock reads the clocks; the second counts from start.
func clock(start time.Time) func() moment {
	return func() moment {
		now := time.Now()
		m := moment{wall: now.Round(0), awake: now.Sub(start)}
		var ts unix.Timespec
		if err := unix.ClockGettime(bootClock, &ts); err == nil {
			m.boot = time.Duration(ts.Nano())
		} else {
			m.boot = m.awake // no sleep is noticed
		}
		return m
	}
}

// passed is the time between two moments, what the machine slept included.
func passed(from, to moment) time.Duration { return to.boot - from.boot }

// asleep is how long the machine slept between two moments.
func asleep(from, to moment) time.Duration { return passed(from, to) - (to.awake - from.awake) }

const (
	// wakeJump is a sleep long enough to be none of a busy machine's delays.
	wakeJump = 2 * time.Second
	// deadAfter is how long a server waits for a silent client before it frees it. A connection that slept for longer
	// is over; ssh would take up to as long again to find out.
	deadAfter = 45 * time.Second
)
