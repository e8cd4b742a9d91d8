package tmux

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

const patience = 20 * time.Second

// eventually waits until ok, and fails with what say tells when it never is.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("never came: %s", what)
		}
	}
}

// newDir is a directory with a path short enough for a socket.
func newDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// newServer is a server of its own that is gone after the test.
func newServer(t testing.TB, change ...func(*Config)) *Server {
	t.Helper()
	cfg := Config{Dir: newDir(t)}
	for _, c := range change {
		c(&cfg)
	}
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		killServer(t, s)
	})
	return s
}

func killServer(t testing.TB, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	_, err := s.program.run(ctx, "kill-server")
	for _, gone := range []string{"no server running", "error connecting", "server exited"} {
		if err != nil && strings.Contains(err.Error(), gone) {
			return
		}
	}
	if err != nil {
		t.Errorf("kill the server: %v", err)
	}
}

// raw asks tmux itself.
func raw(t testing.TB, s *Server, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	out, err := s.program.run(ctx, args...)
	if err != nil {
		t.Fatalf("tmux %v: %v", args, err)
	}
	return strings.TrimSuffix(out, "\n")
}

func start(t testing.TB, s *Server, id string, size hitchpost.Size, argv ...string) Pane {
	t.Helper()
	p, err := s.Start(t.Context(), Start{Session: id, Command: argv, Size: size})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// screen is a terminal with scrollback that reads a view until it ends.
type screen struct {
	view *View
	mu   sync.Mutex
	term *grid
	log  []byte
	done chan struct{}
	err  error
}

func terminal(size hitchpost.Size) hitchpost.Terminal {
	return hitchpost.Terminal{Name: "xterm-ghostty", Size: size, TrueColor: true}
}

func attach(t testing.TB, s *Server, a Attach) *screen {
	t.Helper()
	v, err := s.Attach(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	sc := &screen{view: v, term: newGrid(a.Terminal.Size.Cols, a.Terminal.Size.Rows), done: make(chan struct{})}
	go sc.read()
	t.Cleanup(func() {
		v.Close()
		<-sc.done
	})
	return sc
}

func (sc *screen) read() {
	defer close(sc.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := sc.view.Read(buf)
		sc.mu.Lock()
		sc.log = append(sc.log, buf[:n]...)
		sc.term.Write(buf[:n])
		sc.mu.Unlock()
		if err != nil {
			sc.err = err
			return
		}
	}
}

// text is the scrollback and the screen, a line each, without blanks at their ends.
func (sc *screen) text() []string {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	return sc.term.text()
}

func (sc *screen) shows(text string) bool {
	for _, l := range sc.text() {
		if strings.Contains(l, text) {
			return true
		}
	}
	return false
}

func (sc *screen) bytes() []byte {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	return append([]byte(nil), sc.log...)
}

// sh is a command for a pane; the panes of tests run a shell on a script of the test's own.
func sh(script string, args ...any) []string {
	return []string{"sh", "-c", fmt.Sprintf(script, args...)}
}

func processes(t testing.TB, socket string) []string {
	t.Helper()
	out, err := exec.Command("ps", "-eo", "pid,args").Output()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for l := range strings.Lines(string(out)) {
		if strings.Contains(l, socket) {
			found = append(found, strings.TrimSpace(l))
		}
	}
	return found
}

// allParked waits until all clients that are to wait do.
func allParked(t testing.TB, s *Server) {
	t.Helper()
	eventually(t, "clients are parked", func() bool {
		s.park.mu.Lock()
		defer s.park.mu.Unlock()
		return len(s.park.ready) == spares
	})
}
