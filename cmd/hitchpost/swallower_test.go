package main

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// swallower is a TCP proxy that can stop forwarding: it keeps both ends open and takes what they send.
type swallower struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	away  bool
	pairs []*pair
	work  sync.WaitGroup
}

// pair is one connection through it. Once something of it was swallowed the stream is no good any more.
type pair struct {
	ends [2]net.Conn
	dead atomic.Bool
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

func (w *swallower) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away = false
}

func (w *swallower) accept() {
	for {
		in, err := w.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", w.target)
		if err != nil {
			_ = in.Close()
			continue
		}
		p := &pair{ends: [2]net.Conn{in, out}}
		w.mu.Lock()
		p.dead.Store(w.away)
		w.pairs = append(w.pairs, p)
		w.mu.Unlock()
		w.work.Go(func() { p.carry(0) })
		w.work.Go(func() { p.carry(1) })
	}
}

// carry takes what comes from one end to the other. The end of one end is news, so a dead pair does not pass it on.
func (p *pair) carry(from int) {
	var buf [16 << 10]byte
	for {
		n, err := p.ends[from].Read(buf[:])
		if !p.dead.Load() {
			_, _ = p.ends[1-from].Write(buf[:n])
			if err == io.EOF {
				_ = p.ends[1-from].(*net.TCPConn).CloseWrite()
			}
		}
		if err != nil {
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
