package sshd_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd"
)

func TestAStopTellsEverybody(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	var attached, others []*terminal
	for range 5 {
		tm := open(t, s.client("alice")).exec("web")
		v := <-s.service.made
		v.prints("\x1b[?1049hwork")
		tm.shows("work")
		attached = append(attached, tm)
	}
	for range 3 {
		tm := open(t, s.client("bob")).shell()
		tm.shows("[menu")
		others = append(others, tm)
	}
	waiting := open(t, s.client("carol"))
	waiting.ask("exec", text("wait"))
	waiting.shows("waiting")
	idle := s.client("dave")
	stalled := silent(t, s, kexInit)
	begin := time.Now()
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the stop took %v", took)
	}
	const reason = "hitchpost: the service is stopping, your sessions go on: connect again in a moment"
	for _, tm := range attached {
		if status := tm.exit(); status != 75 {
			t.Errorf("attached: status %d", status)
		}
		endsClean(t, tm.screen.String(), "work", reason)
	}
	for _, tm := range others {
		if status := tm.exit(); status != 75 {
			t.Errorf("in the menu: status %d", status)
		}
		if !strings.HasSuffix(tm.screen.String(), sshd.TerminalReset+reason+"\r\n") {
			t.Errorf("in the menu: screen %q", tm.screen)
		}
	}
	if status := waiting.exit(); status != 75 || waiting.errs.String() != reason+"\n" {
		t.Errorf("running a command: status %d, stderr %q", status, waiting.errs)
	}
	idle.Wait()
	closes(t, stalled)
	for _, v := range s.service.views {
		if end := v.End(); end.Reason != hitchpost.EndCut {
			t.Errorf("a view ended with %q", end.Reason)
		}
	}
	s.waitStopped()
	if c, err := s.dial("x", newKey(t)); err == nil {
		c.Close()
		t.Error("the port is still open")
	}
}

func TestAStopDoesNotWaitForAClientThatTakesNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *sshd.Config) { c.Limits.Stop = time.Second })
	s.service.add("web")
	ch, reqs, err := s.deaf("alice").OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	go ssh.DiscardRequests(reqs)
	if ok, err := ch.SendRequest("exec", true, text("flood")); !ok || err != nil {
		t.Fatal(ok, err)
	}
	until(t, "the command to run", func() bool { return s.commands.count() == 1 })
	begin := time.Now()
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the stop took %v", took)
	}
}
