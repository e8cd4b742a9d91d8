package sshd_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/menu"
	"github.com/hitchpost/hitchpost/sshd"
	"github.com/hitchpost/hitchpost/sshd/command"
)

// menuService is what the real menu needs to show a list; its other methods are not called.
type menuService struct {
	menu.Service
	known *service
}

func (m menuService) Snapshot() ([]hitchpost.Session, hitchpost.Status) { return m.known.Snapshot() }

func (m menuService) Last(ctx context.Context, a hitchpost.Actor) string { return m.known.Last(ctx, a) }

func (m menuService) Watch(ctx context.Context) <-chan struct{} {
	c := make(chan struct{})
	context.AfterFunc(ctx, func() { close(c) })
	return c
}

func (m menuService) Capture(context.Context, hitchpost.Actor, string, hitchpost.CaptureRequest) (hitchpost.Captured, error) {
	return hitchpost.Captured{}, nil
}

func TestTheRealMenuHandsOverEveryKey(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *sshd.Config) {
		known := c.Service.(*service)
		c.Pick = func(ctx context.Context, m menu.Config) (menu.Choice, error) {
			m.Service = menuService{known: known}
			return menu.Run(ctx, m)
		}
	})
	s.service.add("web")
	tm := open(t, s.client("alice")).shell()
	tm.shows("web")
	keys := strings.Repeat("0123456789abcdef", 4)
	for i := range 30 {
		tm.typeIn("\r" + keys)
		v := <-s.service.made
		until(t, "the keys to arrive", func() bool { return len(v.input()) >= len(keys) })
		if v.input() != keys {
			t.Fatalf("round %d: %q arrived", i, v.input())
		}
		tm.typeIn("\x1d")
	}
	tm.typeIn("q")
	if status := tm.exit(); status != 0 {
		t.Errorf("status %d", status)
	}
}

func TestTheRealCommandMode(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *sshd.Config) { c.Command = command.Run })
	s.service.add("web")
	c := s.client("alice")
	tm := open(t, c)
	tm.ask("exec", text("version"))
	status, out := tm.exit(), tm.screen.String()
	if status != 0 || !strings.Contains(out, "1.2.3") || strings.Contains(out, "\r") {
		t.Errorf("status %d, stdout %q, stderr %q", status, tm.screen, tm.errs)
	}
	tm = open(t, c)
	tm.ask("exec", text("attach web"))
	if status := tm.exit(); status != 2 || tm.screen.String() != "" || !strings.Contains(tm.errs.String(), "needs a terminal") {
		t.Errorf("status %d, stdout %q, stderr %q", status, tm.screen, tm.errs)
	}
	tm = open(t, c).exec("attach --no-replay web")
	tm.typeIn("ahead")
	v := <-s.service.made
	until(t, "the keys to arrive", func() bool { return v.input() == "ahead" })
	tm.typeIn("\x1d")
	if status := tm.exit(); status != 0 || !s.service.requests[0].NoReplay {
		t.Errorf("status %d, request %+v", status, s.service.requests[0])
	}
	tm = open(t, c).exec("whoami --json")
	if status := tm.exit(); status != 0 || !strings.Contains(tm.screen.String(), `"actor"`) {
		t.Errorf("status %d, screen %q", status, tm.screen)
	}
}
