package sshd_test

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd"
)

func TestAClientThatTakesNothingIsCut(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *sshd.Config) {
		c.Limits.Stall, c.Limits.Farewell = 600*time.Millisecond, 100*time.Millisecond
	})
	s.service.add("web")
	healthy := open(t, s.client("bob")).exec("web")
	w := <-s.service.made
	ch, reqs, err := s.client("alice").OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	// Nobody reads ch, so its window is never opened again.
	status := make(chan uint32, 1)
	go func() {
		for r := range reqs {
			var s struct{ Status uint32 }
			if r.Type == "exit-status" && ssh.Unmarshal(r.Payload, &s) == nil {
				status <- s.Status
			}
		}
	}()
	for name, payload := range map[string][]byte{"pty-req": ptyPayload("xterm", 80, 24)} {
		if ok, err := ch.SendRequest(name, true, payload); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if ok, err := ch.SendRequest("exec", true, text("web")); !ok || err != nil {
		t.Fatal(ok, err)
	}
	v := <-s.service.made
	v.prints(strings.Repeat("x", 4<<20))
	until(t, "the view to be closed", v.isClosed)
	if end := v.End(); end.Reason != hitchpost.EndCut || !strings.Contains(end.Message, "took no output") {
		t.Errorf("end %+v", end)
	}
	select {
	case got := <-status:
		if got != 75 {
			t.Errorf("status %d", got)
		}
	case <-time.After(patience):
		t.Fatal("no exit status")
	}
	w.prints("unaffected")
	healthy.shows("unaffected")
	if w.isClosed() {
		t.Error("the other view was closed too")
	}
}

// What follows something is cut; what is only shown may be read as slowly as a person likes.
func TestAFollowerThatTakesNothingIsCut(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *sshd.Config) {
		c.Limits.Stall, c.Limits.Farewell = 600*time.Millisecond, 100*time.Millisecond
	})
	ended := func(verb string) <-chan uint32 {
		ch, reqs, err := s.client("alice").OpenChannel("session", nil)
		if err != nil {
			t.Fatal(err)
		}
		status := make(chan uint32, 1)
		go func() {
			for r := range reqs {
				var s struct{ Status uint32 }
				if r.Type == "exit-status" && ssh.Unmarshal(r.Payload, &s) == nil {
					status <- s.Status
				}
			}
		}()
		if ok, err := ch.SendRequest("exec", true, text(verb)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		return status
	}
	shown := ended("flood")
	select {
	case got := <-ended("stream"):
		if got != 75 {
			t.Errorf("status %d", got)
		}
	case <-time.After(patience):
		t.Fatal("it was not cut")
	}
	select {
	case got := <-ended("stream"):
		if got != 75 {
			t.Errorf("status %d", got)
		}
	case <-shown:
		t.Error("what is only shown was cut too")
	}
}

func TestAClientThatIsSlowIsKept(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *sshd.Config) { c.Limits.Stall = 500 * time.Millisecond })
	s.service.add("web")
	ch, reqs, err := s.client("alice").OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	go ssh.DiscardRequests(reqs)
	if ok, err := ch.SendRequest("pty-req", true, ptyPayload("xterm", 80, 24)); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := ch.SendRequest("exec", true, text("web")); !ok || err != nil {
		t.Fatal(ok, err)
	}
	v := <-s.service.made
	const total = 6 << 20
	v.prints(strings.Repeat("x", total))
	buf := make([]byte, 128<<10)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for got := 0; got < total; {
		<-tick.C
		n, err := ch.Read(buf)
		if err != nil {
			t.Fatalf("cut off after %d bytes: %v", got, err)
		}
		got += n
	}
	if v.isClosed() {
		t.Error("the view was closed")
	}
}
