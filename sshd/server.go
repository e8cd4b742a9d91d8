package sshd

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	charm "charm.land/ssh"
	"golang.org/x/crypto/ssh"
)

// Server is the SSH front door. Make it with New.
type Server struct {
	cfg       Config
	signers   []ssh.Signer
	crypto    ssh.Config
	handler   charm.Handler
	slots     *slots
	penalties *penalties
	turned    turned

	stop     context.Context //nolint:containedctx // its cause is told to everybody
	stopping context.CancelCauseFunc

	mu          sync.Mutex
	connections map[*connection]struct{}
	running     group // a goroutine for each connection
	background  group // what persons asked for and did not wait for
}

// New checks the configuration and returns a server that does nothing yet.
func New(cfg Config) (*Server, error) {
	cfg.Limits = cfg.Limits.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	signers, err := withoutSHA1(cfg.Signers)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg:         cfg,
		signers:     signers,
		crypto:      cryptography(hardwareAES()),
		slots:       newSlots(cfg.Limits),
		penalties:   newPenalties(cfg.Limits, time.Now),
		connections: map[*connection]struct{}{},
	}
	s.stop, s.stopping = context.WithCancelCause(context.Background())
	s.handler = route
	for i := len(cfg.Middleware) - 1; i >= 0; i-- {
		s.handler = cfg.Middleware[i](s.handler)
	}
	return s, nil
}

// withoutSHA1 keeps RSA host keys from signing with SHA-1.
func withoutSHA1(signers []ssh.Signer) ([]ssh.Signer, error) {
	var out []ssh.Signer
	for _, s := range signers {
		if s.PublicKey().Type() == ssh.KeyAlgoRSA {
			algorithm, ok := s.(ssh.AlgorithmSigner)
			if !ok {
				return nil, errors.New("sshd: the RSA host key cannot sign with SHA-2")
			}
			narrow, err := ssh.NewSignerWithAlgorithms(algorithm,
				[]string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256})
			if err != nil {
				return nil, err
			}
			s = narrow
		}
		out = append(out, s)
	}
	return out, nil
}

// Serve lets people in through ln until ctx ends or Shutdown is called, then stops gracefully: ln is closed, everybody
// attached gets the reason and exit status 75, and connections that have not ended by Limits.Stop are cut. It returns
// nil then, and the error of ln where that fails by itself. It closes ln in any case, and may be called for several
// listeners at the same time.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	undo := context.AfterFunc(ctx, func() { s.stopping(stopped()) })
	defer undo()
	closing := context.AfterFunc(s.stop, func() { ln.Close() })
	defer closing()
	err := s.accept(ln)
	ln.Close()
	if s.stop.Err() == nil {
		s.stopping(stopped())
	} else {
		err = nil
	}
	if derr := s.drain(context.Background()); err == nil {
		err = derr
	}
	return err
}

// Shutdown makes every Serve stop gracefully and waits for the connections to end. Where ctx ends first they are cut
// at once.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopping(stopped())
	return s.drain(ctx)
}

// Recheck asks Login again about the key of every connection, and ends those whose key is no longer good with the
// reason and exit status 77. To be called when keys have changed. It does not wait for the ends.
func (s *Server) Recheck() {
	for _, c := range s.snapshot() {
		c.recheck()
	}
}

// accept lets connections in until ln is closed.
func (s *Server) accept(ln net.Listener) error {
	pause := time.Duration(0)
	for {
		conn, err := ln.Accept()
		if err == nil {
			pause = 0
			s.admit(conn)
			continue
		}
		if errors.Is(err, net.ErrClosed) || s.stop.Err() != nil {
			return err
		}
		// No descriptor is free, or the client left while it waited: both pass.
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		s.cfg.Log.Warn("cannot accept a connection", "err", err)
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-s.stop.Done():
			t.Stop()
		}
	}
}

// admit starts a connection where there is a place for it.
func (s *Server) admit(conn net.Conn) {
	c := &connection{
		srv:     s,
		net:     newNetConn(conn, s.cfg.Limits.Handshake),
		address: addressOf(conn.RemoteAddr()),
		log:     s.cfg.Log.With("remote", conn.RemoteAddr().String()),
	}
	c.ctx, c.cancel = context.WithCancelCause(s.stop)
	c.slot = s.slots.take(c.address, func() { c.cancel(errGone) })
	if c.slot == nil || !s.running.enter() {
		c.turnAway()
		return
	}
	s.mu.Lock()
	s.connections[c] = struct{}{}
	s.mu.Unlock()
	go func() {
		defer s.running.leave()
		defer s.forget(c)
		c.serve()
	}()
}

func (s *Server) forget(c *connection) {
	s.slots.free(c.slot)
	s.mu.Lock()
	delete(s.connections, c)
	s.mu.Unlock()
}

func (s *Server) snapshot() []*connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*connection, 0, len(s.connections))
	for c := range s.connections {
		all = append(all, c)
	}
	return all
}

// drain waits for every connection to end by itself, and cuts those that take too long.
func (s *Server) drain(ctx context.Context) error {
	timer := time.NewTimer(s.cfg.Limits.Stop)
	defer timer.Stop()
	err := s.drained(ctx, timer.C)
	for _, c := range s.snapshot() {
		c.net.Close()
	}
	s.running.wait()
	return err
}

// drained waits until nothing runs, the time is over or ctx ends.
func (s *Server) drained(ctx context.Context, over <-chan time.Time) error {
	for _, empty := range []<-chan struct{}{s.running.done(), s.background.done()} {
		select {
		case <-empty:
		case <-over:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
