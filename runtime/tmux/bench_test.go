package tmux

import (
	"bytes"
	"fmt"
	"os/exec"
	"testing"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/pty"
)

func BenchmarkAttach(b *testing.B) {
	for name, lines := range map[string]int{"empty": 1, "1000-lines": 1000, "20000-lines": 20000} {
		b.Run(name, func(b *testing.B) {
			s := newServer(b)
			start(b, s, "bench", hitchpost.Size{Cols: 80, Rows: 24}, printer("long", lines, 0)...)
			waitFor(b, s, "bench", fmt.Sprintf("<%d>", lines))
			buf := make([]byte, 32<<10)
			for b.Loop() {
				v, err := s.Attach(b.Context(), Attach{Session: "bench", Terminal: terminal(sizes[0]), ReplayLines: -1})
				if err != nil {
					b.Fatal(err)
				}
				replay := len(v.replay)
				for n := 0; ; {
					m, err := v.Read(buf)
					if err != nil {
						b.Fatal(err)
					}
					if n += m; n > replay && bytes.Contains(buf[:m], []byte("\x1b[?2026l")) {
						break
					}
				}
				b.StopTimer()
				v.Close()
				allParked(b, s)
				b.StartTimer()
			}
		})
	}
}

// The client of tmux itself on a PTY, for comparison.
func BenchmarkPlainAttach(b *testing.B) {
	s := newServer(b)
	start(b, s, "bench", hitchpost.Size{Cols: 80, Rows: 24}, printer("long", 1, 0)...)
	waitFor(b, s, "bench", "<1>")
	buf := make([]byte, 32<<10)
	for b.Loop() {
		p := plainAttach(b, s, "bench")
		for {
			n, err := p.Read(buf)
			if err != nil {
				b.Fatal(err)
			}
			if bytes.Contains(buf[:n], []byte("\x1b[?2026l")) {
				break
			}
		}
		b.StopTimer()
		p.Close()
		b.StartTimer()
	}
}

func plainAttach(b testing.TB, s *Server, id string) *pty.Process {
	b.Helper()
	cmd := exec.Command(s.program.path(), "-S", s.Socket(), "-u", "attach-session", "-t", target(id))
	cmd.Env = clientEnv()
	p, err := pty.Start(cmd, sizes[0])
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func BenchmarkEcho(b *testing.B) {
	s := newServer(b)
	for _, id := range []string{"ours", "plain"} {
		start(b, s, id, sizes[0], sh("stty raw -echo; echo ready; exec cat")...)
		waitFor(b, s, id, "ready")
	}
	v, err := s.Attach(b.Context(), Attach{Session: "ours", Terminal: terminal(sizes[0])})
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	p := plainAttach(b, s, "plain")
	defer p.Close()
	buf := make([]byte, 32<<10)
	echo := func(b *testing.B, read, write func([]byte) (int, error)) {
		b.Helper()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			key := []byte{'a' + byte(i%26)}
			if _, err := write(key); err != nil {
				b.Fatal(err)
			}
			for {
				n, err := read(buf)
				if err != nil {
					b.Fatal(err)
				}
				if bytes.Contains(buf[:n], key) {
					break
				}
			}
		}
	}
	b.Run("view", func(b *testing.B) { echo(b, v.Read, v.Write) })
	b.Run("plain", func(b *testing.B) { echo(b, p.Read, p.Write) })
}

func BenchmarkPanes(b *testing.B) {
	for _, count := range []int{1, 100} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			s := newServer(b)
			for i := range count {
				start(b, s, fmt.Sprintf("bench-%d", i), sizes[0], "sleep", "1000000")
			}
			for b.Loop() {
				if panes, err := s.Panes(b.Context()); err != nil || len(panes) != count {
					b.Fatal(len(panes), err)
				}
			}
		})
	}
}
