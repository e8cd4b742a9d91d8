package task_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/runtime/task"
)

func fed(t *testing.T, argv ...string) task.Spec {
	t.Helper()
	s := spec(t, argv...)
	s.Stdin = true
	return s
}

func TestInputArrivesWhole(t *testing.T) {
	t.Parallel()
	big := make([]byte, 10<<20)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(big)
	for _, data := range [][]byte{nil, []byte("a\nb\n"), big} {
		t.Run(fmt.Sprint(len(data)), func(t *testing.T) {
			t.Parallel()
			r := begin(t, fed(t, "cat"))
			if err := task.Feed(t.Context(), r.folder, bytes.NewReader(data)); err != nil {
				t.Fatal(err)
			}
			r.endsWith(0, "")
			if got := output(t, r.folder); got != string(data) {
				t.Errorf("%d bytes of %d, or others", len(got), len(data))
			}
			r.wasCut(false)
		})
	}
}

// Whoever feeds first waits for the task, and the task waits for whoever feeds.
func TestInputBeforeTheStart(t *testing.T) {
	t.Parallel()
	folder := create(t, fed(t, "cat"))
	done := make(chan error, 1)
	go func() { done <- task.Feed(t.Context(), folder, strings.NewReader("early")) }()
	r := runner(t, folder)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	r.endsWith(0, "")
	if got := output(t, folder); got != "early" {
		t.Errorf("%q", got)
	}
}

func TestInputComesLate(t *testing.T) {
	t.Parallel()
	s := fed(t, "sh", "-c", "touch up; cat")
	r := begin(t, s)
	r.ready(filepath.Join(s.Dir, "up"))
	if err := task.Feed(t.Context(), r.folder, strings.NewReader("late")); err != nil {
		t.Fatal(err)
	}
	r.endsWith(0, "")
	if got := output(t, r.folder); got != "late" {
		t.Errorf("%q", got)
	}
}

func TestInputIsGivenOnce(t *testing.T) {
	t.Parallel()
	r := begin(t, fed(t, "cat"))
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- task.Feed(t.Context(), r.folder, in) }()
	if _, err := io.WriteString(out, "one"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it arrives", func() bool { return output(t, r.folder) == "one" })
	if err := task.Feed(t.Context(), r.folder, strings.NewReader("two")); !errors.Is(err, task.ErrFed) {
		t.Errorf("the second: %v", err)
	}
	if _, err := io.WriteString(out, "three"); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	r.endsWith(0, "")
	if got := output(t, r.folder); got != "onethree" {
		t.Errorf("%q", got)
	}
}

// endless is an input that never ends, in one of two ways.
type endless struct{ silent chan struct{} }

func (e endless) Read(p []byte) (int, error) {
	if e.silent != nil {
		<-e.silent
		return 0, io.EOF
	}
	return len(p), nil
}

// A command that ends, or reads no more, ends its input, and that is no error.
func TestInputThatNobodyReads(t *testing.T) {
	t.Parallel()
	scripts := map[string]string{
		"ended": "head -c 10 >&2; exit 3", "never read": "exit 3", "closed": "exec <&-; until [ -e go ]; do sleep 0.01; done; exit 3",
	}
	for name, script := range scripts {
		for _, silent := range []bool{false, true} {
			if silent && name == "ended" {
				continue // it waits for input
			}
			t.Run(fmt.Sprint(name, " silent ", silent), func(t *testing.T) {
				t.Parallel()
				s := fed(t, "sh", "-c", script)
				r := begin(t, s)
				var e endless
				if silent {
					e.silent = make(chan struct{})
					defer close(e.silent)
				}
				start := time.Now()
				if err := task.Feed(t.Context(), r.folder, e); err != nil {
					t.Fatal(err)
				}
				if name == "closed" && look(t, r.folder).Over() {
					t.Error("the input ended with the task alone")
				}
				within(t, start, 0, 10*time.Second)
				if err := os.WriteFile(filepath.Join(s.Dir, "go"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				r.endsWith(3, "")
				r.wasCut(false)
				if err := task.Feed(t.Context(), r.folder, e); err != nil {
					t.Errorf("after the end: %v", err)
				}
			})
		}
	}
}

func TestFeedEndsWithItsContextAndSoDoesTheInput(t *testing.T) {
	t.Parallel()
	s := fed(t, "sh", "-c", "cat; echo eof")
	r := begin(t, s)
	ctx, cancel := context.WithCancelCause(t.Context())
	in, out := io.Pipe()
	defer out.Close()
	done := make(chan error, 1)
	go func() { done <- task.Feed(ctx, r.folder, in) }()
	if _, err := io.WriteString(out, "some "); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it arrives", func() bool { return output(t, r.folder) == "some " })
	reason := errors.New("the client is gone")
	cancel(reason)
	if err := <-done; !errors.Is(err, reason) {
		t.Error(err)
	}
	r.endsWith(0, "")
	if got := output(t, r.folder); got != "some eof\n" {
		t.Errorf("%q", got)
	}
	r.wasCut(true)
}

// A command that ends while its input goes on has had all that it wanted.
func TestInputThatGoesOnIsNotCut(t *testing.T) {
	t.Parallel()
	r := begin(t, fed(t, "head", "-n", "1"))
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- task.Feed(t.Context(), r.folder, in) }()
	if _, err := io.WriteString(out, "one\n"); err != nil {
		t.Fatal(err)
	}
	r.endsWith(0, "")
	r.wasCut(false)
	out.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestTaskWithoutInputIsNotFed(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{create(t, spec(t, "cat")), filepath.Join(t.TempDir(), "none")} {
		if err := task.Feed(t.Context(), folder, strings.NewReader("x")); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}
