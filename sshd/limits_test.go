package sshd_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost/sshd"
)

// silent connects and sends only what it is given.
func silent(t *testing.T, s *server, says string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, says); err != nil {
		t.Fatal(err)
	}
	return c
}

// closes waits until the server closes c.
func closes(t *testing.T, c net.Conn) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Error("the server does not close a connection that says nothing")
	}
}

// kexInit is the start of a key exchange that never goes on.
const kexInit = "SSH-2.0-stalled\r\n\x00\x00\x01\x00\x08\x14"

func TestClientsThatStallAreClosed(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *sshd.Config) { c.Limits.Handshake = 3 * time.Second })
	var stalled []net.Conn
	for i := range 60 {
		stalled = append(stalled, silent(t, s, []string{"", "SSH-2.0-stalled\r\n", kexInit}[i%3]))
	}
	if got := whoami(t, s.client("alice")); got != "alice alice" {
		t.Errorf("got %q", got)
	}
	for _, c := range stalled {
		closes(t, c)
	}
}

// A client that drips bytes must not get more time for each of them: gliderlabs/ssh lifts the deadline at each read.
func TestDrippingDoesNotMoveTheLimit(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *sshd.Config) { c.Limits.Handshake = 3 * time.Second })
	c := silent(t, s, "SSH-2.0-drip")
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := c.Write([]byte("p")); err != nil {
				return
			}
		}
	}()
	closes(t, c)
	<-done
}

func TestTheLimitEndsWithTheLogin(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *sshd.Config) { c.Limits.Handshake = 3 * time.Second })
	c := s.client("alice")
	stalled := silent(t, s, "")
	closes(t, stalled) // the limit has passed for a connection that is younger
	if got := whoami(t, c); got != "alice alice" {
		t.Errorf("got %q", got)
	}
}

func TestWaitingConnectionsGiveWay(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *sshd.Config) { c.Limits.WaitingPerAddress = 4 })
	first := silent(t, s, "")
	for range 4 {
		silent(t, s, "")
	}
	closes(t, first)
	for range 6 {
		if got := whoami(t, s.client("alice")); got != "alice alice" {
			t.Errorf("got %q", got)
		}
	}
}

func TestTooManyConnectionsAreTurnedAway(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *sshd.Config) { c.Limits.ConnectionsPerAddress = 3 })
	var clients []*ssh.Client
	for range 3 {
		clients = append(clients, s.client("alice"))
	}
	c := silent(t, s, "")
	said, err := io.ReadAll(c)
	if err != nil || string(said) != "hitchpost: too many connections: try again later\r\n" {
		t.Errorf("got %q, %v", said, err)
	}
	clients[1].Close()
	until(t, "a place to be free", func() bool {
		c, err := s.dial("alice", s.member("alice"))
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

func TestFailedLoginsGetSlowerAndGoodOnesDoNot(t *testing.T) {
	t.Parallel()
	const penalty = time.Second
	s := serve(t, func(c *sshd.Config) { c.Limits.Forgiven, c.Limits.Penalty = 2, penalty })
	stranger := newKey(t)
	fail := func() time.Duration {
		begin := time.Now()
		if _, err := s.dial("x", stranger); err == nil {
			t.Fatal("let in")
		}
		return time.Since(begin)
	}
	until(t, "failures to cost time", func() bool { return fail() >= penalty })
	// The server counts a failure a moment after the client knows of it, so the one right behind may cost the same.
	until(t, "failures to cost more", func() bool { return fail() >= 2*penalty })
	begin := time.Now()
	s.client("alice")
	if took := time.Since(begin); took >= penalty {
		t.Errorf("a good login took %v", took)
	}
}
