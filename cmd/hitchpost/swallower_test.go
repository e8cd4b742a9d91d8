package main

import (
	"io"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// swallower is a TCP proxy that can stop forwarding: it keeps both ends open and takes what they send.
type swallower struct {
	listener net.Listener
	target   string // host:port, or the path of a socket

	mu    sync.Mutex
	away  bool
	pairs []*pair
	work  sync.WaitGroup
}

// pair is one connection through it. Once something of it was swallowed the stream is no good any more.
type pair struct {
	ends  [2]net.Conn
	dead  atomic.Bool
	ended [2]atomic.Bool // that end was closed
}

func newSwallower(t *testing.T, target string) *swallower {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	w := &swallower{listener: l, target: target}
	w.work.Go(w.accept)
	t.Cleanup(w.close)
	return w
}

func (w *swallower) client(string) ([]string, string) { return nil, w.listener.Addr().String() }

func (w *swallower) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away = true
	for _, p := range w.pairs {
		p.dead.Store(true)
	}
}

// mend lets new connections through. Of the old ones it lets through that an end was closed, as a network that is back
// does: their systems go on telling each other for minutes.
func (w *swallower) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away = false
	for _, p := range w.pairs {
		p.tell()
	}
}

func (w *swallower) tell(p *pair) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.away {
		p.tell()
	}
}

// tell lets each end of a dead pair know of the other's end.
func (p *pair) tell() {
	for from := range p.ends {
		if p.dead.Load() && p.ended[from].Load() {
			_ = p.ends[1-from].Close()
		}
	}
}

func (w *swallower) accept() {
	for {
		in, err := w.listener.Accept()
		if err != nil {
			return
		}
		kind := "tcp"
		if filepath.IsAbs(w.target) {
			kind = "unix"
		}
		out, err := net.Dial(kind, w.target)
		if err != nil {
			_ = in.Close()
			continue
		}
		p := &pair{ends: [2]net.Conn{in, out}}
		w.mu.Lock()
		p.dead.Store(w.away)
		w.pairs = append(w.pairs, p)
		w.mu.Unlock()
		w.work.Go(func() { w.carry(p, 0) })
		w.work.Go(func() { w.carry(p, 1) })
	}
}

// carry takes what comes from one end to the other. The end of one end is news, so it is swallowed too while all is.
func (w *swallower) carry(p *pair, from int) {
	var buf [16 << 10]byte
	for {
		n, err := p.ends[from].Read(buf[:])
		if !p.dead.Load() {
			_, _ = p.ends[1-from].Write(buf[:n])
			if err == io.EOF {
				_ = p.ends[1-from].(interface{ CloseWrite() error }).CloseWrite()
			}
		}
		if err != nil {
			p.ended[from].Store(true)
			w.tell(p)
			return
		}
	}
}

func (w *swallower) close() {
	_ = w.listener.Close()
	w.mu.Lock()
	for _, p := range w.pairs {
		_ = p.ends[0].Close()
		_ = p.ends[1].Close()
	}
	w.mu.Unlock()
	w.work.Wait()
}
