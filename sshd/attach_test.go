package sshd_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd"
)

// resets are what must be sent before the reason at each end that the server decides.
func resets() []string {
	return []string{
		"\x1b[?1049l", "\x1b[?1000l", "\x1b[?1002l", "\x1b[?1003l", "\x1b[?1006l", "\x1b[?1004l", "\x1b[?2004l",
		"\x1b[<u", "\x1b[>4m", "\x1b[?25h", "\x1b[r", "\x1b[m", "\x1b[?2026l",
	}
}

// endsClean checks that the terminal was reset after the last output of the session and then told why.
func endsClean(t *testing.T, screen, output, reason string) {
	t.Helper()
	_, after, ok := strings.Cut(screen, output)
	if !ok {
		t.Fatalf("the screen %q does not show %q", screen, output)
	}
	at := strings.Index(after, reason)
	if at < 0 {
		t.Fatalf("the screen ends with %q and does not say %q", after, reason)
	}
	for _, r := range resets() {
		if i := strings.Index(after, r); i < 0 || i > at {
			t.Errorf("%q is not sent before the reason", r)
		}
	}
	if !strings.HasPrefix(after[at+len(reason):], "\r\n") {
		t.Errorf("the reason is followed by %q", after[at+len(reason):])
	}
}

func TestOutputOfASessionIsNotChanged(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	tm := open(t, s.client("alice")).exec("web")
	v := <-s.service.made
	var all bytes.Buffer
	for i := range 256 {
		all.WriteByte(byte(i))
	}
	for i := range 20_000 {
		fmt.Fprintf(&all, "line %d\n\r\x1b[%dm", i, i%8)
	}
	v.prints(all.String())
	v.exits(0)
	tm.shows("press r")
	tm.typeIn("q")
	tm.exit()
	if !strings.HasPrefix(tm.screen.String(), all.String()) {
		t.Error("bytes were changed, lost or added")
	}
}

func TestLeavingASession(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	c := s.client("alice")
	for _, key := range []string{"\x1d", "\x1b[93;5u", "\x1b[27;5;93~"} {
		tm := open(t, c).exec("attach web")
		v := <-s.service.made
		v.prints("\x1b[?1049h\x1b[?1003h")
		tm.shows("\x1b[?1003h")
		tm.typeIn("some keys")
		tm.typeIn(key + "more")
		if status := tm.exit(); status != 0 {
			t.Errorf("%q: status %d", key, status)
		}
		endsClean(t, tm.screen.String(), "\x1b[?1003h", "hitchpost: detached from web, it goes on")
		if v.input() != "some keys" || !v.isClosed() || v.End().Reason != hitchpost.EndDetached {
			t.Errorf("%q: typed %q, closed %v, %v", key, v.input(), v.isClosed(), v.End().Reason)
		}
	}
}

func TestABareEscapeIsNotKept(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	tm := open(t, s.client("alice")).exec("web")
	v := <-s.service.made
	for i := range 20 {
		tm.typeIn("\x1b")
		until(t, "the escape to arrive", func() bool { return v.input() == strings.Repeat("\x1b", i+1) })
	}
}

func TestASessionThatEnds(t *testing.T) {
	t.Parallel()
	three, killed := 3, hitchpost.Exit{Signal: "KILL"}
	for name, test := range map[string]struct {
		end    hitchpost.AttachEnd
		status int
		says   string
	}{
		"with a code": {hitchpost.AttachEnd{Reason: hitchpost.EndExited, Exit: &hitchpost.Exit{Code: &three}}, 3,
			"session web ended (exit 3)"},
		"by a signal": {hitchpost.AttachEnd{Reason: hitchpost.EndExited, Exit: &killed}, 137, "session web ended (killed by SIGKILL)"},
		"lost":        {hitchpost.AttachEnd{Reason: hitchpost.EndLost}, 1, "web was lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil)
			test.end.Session = s.service.add("web")
			tm := open(t, s.client("alice")).exec("web")
			v := <-s.service.made
			v.prints("the tail")
			v.ends(test.end)
			tm.shows(test.says)
			tm.typeIn("x")
			if status := tm.exit(); status != test.status {
				t.Errorf("status %d", status)
			}
			endsClean(t, tm.screen.String(), "the tail", "press r to restart it, any other key to leave")
		})
	}
}

func TestRestartAfterTheEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	tm := open(t, s.client("alice")).exec("web")
	first := <-s.service.made
	first.exits(1)
	tm.shows("press r to restart")
	tm.typeIn("rtyped ahead")
	second := <-s.service.made
	until(t, "what was typed to arrive", func() bool { return second.input() == "typed ahead" })
	second.exits(0)
	until(t, "the second offer", func() bool { return strings.Count(tm.screen.String(), "press r") == 2 })
	tm.typeIn("\x03")
	if status := tm.exit(); status != 0 {
		t.Errorf("status %d", status)
	}
	s.service.mu.Lock()
	defer s.service.mu.Unlock()
	if s.service.restarts != 1 || s.service.requests[0].Clear || !s.service.requests[1].Clear {
		t.Errorf("%d restarts, requests %+v", s.service.restarts, s.service.requests)
	}
}

func TestRestartBesideWhatIsLeft(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		key              string
		restarts, status int
	}{{"f", 1, 0}, {"r", 0, 4}} {
		s := serve(t, nil)
		s.service.add("web")
		s.service.left = "py\x1b[2Jthon (process 4711)"
		tm := open(t, s.client("alice")).exec("web")
		(<-s.service.made).exits(0)
		tm.shows("press r to restart")
		tm.typeIn("rf") // what is typed ahead is no answer
		tm.shows("it left py\ufffd[2Jthon (process 4711) behind: end it, or start beside it, press f")
		tm.typeIn(test.key)
		if test.restarts > 0 {
			(<-s.service.made).exits(0)
			tm.shows("press r to restart it, any other key to leave")
			until(t, "the second offer", func() bool { return strings.Count(tm.screen.String(), "press r") == 2 })
			tm.typeIn("x")
		} else {
			tm.shows("not restarted: end what it has left behind first")
		}
		if status := tm.exit(); status != test.status {
			t.Errorf("%s: status %d", test.key, status)
		}
		s.service.mu.Lock()
		if s.service.restarts != test.restarts {
			t.Errorf("%s: %d restarts", test.key, s.service.restarts)
		}
		s.service.mu.Unlock()
	}
}

func TestTheOfferDoesNotWaitForNobody(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *sshd.Config) { c.Limits.Prompt = 50 * time.Millisecond })
	s.service.add("web")
	c := s.client("alice")
	for _, closeInput := range []bool{false, true} {
		tm := open(t, c).exec("web")
		if closeInput {
			tm.ch.CloseWrite()
		}
		v := <-s.service.made
		v.prints("still running")
		tm.shows("still running") // the end of the input alone does not end the view
		v.exits(5)
		if status := tm.exit(); status != 5 {
			t.Errorf("status %d", status)
		}
	}
}

func TestAViewerOnlyLooks(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	key := newKey(t)
	s.know(key.PublicKey(), "val", func(k *hitchpost.Key) { k.Role = hitchpost.Viewer })
	c, err := s.dial("val", key)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tm := open(t, c).exec("web")
	v := <-s.service.made
	tm.typeIn("rm -rf\r\x1b")
	v.prints("looking")
	tm.shows("looking")
	v.exits(0)
	tm.shows("press any key to leave")
	tm.typeIn("r")
	if status := tm.exit(); status != 0 {
		t.Errorf("status %d", status)
	}
	if v.input() != "" || s.service.restarts != 0 {
		t.Errorf("typed %q, %d restarts", v.input(), s.service.restarts)
	}
}

