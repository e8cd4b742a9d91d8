package sshd

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// netConn is a client's network connection as the SSH library sees it. It adds four things: a limit to the handshake
// that the library cannot lift, a small buffer under the version line, quick acknowledgements until a session runs,
// and the time at which the client was last heard.
type netConn struct {
	net.Conn
	start time.Time    // what heard counts from
	heard atomic.Int64 // nanoseconds since start
	quick atomic.Bool  // acknowledge at once
	ahead []byte       // read but not yet asked for; touched by the one reader only
	small [256]byte

	gone     chan struct{} // closed by Close
	closed   sync.Once
	closeErr error
}

// newNetConn wraps c. The connection breaks after limit unless loggedIn is called before.
func newNetConn(c net.Conn, limit time.Duration) *netConn {
	n := &netConn{Conn: c, start: time.Now(), gone: make(chan struct{})}
	n.quick.Store(true)
	_ = c.SetDeadline(n.start.Add(limit))
	return n
}

// Read reads through a small buffer where single bytes are asked for: the library reads the version line byte by byte,
// and each would be a system call of its own.
func (n *netConn) Read(p []byte) (int, error) {
	if len(n.ahead) > 0 {
		k := copy(p, n.ahead)
		n.ahead = n.ahead[k:]
		return k, nil
	}
	single := len(p) == 1
	into := p
	if single {
		into = n.small[:]
	}
	k, err := n.Conn.Read(into)
	if k > 0 {
		n.heard.Store(int64(time.Since(n.start)))
		if n.quick.Load() {
			acknowledge(n.Conn)
		}
	}
	if single && k > 0 {
		p[0] = n.small[0]
		n.ahead = n.small[1:k]
		return 1, err
	}
	return k, err
}

// silence is how long the client has not been heard.
func (n *netConn) silence() time.Duration {
	return time.Since(n.start) - time.Duration(n.heard.Load())
}

// loggedIn lifts the limit of the handshake.
func (n *netConn) loggedIn() { _ = n.Conn.SetDeadline(time.Time{}) }

// running ends the quick acknowledgements. OpenSSH's client keeps Nagle's algorithm on until its session runs, so
// that each of its small writes waits for our acknowledgement, which the kernel delays by 40 ms; after that they
// would only cost a system call for each read.
func (n *netConn) running() { n.quick.Store(false) }

// sending is transmission for this connection.
func (n *netConn) sending() (taken uint64, more, known bool) { return transmission(n.Conn) }

// SetDeadline does nothing, nor do the other two. gliderlabs/ssh clears the deadline at each read and write, and with
// it the limit of the handshake.
func (n *netConn) SetDeadline(time.Time) error      { return nil }
func (n *netConn) SetReadDeadline(time.Time) error  { return nil }
func (n *netConn) SetWriteDeadline(time.Time) error { return nil }

// Close closes the connection, once.
func (n *netConn) Close() error {
	n.closed.Do(func() {
		n.closeErr = n.Conn.Close()
		close(n.gone)
	})
	return n.closeErr
}
