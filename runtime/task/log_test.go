package task_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hitchpost/hitchpost/runtime/task"
)

// gap is the line that stands for what was left out.
var gap = regexp.MustCompile(`(?m)^\[hitchpost: (\d+) bytes of output left out\]\n`)

// size is what a folder takes for its log.
func size(t *testing.T, folder string) (n int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "log*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

// A hundred megabytes go through, and what is kept of them is their start and their end, with what is missing counted.
func TestLongOutputIsCapped(t *testing.T) {
	t.Parallel()
	const limit, total = 1 << 20, 9999999*8 + 2222223*9
	s := spec(t, "sh", "-c", "seq -w 1 9999999; seq 20000000 22222222")
	s.LogLimit = limit
	r := begin(t, s)
	record := r.endsWith(0, "")
	if record.LogBytes != total {
		t.Errorf("recorded %d bytes, written were %d", record.LogBytes, total)
	}
	got := output(t, r.folder)
	at := gap.FindStringSubmatchIndex(got)
	if at == nil {
		t.Fatalf("no gap in %d bytes", len(got))
	}
	head, tail := got[:at[0]], got[at[1]:]
	out, err := strconv.Atoi(got[at[2]:at[3]])
	if err != nil || len(strings.TrimSuffix(head, "\n"))+1 < limit/2 || len(head)+out+len(tail) != total ||
		len(tail) < limit/2*7/8 || len(tail) > limit/2 {
		t.Errorf("%d bytes, %d left out, %d bytes, %v", len(head), out, len(tail), err)
	}
	if !strings.HasPrefix(head, "0000001\n0000002\n") || !strings.HasSuffix(tail, "\n22222221\n22222222\n") {
		t.Errorf("%.40q … %.40q", head, tail[len(tail)-40:])
	}
	if n := size(t, r.folder); n > limit {
		t.Errorf("the log takes %d bytes of at most %d", n, limit)
	}
}

func TestLogUpToItsLimitIsWhole(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 65535, 65536, 65537, 122880, 131072} {
		s := spec(t, "head", "-c", strconv.Itoa(n), "/dev/zero")
		s.LogLimit = 128 << 10
		r := begin(t, s)
		r.endsWith(0, "")
		if got := output(t, r.folder); got != strings.Repeat("\x00", n) {
			t.Errorf("%d bytes came as %d, %.80q", n, len(got), gap.FindString(got))
		}
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", "seq 1 100000; printf 'no end'")
	s.LogLimit = 64 << 10
	r := begin(t, s)
	r.endsWith(0, "")
	all := output(t, r.folder)
	lines := strings.SplitAfter(all, "\n")
	if !gap.MatchString(all) {
		t.Fatal("no gap")
	}
	for _, n := range []int{0, 1, 2, 3, 10, 1000, len(lines) - 1, len(lines), len(lines) + 1, 1 << 30} {
		want := strings.Join(lines[max(0, len(lines)-n):], "")
		if got := tail(t, r.folder, n); got != want {
			t.Errorf("last %d lines: %d bytes %.60q, want %d bytes %.60q", n, len(got), got, len(want), want)
		}
	}
	// On both sides of the gap, line by line.
	before := strings.Count(all[:gap.FindStringIndex(all)[0]], "\n")
	for n := len(lines) - before - 3; n <= len(lines)-before+3; n++ {
		if got, want := tail(t, r.folder, n), strings.Join(lines[len(lines)-n:], ""); got != want {
			t.Errorf("last %d lines: %.60q, want %.60q", n, got, want)
		}
	}
}

func TestTailOfFullLines(t *testing.T) {
	t.Parallel()
	r := begin(t, spec(t, "printf", `a\n\nb\n`))
	r.endsWith(0, "")
	for n, want := range []string{"", "b\n", "\nb\n", "a\n\nb\n", "a\n\nb\n"} {
		if got := tail(t, r.folder, n); got != want {
			t.Errorf("last %d lines: %q, want %q", n, got, want)
		}
	}
}

// follower is a Follow at work.
type follower struct {
	mu   sync.Mutex
	got  bytes.Buffer
	done chan error
}

func (f *follower) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.got.Write(p)
}

func (f *follower) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.got.String()
}

func follow(ctx context.Context, t *testing.T, folder string) *follower {
	t.Helper()
	log, err := task.OpenLog(folder)
	if err != nil {
		t.Fatal(err)
	}
	f := &follower{done: make(chan error, 1)}
	go func() { f.done <- errors.Join(log.Follow(ctx, f), log.Close()) }()
	return f
}