func TestTheSizeFollowsTheClient(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	tm := open(t, s.client("alice")).exec("web")
	v := <-s.service.made
	if got := s.service.requests[0].Terminal; got.Size != (hitchpost.Size{Cols: 80, Rows: 24}) || !got.TrueColor {
		t.Errorf("terminal %+v", got)
	}
	for i := range uint32(300) {
		if _, err := tm.ch.SendRequest("window-change", false, sizePayload(100+i, 40)); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the last size", func() bool { return v.lastSize() == hitchpost.Size{Cols: 399, Rows: 40} })
}

func TestAnAttachThatFails(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	c := s.client("alice")
	tm := open(t, c).exec("gone")
	if status := tm.exit(); status != 3 || tm.screen.String() != "hitchpost: no session gone: see ls\r\n" {
		t.Errorf("status %d, screen %q", status, tm.screen)
	}
	s.service.attach = hitchpost.Errorf(hitchpost.UnavailableError, "tmux does not answer\x1b[2J").Hinted("try again")
	tm = open(t, c).exec("web")
	if status := tm.exit(); status != 75 || !strings.Contains(tm.screen.String(), "not answer\uFFFD[2J: try again\r\n") {
		t.Errorf("status %d, screen %q", status, tm.screen)
	}
}

func TestTheLoginNameMayBeASession(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	c, err := s.dial("web", s.member("alice"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tm := open(t, c).shell()
	<-s.service.made
	tm.typeIn("\x1d")
	if status := tm.exit(); status != 0 {
		t.Errorf("status %d", status)
	}
	if runs, _ := s.picker.counts(); runs != 0 {
		t.Error("the menu was shown")
	}
}

func TestWhenTheScrollbackIsCleared(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	c := s.client("alice")
	attach := func(env ...string) bool {
		t.Helper()
		tm := open(t, c)
		for i := 0; i < len(env); i += 2 {
			tm.ask("env", pair(env[i], env[i+1]))
		}
		tm.exec("web")
		<-s.service.made
		tm.typeIn("\x1d")
		tm.exit()
		s.service.mu.Lock()
		defer s.service.mu.Unlock()
		return s.service.requests[len(s.service.requests)-1].Clear
	}
	if attach() {
		t.Error("cleared at the first attach")
	}
	if attach() {
		t.Error("cleared on another terminal of the same connection")
	}
	if attach("HITCHPOST_CLIENT", "abc") || attach("HITCHPOST_CLIENT", "abc", "HITCHPOST_RECONNECT", "0") {
		t.Error("cleared for a client that does not come back")
	}
	if !attach("HITCHPOST_CLIENT", "abc", "HITCHPOST_RECONNECT", "1") {
		t.Error("not cleared for a client that comes back")
	}
	if attach("HITCHPOST_RECONNECT", "1", "HITCHPOST_CLEAR", "never") || !attach("HITCHPOST_CLEAR", "always") {
		t.Error("the client's own wish does not count")
	}
}

func TestDumbTerminals(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	c := s.client("alice")
	for _, name := range []string{"dumb", "", "x\x1by"} {
		for _, command := range []string{"", "web", "attach web"} {
			tm := open(t, c)
			tm.ask("pty-req", ptyPayload(name, 80, 24))
			if command == "" {
				tm.ask("shell", nil)
			} else {
				tm.ask("exec", text(command))
			}
			status := tm.exit()
			screen := tm.screen.String()
			if status != 2 || strings.Contains(screen, "\x1b") || strings.Count(screen, "\n") != 1 ||
				!strings.Contains(screen, "TERM=xterm-256color") {
				t.Errorf("%q with %q: status %d, screen %q", name, command, status, screen)
			}
		}
	}
	tm := open(t, c)
	tm.ask("pty-req", ptyPayload("dumb", 80, 24))
	tm.ask("exec", text("ls"))
	if status := tm.exit(); status != 0 || tm.screen.String() != "HANDLE\r\nweb\r\n" {
		t.Errorf("a command: status %d, screen %q", status, tm.screen)
	}
}
