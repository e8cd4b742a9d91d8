package tmux

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

func windowSize(t testing.TB, s *Server, id string) string {
	t.Helper()
	return raw(t, s, "display-message", "-p", "-t", target(id), "#{window_width}x#{window_height}")
}

// The client used last decides the size; the one that stays gets its own back, and is drawn again.
func TestSizeFollowsTheClientUsedLast(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "shared", hitchpost.Size{Cols: 80, Rows: 24}, sh("stty -echo; echo ready; exec cat")...)
	waitFor(t, s, "shared", "ready")
	is := func(want string) {
		t.Helper()
		begin := time.Now()
		eventually(t, want, func() bool { return windowSize(t, s, "shared") == want })
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("%s after %v", want, took)
		}
	}
	a := attach(t, s, Attach{Session: "shared", Terminal: terminal(hitchpost.Size{Cols: 160, Rows: 45})})
	is("160x45")
	b := attach(t, s, Attach{Session: "shared", Terminal: terminal(hitchpost.Size{Cols: 45, Rows: 20})})
	is("45x20")
	write(t, a.view, "x")
	is("160x45")
	write(t, b.view, "x")
	is("45x20")
	if err := b.view.Resize(hitchpost.Size{Cols: 45, Rows: 12}); err != nil {
		t.Fatal(err)
	}
	is("45x12")
	before := len(a.bytes())
	if err := b.view.Close(); err != nil {
		t.Fatal(err)
	}
	is("160x45")
	eventually(t, "the screen is drawn again", func() bool {
		return bytes.Contains(a.bytes()[before:], []byte(drawn))
	})
	panes, err := s.Panes(t.Context())
	if err != nil || len(panes) != 1 {
		t.Fatal(panes, err)
	}
	eventually(t, "one view left", func() bool {
		panes, err := s.Panes(t.Context())
		return err == nil && len(panes) == 1 && panes[0].Attached == 1
	})
}

func write(t testing.TB, v *View, text string) {
	t.Helper()
	if _, err := v.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// A read-only view sees all, changes nothing: neither by typing nor by its size, alone or beside another.
func TestReadOnlyChangesNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "watched", hitchpost.Size{Cols: 100, Rows: 30}, sh("stty -echo; echo ready; while read l; do echo got-$l; done")...)
	waitFor(t, s, "watched", "ready")
	small := Attach{Session: "watched", Terminal: terminal(hitchpost.Size{Cols: 40, Rows: 10}), ReadOnly: true, ReplayLines: -1}
	w := attach(t, s, small)
	eventually(t, "the viewer sees the screen", func() bool { return w.shows("ready") })
	if n, err := w.view.Write([]byte("evil\r")); n != 5 || err != nil {
		t.Errorf("Write: %d, %v", n, err)
	}
	if err := w.view.Resize(hitchpost.Size{Cols: 50, Rows: 12}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "tmux knows the viewer's size", func() bool {
		return strings.Contains(raw(t, s, "list-clients", "-t", target("watched"), "-F", "#{client_width}"), "50")
	})
	if got := windowSize(t, s, "watched"); got != "100x30" {
		t.Errorf("alone, the viewer made it %s", got)
	}
	d := attach(t, s, Attach{Session: "watched", Terminal: terminal(hitchpost.Size{Cols: 90, Rows: 25})})
	w2 := attach(t, s, small)
	eventually(t, "the second viewer sees the screen", func() bool { return w2.shows("ready") })
	if got := windowSize(t, s, "watched"); got != "90x25" {
		t.Errorf("beside a driver, the viewer made it %s", got)
	}
	write(t, d.view, "good\r")
	eventually(t, "the driver's line", func() bool { return w.shows("got-good") && w2.shows("got-good") })
	if text, err := s.Capture(t.Context(), "watched", Capture{History: true}); err != nil || bytes.Contains(text, []byte("evil")) {
		t.Errorf("the viewer typed: %q, %v", text, err)
	}
	d.view.Close()
	eventually(t, "two viewers left", func() bool {
		panes, err := s.Panes(t.Context())
		return err == nil && len(panes) == 1 && panes[0].Attached == 2
	})
	if got := windowSize(t, s, "watched"); got != "90x25" {
		t.Errorf("after the driver left, the viewers made it %s", got)
	}
}

// Sizes that no terminal has do no harm.
func TestAttachAtOddSizes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "odd", hitchpost.Size{Cols: 80, Rows: 24}, sh("echo ready; exec cat")...)
	waitFor(t, s, "odd", "ready")
	for _, size := range []hitchpost.Size{{}, {Cols: 1, Rows: 1}, {Cols: 65535, Rows: 65535}, {Cols: -1, Rows: 5}} {
		v, err := s.Attach(t.Context(), Attach{Session: "odd", Terminal: hitchpost.Terminal{Size: size}, ReplayLines: -1})
		if err != nil {
			t.Fatalf("%v: %v", size, err)
		}
		want := size.Clamp()
		eventually(t, fmt.Sprint(want), func() bool {
			return windowSize(t, s, "odd") == fmt.Sprintf("%dx%d", want.Cols, want.Rows)
		})
		if err := v.Resize(size); err != nil {
			t.Errorf("%v: %v", size, err)
		}
		v.Close()
	}
}

