package sshd_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd"
)

func TestWindowChangesBeforeTheShellDoNotBlock(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	c := s.client("alice")
	tm := open(t, c)
	tm.ask("pty-req", ptyPayload("xterm-256color", 80, 24))
	for i := range uint32(500) {
		if _, err := tm.ch.SendRequest("window-change", false, sizePayload(100+i, 30)); err != nil {
			t.Fatal(err)
		}
	}
	tm.ask("window-change", sizePayload(91, 37))
	tm.ask("shell", nil)
	tm.shows("[menu 91x37 xterm-256color ]")
}

func TestSizesAreClamped(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	c := s.client("alice")
	for _, test := range []struct {
		cols, rows uint32
		want       string
	}{{0, 0, "80x24"}, {1, 1, "2x2"}, {65535, 65535, "1000x500"}, {1 << 31, 0xffffffff, "1000x500"}, {120, 40, "120x40"}} {
		tm := open(t, c)
		tm.ask("pty-req", ptyPayload("xterm", test.cols, test.rows))
		tm.ask("shell", nil)
		tm.shows("[menu " + test.want)
		tm.ch.Close()
	}
}

func TestEveryRequestGetsOneAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	tm := open(t, s.client("alice"))
	for _, r := range []struct {
		name    string
		payload []byte
		want    bool
	}{
		{"winadj@putty.projects.tartarus.org", nil, false},
		{"auth-agent-req@openssh.com", nil, false},
		{"x11-req", nil, false},
		{"never-heard-of@example.com", []byte("\xff\xff\xff\xff"), false},
		{"keepalive@openssh.com", nil, true},
		{"window-change", sizePayload(80, 24), false},
		{"pty-req", []byte("broken"), false},
		{"pty-req", ptyPayload("xterm", 80, 24), true},
		{"pty-req", ptyPayload("xterm", 80, 24), false},
		{"window-change", []byte{1, 2}, false},
		{"window-change", sizePayload(81, 25), true},
		{"env", pair("LC_ALL", "C.UTF-8"), true},
		{"env", pair("LD_PRELOAD", "x"), false},
		{"env", []byte{0}, false},
		{"signal", text("WINCH"), true},
		{"exec", []byte{0, 0}, false},
		{"shell", nil, true},
		{"shell", nil, false},
		{"env", pair("LC_ALL", "C"), false},
	} {
		if !r.want { // what is refused is refused as well without an answer
			if _, err := tm.ch.SendRequest(r.name, false, r.payload); err != nil {
				t.Fatal(err)
			}
		}
		ok, err := tm.ch.SendRequest(r.name, true, r.payload)
		if err != nil || ok != r.want {
			t.Errorf("%s %q: granted %v (want %v), error %v", r.name, r.payload, ok, r.want, err)
		}
	}
	tm.shows("[menu 81x25")
	if tm.errs.String() != "" {
		t.Errorf("stderr %q", tm.errs)
	}
}

func TestTenThousandVariables(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	c := s.client("alice")
	tm := open(t, c)
	for i := range 10_000 {
		if _, err := tm.ch.SendRequest("env", false, pair(fmt.Sprintf("LC_%d", i), "x")); err != nil {
			t.Fatal(err)
		}
	}
	long := strings.Repeat("x", 100_000)
	for _, v := range []string{long, "a\nb", "a\x00b", "\x1b[31m"} {
		if ok, err := tm.ch.SendRequest("env", true, pair("LC_0", v)); err != nil || ok {
			t.Errorf("a value of %d bytes: granted %v, error %v", len(v), ok, err)
		}
	}
	tm.ask("env", pair("LC_0", "y"))
	tm.shell()
	tm.shows("[menu")
	s.picker.mu.Lock()
	defer s.picker.mu.Unlock()
	env := s.picker.reqs[0].Environ
	if len(env) != 64 || env[0] != "LC_0=y" {
		t.Errorf("%d variables, the first %q", len(env), env[0])
	}
}

func TestChannelsOfOtherKindsAreProhibited(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	c := s.client("alice")
	for kind, want := range map[string]ssh.RejectionReason{
		"direct-tcpip": ssh.Prohibited, "direct-streamlocal@openssh.com": ssh.Prohibited, "x11": ssh.Prohibited,
		"auth-agent@openssh.com": ssh.Prohibited, "unheard-of": ssh.UnknownChannelType,
	} {
		_, _, err := c.OpenChannel(kind, nil)
		refusal, ok := err.(*ssh.OpenChannelError)
		if !ok || refusal.Reason != want || refusal.Message == "" {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for _, kind := range []string{"tcpip-forward", "streamlocal-forward@openssh.com", "unheard-of"} {
		if ok, _, err := c.SendRequest(kind, true, nil); ok || err != nil {
			t.Errorf("%s: granted %v, error %v", kind, ok, err)
		}
	}
	if ok, _, err := c.SendRequest("keepalive@openssh.com", true, nil); !ok || err != nil {
		t.Errorf("keepalive: granted %v, error %v", ok, err)
	}
	if got := whoami(t, c); got != "alice alice" {
		t.Errorf("the connection is no longer usable: %q", got)
	}
}

func TestChannelsOfOneConnectionHaveACap(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	c := s.client("alice")
	var all []*terminal
	for range 64 {
		all = append(all, open(t, c))
	}
	_, _, err := c.OpenChannel("session", nil)
	if refusal, ok := err.(*ssh.OpenChannelError); !ok || refusal.Reason != ssh.ResourceShortage {
		t.Fatalf("the 65th: %v", err)
	}
	all[7].ch.Close()
	<-all[7].ended
	until(t, "a place to be free", func() bool {
		ch, _, err := c.OpenChannel("session", nil)
		if err == nil {
			ch.Close()
		}
		return err == nil
	})
}

func TestPickersOfOneConnectionHaveACap(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *sshd.Config) { c.Limits.Pickers = 2 })
	c := s.client("alice")
	for range 2 {
		open(t, c).shell().shows("[menu")
	}
	third := open(t, c).shell()
	if status := third.exit(); status != 4 || !strings.Contains(third.screen.String(), "too many lists") {
		t.Errorf("status %d, screen %q", status, third.screen)
	}
}

