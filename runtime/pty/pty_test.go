package pty

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	goruntime "runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

const patience = 20 * time.Second

func run(t testing.TB, size hitchpost.Size, argv ...string) *Process {
	t.Helper()
	p, err := Start(exec.Command(argv[0], argv[1:]...), size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	if err := p.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return p
}

// until reads up to text.
func until(t testing.TB, p *Process, text string) string {
	t.Helper()
	var got bytes.Buffer
	buf := make([]byte, 4096)
	for !strings.Contains(got.String(), text) {
		n, err := p.Read(buf)
		got.Write(buf[:n])
		if err != nil {
			t.Fatalf("%v before %q; so far %q", err, text, got.String())
		}
	}
	return got.String()
}

func TestSizeAndResize(t *testing.T) {
	t.Parallel()
	p := run(t, hitchpost.Size{Cols: 91, Rows: 17}, "sh", "-c",
		`trap 'stty size' WINCH; stty size; while :; do read x && echo "got-$x"; done`)
	until(t, p, "17 91")
	if err := p.Resize(hitchpost.Size{Cols: 40, Rows: 60}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([]byte("a\n")); err != nil {
		t.Fatal(err)
	}
	until(t, p, "60 40")
	for _, size := range []hitchpost.Size{{}, {Cols: -5, Rows: -5}, {Cols: 1 << 20, Rows: 1 << 20}} {
		if err := p.Resize(size); err != nil {
			t.Errorf("%v: %v", size, err)
		}
	}
}

func TestEndIsEOF(t *testing.T) {
	t.Parallel()
	p := run(t, hitchpost.Size{Cols: 80, Rows: 24}, "sh", "-c", "echo words; exit 3")
	got, err := io.ReadAll(p)
	if err != nil || string(got) != "words\r\n" {
		t.Errorf("%q, %v", got, err)
	}
	<-p.Done()
	var exit *exec.ExitError
	if !errors.As(p.Err(), &exit) || exit.ExitCode() != 3 {
		t.Errorf("Err is %v", p.Err())
	}
	if p.BytesRead() != int64(len(got)) {
		t.Errorf("%d bytes were counted", p.BytesRead())
	}
}

// What a command prints in a burst comes in few reads, all of it and in order.
func TestReadGathers(t *testing.T) {
	t.Parallel()
	p := run(t, hitchpost.Size{Cols: 80, Rows: 24}, "sh", "-c", "stty -opost; seq 1 20000; read x")
	var want bytes.Buffer
	for i := 1; i <= 20000; i++ {
		fmt.Fprintln(&want, i)
	}
	var got bytes.Buffer
	buf := make([]byte, 32<<10)
	for got.Len() < want.Len() {
		n, err := p.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(buf[:n])
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("the bytes are not those that were printed")
	}
	if n, err := p.ReadReady(buf); n != 0 || err != nil {
		t.Errorf("ReadReady with nothing there: %d, %v", n, err)
	}
}

func TestReadDoesNotAllocate(t *testing.T) {
	p := run(t, hitchpost.Size{Cols: 80, Rows: 24}, "sh", "-c", "stty raw -echo; echo ready; exec cat")
	until(t, p, "ready\n")
	buf, key := make([]byte, 4096), bytes.Repeat([]byte("x"), 200)
	if allocs := testing.AllocsPerRun(100, func() {
		if _, err := p.Write(key); err != nil {
			t.Error(err)
		}
		for n := 0; n < len(key); {
			m, err := p.Read(buf)
			if err != nil {
				t.Error(err)
				return
			}
			n += m
		}
	}); allocs != 0 {
		t.Errorf("a read allocates %v times", allocs)
	}
}

// A command that does not read keeps nobody for longer than they asked, and what it has not taken is told.
func TestWriteWithinALimit(t *testing.T) {
	t.Parallel()
	p := run(t, hitchpost.Size{Cols: 80, Rows: 24}, "sh", "-c", "stty raw -echo; echo ready; kill -STOP $$; exec cat")
	until(t, p, "ready\n")
	typed := bytes.Repeat([]byte("x"), 1<<20)
	n, err := p.WriteWithin(typed, 20*time.Millisecond)
	if n <= 0 || n >= len(typed) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	until(t, p, string(typed[:n]))
	if m, err := p.WriteWithin([]byte("end"), patience); m != 3 || err != nil {
		t.Errorf("%d bytes, %v", m, err)
	}
	until(t, p, "end")
}

// A reader that waits is a parked goroutine, not a thread.
func TestWaitingReadersHoldNoThreads(t *testing.T) {
	threads := func() int {
		entries, err := os.ReadDir("/proc/self/task")
		if errors.Is(err, os.ErrNotExist) {
			return 0 // no such list on this system: the comparison below is of nothing
		}
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := threads()
	done := make(chan struct{})
	const readers = 50
	var all []*Process
	for range readers {
		p := run(t, hitchpost.Size{Cols: 80, Rows: 24}, "sh", "-c", "echo ready; exec cat")
		until(t, p, "ready\r\n")
		all = append(all, p)
		go func() {
			defer func() { done <- struct{}{} }()
			p.Read(make([]byte, 1))
		}()
	}
	// Each starts and reaps a process of its own, which may take threads; far fewer than one a reader.
	if after := threads(); after-before > readers/2 {
		t.Errorf("%d threads more with %d readers", after-before, readers)
	}
	for _, p := range all {
		p.Close()
	}
	for range readers {
		<-done
	}
}

// What was typed right before Close is read by a command that reads.
func TestCloseLosesNoInput(t *testing.T) {
	t.Parallel()
	for i := range 20 {
		path := fmt.Sprintf("%s/%d", t.TempDir(), i)
		p := run(t, hitchpost.Size{Cols: 80, Rows: 24}, "sh", "-c",
			`trap '' HUP; stty raw -echo; echo ready; exec head -c 6 >"$0"`, path)
		until(t, p, "ready")
		p.hangup, p.input = patience, patience // however busy the machine is
		if _, err := p.Write([]byte("typed\n")); err != nil {
			t.Fatal(err)
		}
		p.Close()
		if got, err := os.ReadFile(path); err != nil || string(got) != "typed\n" {
			t.Fatalf("%q, %v", got, err)
		}
	}
}

// A command that ignores the hangup is killed; a second Close is nothing; a Read that waits ends.
func TestClose(t *testing.T) {
	t.Parallel()
	p := run(t, hitchpost.Size{Cols: 80, Rows: 24}, "sh", "-c", "trap '' HUP; echo ready; exec sleep 1000")
	until(t, p, "ready\r\n")
	ended := make(chan error)
	go func() {
		_, err := p.Read(make([]byte, 1))
		ended <- err
	}()
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("Read ended with %v", err)
	}
	if err := p.cmd.Process.Signal(syscall.Signal(0)); err == nil {
		t.Error("the command lives")
	}
	if n, err := p.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("Read after Close: %d, %v", n, err)
	}
	if _, err := p.Write([]byte("x")); err == nil {
		t.Error("Write after Close is taken")
	}
}

func TestStartFailureLeavesNothing(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before, goroutines := count(), goruntime.NumGoroutine()
	for range 20 {
		if _, err := Start(exec.Command("/no/such/program"), hitchpost.Size{Cols: 80, Rows: 24}); err == nil {
			t.Fatal("it started")
		}
	}
	if after := count(); after > before || goruntime.NumGoroutine() > goroutines {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}
