package sshd_test

import (
	"fmt"
	"strings"
	"testing"

	charm "charm.land/ssh"
	"charm.land/wish/v2"

	"github.com/hitchpost/hitchpost/sshd"
)

func TestWishMiddlewareComposes(t *testing.T) {
	t.Parallel()
	var order []string
	mark := func(name string) wish.Middleware {
		return func(next charm.Handler) charm.Handler {
			return func(s charm.Session) {
				pty, _, ok := s.Pty()
				order = append(order, fmt.Sprintf("%s %v %v %s %dx%d %v %s %v", name, s.EmulatedPty(), ok, pty.Term,
					pty.Window.Width, pty.Window.Height, s.Command(), s.User(), s.PublicKey() != nil))
				s.Context().SetValue(name, true)
				wish.Printf(s, "%s\n", name)
				next(s)
			}
		}
	}
	refuse := func(next charm.Handler) charm.Handler {
		return func(s charm.Session) {
			if len(s.Command()) > 0 && s.Command()[0] == "refused" {
				wish.Error(s, "not today\n")
				_ = s.Exit(9)
				return
			}
			next(s)
		}
	}
	s := serve(t, func(c *sshd.Config) { c.Middleware = []wish.Middleware{mark("outer"), mark("inner"), refuse} })
	c := s.client("alice")
	tm := open(t, c).exec("ls 'a b'")
	if status := tm.exit(); status != 0 || tm.screen.String() != "outer\r\ninner\r\nHANDLE\r\nweb\r\n" {
		t.Errorf("status %d, screen %q", status, tm.screen)
	}
	want := "outer true true xterm-256color 80x24 [ls a b] alice true;inner true true xterm-256color 80x24 [ls a b] alice true"
	if got := strings.Join(order, ";"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	tm = open(t, c)
	tm.ask("exec", text("refused"))
	if status := tm.exit(); status != 9 || tm.errs.String() != "not today\n" || tm.screen.String() != "outer\ninner\n" {
		t.Errorf("status %d, stdout %q, stderr %q", status, tm.screen, tm.errs)
	}
}
