package runtime

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shirou/gopsutil/v4/process"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/tmux"
)

// Evidence is bounded, and whole lines of its end are what is left of more.
func TestEvidenceIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "session", "screen.gz")
	line := "\x1b[38;2;1;2;3m" + strings.Repeat("x", 999) + "\x1b[m\n"
	for name, text := range map[string][]byte{
		"many lines": bytes.Repeat([]byte(line), 20_000),
		"one line":   bytes.Repeat([]byte("0123456789"), 2_000_000),
	} {
		e := evidence{At: time.Now(), Run: 3, All: text, Screen: text[:len(line)]}
		if err := writeEvidence(path, e); err != nil {
			t.Fatal(err)
		}
		got, err := readEvidence(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.All) > evidenceBytes || len(got.All) < evidenceBytes-len(line) || !bytes.HasSuffix(text, got.All) ||
			!bytes.Equal(got.Screen, e.Screen) || got.Run != 3 {
			t.Errorf("%s: %d bytes and a screen of %d of run %d", name, len(got.All), len(got.Screen), got.Run)
		}
		if name == "many lines" && !bytes.HasPrefix(got.All, []byte(line)) {
			t.Errorf("begins within a line: %.40q", got.All)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

// BenchmarkEvidence saves 200 sessions once, each with a whole tail of history. It tells the processor time of tmux,
// which serves nobody meanwhile, and of this process.
func BenchmarkEvidence(b *testing.B) {
	s, pid := keeperOf(b, 200)
	panes, err := s.Tmux.Panes(b.Context())
	if err != nil || len(panes) != 200 {
		b.Fatalf("%d panes, %v", len(panes), err)
	}
	for _, p := range panes {
		awaitLine(b, s.Tmux, p.Session)
	}
	served, own := processorTime(b, pid), processorTime(b, os.Getpid())
	var longest time.Duration
	for b.Loop() {
		for batch := range slices.Chunk(panes, evidenceBatch) {
			began := time.Now()
			if err := s.keepEvidence(b.Context(), batch, whileRunning()); err != nil {
				b.Fatal(err)
			}
			longest = max(longest, time.Since(began))
		}
	}
	b.ReportMetric(1000*(processorTime(b, pid)-served)/float64(b.N), "tmux-cpu-ms/op")
	b.ReportMetric(1000*(processorTime(b, os.Getpid())-own)/float64(b.N), "own-cpu-ms/op")
	b.ReportMetric(float64(longest.Milliseconds()), "longest-batch-ms")
}

// keeperOf is as much of a service as saves screens, and the process of its tmux server, which runs that many sessions.
func keeperOf(b *testing.B, sessions int) (*Service, int) {
	b.Helper()
	dir := b.TempDir()
	server, err := tmux.Open(b.Context(), tmux.Config{Dir: filepath.Join(dir, "tmux")})
	if err != nil {
		b.Fatal(err)
	}
	pid, err := server.Pid(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = server.Close()
		_ = syscall.Kill(pid, syscall.SIGKILL)
	})
	s := &Service{Config: Config{Tmux: server, Log: slog.New(slog.DiscardHandler)}, folder: folder{dir},
		kept: evidenceLog{of: map[string]saving{}}}
	if err := s.folder.make(); err != nil {
		b.Fatal(err)
	}
	const script = `seq -f 'line %06g of what a program prints, as long as lines mostly are' 5100; exec sleep 1000`
	for range sessions {
		_, err := server.Start(b.Context(), tmux.Start{Session: uuid.NewString(), Size: hitchpost.Size{Cols: 80, Rows: 24},
			Command: []string{"sh", "-c", script}})
		if err != nil {
			b.Fatal(err)
		}
	}
	return s, pid
}

func awaitLine(b *testing.B, server *tmux.Server, id string) {
	b.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); {
		text, err := server.Capture(b.Context(), id, tmux.Capture{})
		if err == nil && strings.Contains(string(text), fmt.Sprintf("line %06d", 5100)) {
			return
		}
	}
	b.Fatal("a session does not print")
}

// processorTime is what a process has used, in seconds.
func processorTime(b *testing.B, pid int) float64 {
	b.Helper()
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		b.Fatal(err)
	}
	used, err := p.Times()
	if err != nil {
		b.Fatal(err)
	}
	return used.User + used.System
}
