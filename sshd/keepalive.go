package sshd

import (
	"time"

	"github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// silences is how many intervals in a row a client may be silent before it counts as gone.
const silences = 3

// keepAlive asks a silent client whether it is there, and ends the connection of one that does not answer. Whatever
// comes from the client is an answer, and a client that is heard is not asked.
func (c *connection) keepAlive() {
	interval := c.srv.cfg.Limits.KeepAlive
	wait := interval
	timer := time.NewTimer(wait)
	defer timer.Stop()
	quiet := silence{heard: c.net.heard.Load()}
	for {
		begin := time.Now()
		select {
		case <-c.net.gone:
			return
		case <-timer.C:
		}
		// An answer can be a little older than the interval by the time that this is looked at.
		if since := c.net.silence(); since < interval {
			wait = interval - since
			timer.Reset(wait)
			continue
		}
		if quiet.passed(c.net.heard.Load(), time.Since(begin)-wait > late(interval)) {
			c.log.Info("client does not answer")
			c.cancel(errGone)
			return
		}
		c.probe()
		wait = interval
		timer.Reset(wait)
	}
}

// late is by how much a wait of one interval may be overdue before it means that this process stood still meanwhile.
func late(interval time.Duration) time.Duration { return interval / 3 }

// silence counts the intervals through which a client was silent while this server listened, not hours on a clock: a
// server that was stopped or starved for a while has not yet read what came meanwhile, and asks again before it acts.
// (While the machine itself sleeps, the clock behind timers stands still too.)
type silence struct {
	heard  int64 // the client's last sign of life, when last looked at
	silent int
}

// passed is told after each interval of silence when the client was last heard, and whether the interval was overdue. It
// is true where the client has been silent for too many of them.
func (s *silence) passed(heard int64, overdue bool) bool {
	if heard != s.heard {
		s.heard, s.silent = heard, 0
	}
	if !overdue {
		s.silent++
	}
	return s.silent >= silences
}

// probe sends a question that every client must answer, if only with a failure (RFC 4254 section 4). Only one is on
// its way at a time: the network sends it again until it arrives.
func (c *connection) probe() {
	conn, ok := c.front.Value(ssh.ContextKeyConn).(*gossh.ServerConn)
	if !ok || !c.probing.CompareAndSwap(false, true) {
		return
	}
	if !c.others.enter() {
		return
	}
	go func() {
		defer c.others.leave()
		defer c.probing.Store(false)
		_, _, _ = conn.SendRequest("keepalive@openssh.com", true, nil)
	}()
}