// A terminal that tmux does not know, or none at all, is served, and in colour; vt100 gets no colour.
func TestAttachWithAnyTERM(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "term", hitchpost.Size{Cols: 80, Rows: 24},
		sh(`printf '\033[38;2;1;2;3mRGB\033[m\n\303\251 \346\227\245 \360\237\231\202\n'; exec cat`)...)
	waitFor(t, s, "term", "RGB")
	for _, name := range []string{"", "dumb", "xterm-ghostty", "xterm-kitty", "foot", "wezterm", "nonsense", "vt100", "linux"} {
		term := hitchpost.Terminal{Name: name, Size: hitchpost.Size{Cols: 80, Rows: 24}, TrueColor: true}
		sc := attach(t, s, Attach{Session: "term", Terminal: term, ReplayLines: -1})
		eventually(t, name, func() bool { return sc.shows("RGB") && sc.shows("é 日") })
		full := bytes.Contains(sc.bytes(), []byte("38;2;1;2;3m"))
		if want := name != "vt100" && name != "linux"; full != want {
			t.Errorf("TERM=%s: 24-bit colour is %v: %q", name, full, sc.bytes())
		}
		if name == "vt100" && regexp.MustCompile(`\x1b\[[0-9:;]+m`).Match(sc.bytes()) {
			t.Errorf("TERM=vt100 got colour: %q", sc.bytes())
		}
		sc.view.Close()
	}
}

// What is open is closed: no process, no descriptor, no goroutine, no client, no buffer is left of 200 views.
func TestViewsLeaveNothingBehind(t *testing.T) {
	s := newServer(t)
	start(t, s, "often", sizes[0], printer("long", 200, 0)...)
	waitFor(t, s, "often", "<200>")
	state := func() (string, bool) {
		s.park.mu.Lock()
		full := len(s.park.ready) == spares
		s.park.mu.Unlock()
		fds, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Fatal(err)
		}
		files, err := os.ReadDir(s.program.layout.dir)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d descriptors, %d processes, %d clients, buffers %q, %d files", len(fds),
			len(processes(t, s.Socket())), strings.Count(raw(t, s, "list-clients"), "\n"),
			raw(t, s, "list-buffers"), len(files)), full
	}
	once := func() {
		v, err := s.Attach(t.Context(), Attach{Session: "often", Terminal: terminal(sizes[0]), ReplayLines: -1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Read(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
	once()
	var before string
	eventually(t, "clients are parked", func() (ok bool) { before, ok = state(); return ok })
	goroutines := goruntime.NumGoroutine()
	for range 200 {
		once()
	}
	var after string
	eventually(t, "the same state as before: "+before, func() bool {
		var full bool
		after, full = state()
		return full && after == before
	})
	eventually(t, "no more goroutines", func() bool { return goruntime.NumGoroutine() <= goroutines })
}

func TestReadDoesNotAllocate(t *testing.T) {
	s := newServer(t)
	start(t, s, "lean", sizes[0], sh("stty raw -echo; echo ready; exec cat")...)
	waitFor(t, s, "lean", "ready")
	v, err := s.Attach(t.Context(), Attach{Session: "lean", Terminal: terminal(sizes[0])})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	buf, key := make([]byte, 32<<10), []byte("x")
	for seen := false; !seen; {
		n, err := v.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		seen = bytes.Contains(buf[:n], []byte(drawn))
	}
	allParked(t, s) // nothing else goes on
	if allocs := testing.AllocsPerRun(500, func() {
		if _, err := v.Write(key); err != nil {
			t.Error(err)
		}
		if _, err := v.Read(buf); err != nil {
			t.Error(err)
		}
	}); allocs != 0 {
		t.Errorf("a key and its echo allocate %v times", allocs)
	}
}

// The last words of a process are read before its view is closed.
func TestTailBringsTheLastWords(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "ends", sizes[0], sh(`read x; seq 1 3000; echo last words; stty raw -echo;
		printf '\033[5n'; dd bs=4 count=1 >/dev/null 2>&1; exit 3`)...)
	sc := attach(t, s, Attach{Session: "ends", Terminal: terminal(sizes[0])})
	write(t, sc.view, "\r")
	eventually(t, "death", func() bool {
		panes, err := s.Panes(t.Context())
		return err == nil && len(panes) == 1 && panes[0].Dead
	})
	ctx, cancel := context.WithTimeout(t.Context(), callLimit)
	defer cancel()
	if err := sc.view.Tail(ctx); err != nil {
		t.Fatal(err)
	}
	sc.view.Close()
	<-sc.done
	if !sc.shows("last words") {
		t.Errorf("not shown: %q", sc.text())
	}
	if strings.Contains(string(sc.bytes()), "Pane is dead") || strings.Contains(string(sc.bytes()), "[exited]") {
		t.Errorf("tmux's own words are shown: %q", sc.bytes())
	}
}

// When the session is killed the view ends by itself, without a word of tmux's own.
func TestViewEndsWithItsSession(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "killed", sizes[0], sh("echo ready; exec cat")...)
	sc := attach(t, s, Attach{Session: "killed", Terminal: terminal(sizes[0]), ReplayLines: -1})
	eventually(t, "the screen", func() bool { return sc.shows("ready") })
	if err := s.Kill(t.Context(), "killed"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-sc.view.Done():
	case <-time.After(patience):
		t.Fatal("the view goes on")
	}
	<-sc.done
	if strings.Contains(string(sc.bytes()), "[exited]") || strings.Contains(string(sc.bytes()), "[detached") {
		t.Errorf("tmux's own words are shown: %q", sc.bytes())
	}
	if _, err := sc.view.Write([]byte("x")); err == nil {
		t.Error("an ended view takes input")
	}
}
