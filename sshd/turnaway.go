package sshd

import (
	"log/slog"
	"sync"
	"time"
)

// turnAway ends a connection that there is no place for. Text before the version line is for people (RFC 4253 section
// 4.2), and fits in the empty buffer of a new connection.
func (c *connection) turnAway() {
	c.srv.turned.tell(c.log, time.Now())
	_, _ = c.net.Write([]byte(noPlace))
	c.cancel(errGone)
	c.net.Close()
	if c.slot != nil {
		c.srv.slots.free(c.slot)
	}
}

// turnedEvery is how often the log tells of connections that were turned away, however many there are.
const turnedEvery = time.Minute

// turned counts the connections that were turned away: a flood of them must not become one of the log.
type turned struct {
	mu     sync.Mutex
	told   time.Time // when the log told of one last
	untold int
}

// tell logs the first one, and of those that follow one a minute with the number of those between.
func (t *turned) tell(log *slog.Logger, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.told.IsZero() && now.Sub(t.told) < turnedEvery {
		t.untold++
		return
	}
	log.Warn("connection turned away", "others", t.untold)
	t.told, t.untold = now, 0
}
