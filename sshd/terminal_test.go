package sshd_test

import (
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// terminal is a session channel of a raw client, all requests and bytes in its hands.
type terminal struct {
	t        testing.TB
	ch       ssh.Channel
	screen   *logBook      // all that came on stdout
	errs     *logBook      // all that came on stderr
	ended    chan struct{} // closed with the channel
	mu       sync.Mutex
	status   int // -1 until it is known
	statuses int
}

// open opens a session channel and asks for nothing.
func open(t testing.TB, c *ssh.Client) *terminal {
	t.Helper()
	ch, reqs, err := c.OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	tm := &terminal{t: t, ch: ch, screen: &logBook{}, errs: &logBook{}, ended: make(chan struct{}), status: -1}
	var all sync.WaitGroup
	all.Go(func() { io.Copy(tm.screen, ch) })
	all.Go(func() { io.Copy(tm.errs, ch.Stderr()) })
	all.Go(func() { tm.answer(reqs) })
	go func() {
		all.Wait()
		close(tm.ended)
	}()
	return tm
}

func (tm *terminal) answer(reqs <-chan *ssh.Request) {
	for r := range reqs {
		if r.Type == "exit-status" {
			var s struct{ Status uint32 }
			if ssh.Unmarshal(r.Payload, &s) == nil {
				tm.mu.Lock()
				tm.status = int(s.Status)
				tm.statuses++
				tm.mu.Unlock()
			}
		}
		r.Reply(false, nil)
	}
}

// ptyPayload is a pty-req's.
func ptyPayload(term string, cols, rows uint32) []byte {
	return ssh.Marshal(struct {
		Term                string
		Cols, Rows, WPx, HP uint32
		Modes               string
	}{term, cols, rows, 0, 0, "\x00"})
}

func sizePayload(cols, rows uint32) []byte {
	return ssh.Marshal(struct{ Cols, Rows, W, H uint32 }{cols, rows, 0, 0})
}

func text(s string) []byte { return ssh.Marshal(struct{ S string }{s}) }

func pair(a, b string) []byte { return ssh.Marshal(struct{ A, B string }{a, b}) }

// ask sends a request that must be granted.
func (tm *terminal) ask(name string, payload []byte) {
	tm.t.Helper()
	ok, err := tm.ch.SendRequest(name, true, payload)
	if err != nil || !ok {
		tm.t.Fatalf("request %s: granted %v, error %v", name, ok, err)
	}
}

// shell asks for a terminal of 80x24 and a shell.
func (tm *terminal) shell() *terminal {
	tm.t.Helper()
	tm.ask("pty-req", ptyPayload("xterm-256color", 80, 24))
	tm.ask("shell", nil)
	return tm
}

// exec asks for a terminal of 80x24 and a command.
func (tm *terminal) exec(command string) *terminal {
	tm.t.Helper()
	tm.ask("pty-req", ptyPayload("xterm-256color", 80, 24))
	tm.ask("exec", text(command))
	return tm
}

func (tm *terminal) typeIn(s string) {
	tm.t.Helper()
	if _, err := io.WriteString(tm.ch, s); err != nil {
		tm.t.Fatal(err)
	}
}

// shows waits until the screen has want.
func (tm *terminal) shows(want string) {
	tm.t.Helper()
	tm.t.Cleanup(func() {
		if tm.t.Failed() {
			tm.t.Logf("the screen at the end: %q", tail(tm.screen.String()))
		}
	})
	until(tm.t, "the screen to show "+want, func() bool {
		return strings.Contains(tm.screen.String(), want)
	})
}

// tail is the end of a long text.
func tail(s string) string { return s[max(0, len(s)-4000):] }

// exit waits for the end of the channel and returns the exit status.
func (tm *terminal) exit() int {
	tm.t.Helper()
	select {
	case <-tm.ended:
	case <-time.After(patience):
		tm.t.Fatalf("the channel does not end; screen %q, stderr %q", tail(tm.screen.String()), tm.errs)
	}
	tm.mu.Lock()
	defer tm.mu.Unlock()
	if tm.statuses != 1 {
		tm.t.Errorf("%d exit statuses came", tm.statuses)
	}
	return tm.status
}