func TestFollowBeforeDuringAndAfter(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", `echo first; read x < go; seq 1 200000; read x < go; printf last`)
	if err := syscall.Mkfifo(filepath.Join(s.Dir, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	step := func() {
		t.Helper()
		if err := os.WriteFile(filepath.Join(s.Dir, "go"), []byte("\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder := create(t, s)
	all := []*follower{follow(t.Context(), t, folder)}
	r := runner(t, folder)
	eventually(t, "the first line comes", func() bool { return all[0].text() == "first\n" })
	all = append(all, follow(t.Context(), t, folder))
	step()
	eventually(t, "what comes is followed", func() bool { return strings.HasSuffix(all[1].text(), "\n200000\n") })
	select {
	case err := <-all[0].done:
		t.Fatalf("a follower ends before the task: %v", err)
	default:
	}
	log, err := task.OpenLog(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Tail(1); err != nil {
		t.Fatal(err)
	}
	last := &follower{done: make(chan error, 1)}
	go func() { last.done <- errors.Join(log.Follow(t.Context(), last), log.Close()) }()
	step()
	r.endsWith(0, "")
	if err := <-last.done; err != nil || last.text() != "200000\nlast" {
		t.Errorf("from the last line on: %v, %q", err, last.text())
	}
	all = append(all, follow(t.Context(), t, folder))
	want := output(t, folder)
	for i, f := range all {
		if err := <-f.done; err != nil || f.text() != want || !strings.HasSuffix(want, "\n200000\nlast") {
			t.Errorf("follower %d: %v, %d bytes of %d", i, err, len(f.text()), len(want))
		}
	}
}

func TestFollowEndsWithAKilledRunner(t *testing.T) {
	t.Parallel()
	r := begin(t, spec(t, "sh", "-c", `echo out; exec sleep 300`))
	f := follow(t.Context(), t, r.folder)
	eventually(t, "the output comes", func() bool { return f.text() == "out\n" })
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-f.done; err != nil || f.text() != "out\n" {
		t.Errorf("%v, %q", err, f.text())
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	t.Parallel()
	r := begin(t, spec(t, "sh", "-c", `echo out; exec sleep 300`))
	ctx, cancel := context.WithCancelCause(t.Context())
	f := follow(ctx, t, r.folder)
	eventually(t, "the output comes", func() bool { return f.text() == "out\n" })
	reason := errors.New("enough")
	cancel(reason)
	if err := <-f.done; !errors.Is(err, reason) {
		t.Error(err)
	}
}

// slow takes a byte at a time of what comes, until it is told to hurry.
type slow struct {
	follower
	hurry chan struct{}
}

func (s *slow) Write(p []byte) (int, error) {
	<-s.hurry
	return s.follower.Write(p)
}

// A follower that is too slow for a capped log gets the end, and the number of what it missed.
func TestSlowFollowerSeesAGap(t *testing.T) {
	t.Parallel()
	s := spec(t, "seq", "1", "300000")
	s.LogLimit = 128 << 10
	r := begin(t, s)
	log, err := task.OpenLog(r.folder)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	f := &slow{hurry: make(chan struct{})}
	f.done = make(chan error, 1)
	go func() { f.done <- log.Follow(t.Context(), f) }()
	record := r.endsWith(0, "")
	close(f.hurry)
	if err := <-f.done; err != nil {
		t.Fatal(err)
	}
	got := f.text()
	left := 0
	for _, m := range gap.FindAllStringSubmatch(got, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		left += n
	}
	kept := len(gap.ReplaceAllString(got, ""))
	if lost := int(record.LogBytes) - kept - left; left == 0 || lost > 0 || lost < -len(gap.FindAllString(got, -1)) { // line ends before gaps
		t.Errorf("%d bytes kept and %d left out of %d", kept, left, record.LogBytes)
	}
	if !strings.HasPrefix(got, "1\n2\n") || !strings.HasSuffix(got, "\n299999\n300000\n") {
		t.Errorf("%.20q … %.20q", got, got[len(got)-20:])
	}
}

// A command that never stops writing does not keep a reader that wants what there is now.
func TestWriteToEndsBesideAWriter(t *testing.T) {
	t.Parallel()
	s := spec(t, "yes")
	s.LogLimit = 1 << 20
	r := begin(t, s)
	eventually(t, "output comes", func() bool { return look(t, r.folder).LogBytes > s.LogLimit })
	log, err := task.OpenLog(r.folder)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for range 20 {
		if _, err := log.WriteTo(io.Discard); err != nil {
			t.Fatal(err)
		}
		if err := log.Tail(5); err != nil {
			t.Fatal(err)
		}
	}
	if err := task.Cancel(r.folder); err != nil {
		t.Fatal(err)
	}
	r.endsWith(0, "TERM")
	if got := output(t, r.folder); len(got) > 1<<20+100 || !gap.MatchString(got) {
		t.Errorf("%d bytes in the log", len(got))
	}
}
