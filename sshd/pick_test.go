package sshd_test

import (
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
)

// Enter and 64 keys in one packet, then the detach key and one more.
func TestNoKeyIsLostBetweenMenuAndSession(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	tm := open(t, s.client("alice")).shell()
	keys := strings.Repeat("0123456789abcdef", 4)
	for i := range 200 {
		tm.typeIn("\r" + keys)
		v := <-s.service.made
		until(t, "the keys to arrive", func() bool { return len(v.input()) >= len(keys) })
		if v.input() != keys {
			t.Fatalf("round %d: %q arrived", i, v.input())
		}
		tm.typeIn("\x1dj")
		until(t, "the menu to see the key", func() bool {
			return strings.Count(tm.screen.String(), "[down]") == i+1
		})
	}
	tm.typeIn("q")
	if status := tm.exit(); status != 0 {
		t.Errorf("status %d", status)
	}
	if runs, ends := s.picker.counts(); runs != 201 || ends != 201 {
		t.Errorf("%d menus began and %d ended", runs, ends)
	}
}

func TestTheMenuShowsWhyAnAttachFailed(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	s.service.last = "id-last"
	tm := open(t, s.client("alice")).shell()
	tm.shows("[menu")
	s.service.mu.Lock()
	s.service.attach = hitchpost.Errorf(hitchpost.ConflictError, "web is STOPPED").Hinted("restart it")
	s.service.mu.Unlock()
	tm.typeIn("\r")
	tm.shows("web is STOPPED: restart it]")
	s.service.mu.Lock()
	s.service.attach = nil
	s.service.mu.Unlock()
	tm.typeIn("\r")
	v := <-s.service.made
	v.exits(2)
	tm.shows("session web ended (exit 2)")
	tm.typeIn("r\x1d")
	<-s.service.made
	tm.typeIn("q")
	if status := tm.exit(); status != 0 {
		t.Errorf("status %d", status)
	}
	if got := s.picker.reqs[0].Selected; got != "id-last" {
		t.Errorf("first %q is selected", got)
	}
	if got := s.picker.reqs[2].Selected; got != "id-web" {
		t.Errorf("then %q is selected", got)
	}
}
