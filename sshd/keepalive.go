package sshd

import (
	"time"

	"github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// silences is how many intervals in a row a client may be silent before it counts as gone.
const silences = 3

// keepAlive asks a silent client whether it is there, and ends the connection of one that does not answer. Whatever
// comes from the client is an answer, and a client that is heard is not asked. It counts intervals that it has waited
// through, not hours on a clock, so that a server that was itself stopped for a while asks again before it acts.
func (c *connection) keepAlive() {
	interval := c.srv.cfg.Limits.KeepAlive
	timer := time.NewTimer(interval)
	defer timer.Stop()
	heard, silent := c.net.heard.Load(), 0
	for {
		select {
		case <-c.net.gone:
			return
		case <-timer.C:
		}
		// An answer can be a little older than the interval by the time that this is looked at.
		if now := c.net.heard.Load(); now != heard {
			heard, silent = now, 0
		}
		if quiet := c.net.silence(); quiet < interval {
			timer.Reset(interval - quiet)
			continue
		}
		if silent++; silent >= silences {
			c.log.Info("client does not answer")
			c.cancel(errGone)
			return
		}
		c.probe()
		timer.Reset(interval)
	}
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