func TestSessionsOfOneConnectionAreIndependent(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	c := s.client("alice")
	first := open(t, c).exec("web")
	v := <-s.service.made
	for range 20 {
		tm := open(t, c)
		tm.ask("exec", text("exit3"))
		if status := tm.exit(); status != 3 || tm.errs.String() != "three\n" {
			t.Fatalf("status %d, stderr %q", status, tm.errs)
		}
	}
	second := open(t, c)
	second.ask("pty-req", ptyPayload("xterm", 60, 20))
	second.ask("exec", text("web"))
	w := <-s.service.made
	w.exits(4)
	second.shows("any other key to leave")
	second.typeIn("x")
	if status := second.exit(); status != 4 {
		t.Errorf("status %d", status)
	}
	v.prints("still here")
	first.shows("still here")
	first.ask("window-change", sizePayload(50, 10))
	until(t, "the first to be resized", func() bool { return v.lastSize() == hitchpost.Size{Cols: 50, Rows: 10} })
}

func TestAMenuEndsWithItsChannelThoughTheConnectionLives(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	c := s.client("alice")
	tm := open(t, c).shell()
	tm.shows("[menu")
	tm.ch.Close()
	until(t, "the menu to end", func() bool { _, ends := s.picker.counts(); return ends == 1 })
	if got := whoami(t, c); got != "alice alice" {
		t.Errorf("the connection is no longer usable: %q", got)
	}
}

func TestSilentClientsAreFreed(t *testing.T) {
	t.Parallel()
	s := serve(t, shortKeepAlive)
	s.service.add("web")
	// A client that does not read the connection's requests answers none.
	deaf := s.deaf("alice")
	tm := open(t, deaf).exec("web")
	v := <-s.service.made
	until(t, "the view to be closed", v.isClosed)
	select {
	case <-tm.ended:
	case <-time.After(patience):
		t.Error("the connection is not closed")
	}
}

func TestQuietClientsAreKept(t *testing.T) {
	t.Parallel()
	s := serve(t, shortKeepAlive)
	s.service.add("web")
	quiet := open(t, s.client("alice")).exec("web")
	v := <-s.service.made
	deaf := open(t, s.deaf("bob")).exec("web")
	<-deaf.ended // the same time has passed for the quiet one
	v.prints("good morning")
	quiet.shows("good morning")
}

func TestSubsystemsAreRefusedWithALine(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	tm := open(t, s.client("alice"))
	for range 2 {
		ok, err := tm.ch.SendRequest("subsystem", true, text("sf\x1btp"))
		if ok || err != nil {
			t.Fatalf("granted %v, error %v", ok, err)
		}
	}
	tm.ask("exec", text("ls"))
	if status := tm.exit(); status != 0 {
		t.Errorf("status %d", status)
	}
	want := "hitchpost: the subsystem \"sf\\x1btp\" is not offered: use the sshd of this machine for it\n"
	if tm.errs.String() != want {
		t.Errorf("stderr %q, want %q", tm.errs, want)
	}
}

func TestAPanicHarmsNobodyElse(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	c := s.client("alice")
	healthy := open(t, c).exec("web")
	v := <-s.service.made
	tm := open(t, c)
	tm.ask("exec", text("panic"))
	if status := tm.exit(); status != 1 || !strings.Contains(tm.errs.String(), "an error inside hitchpost") {
		t.Errorf("status %d, stderr %q", status, tm.errs)
	}
	menu := open(t, s.client("bob")).shell()
	menu.shows("[menu")
	menu.typeIn("p")
	if status := menu.exit(); status != 1 {
		t.Errorf("status %d", status)
	}
	v.prints("unharmed")
	healthy.shows("unharmed")
	if !strings.Contains(s.log.String(), "a fault in the picker") {
		t.Error("the log does not say so")
	}
}

func TestInputBeyondTheBufferWaitsAndIsNotLost(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	tm := open(t, s.client("alice"))
	big := strings.Repeat("0123456789abcdef", 1<<18) // 4 MiB, twice the window
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(tm.ch, big)
		tm.ch.CloseWrite()
		sent <- err
	}()
	tm.ask("exec", text("cat"))
	if status := tm.exit(); status != 0 {
		t.Errorf("status %d", status)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if tm.screen.String() != big {
		t.Errorf("%d bytes came back, want %d", len(tm.screen.String()), len(big))
	}
}
