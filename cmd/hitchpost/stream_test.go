package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// stream is an OpenSSH client with a terminal at its far end alone: what it is sent is seen the moment it comes, so that
// times can be measured and any amount be read.
type stream struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	errs  buffer
	bytes atomic.Int64
	ended chan struct{}

	mu   sync.Mutex
	tail []byte        // of what came
	last time.Time     // when something came
	gap  time.Duration // the longest in which nothing came, since the last call of gaps
	news chan struct{} // closed and replaced when something came
}

// stream starts the client. Its options stand before what is to be run.
func (s *stack) stream(args ...string) *stream {
	s.t.Helper()
	return s.streamAs(s.path("home/.ssh/id_ed25519"), args...)
}

// streamAs is stream with the key in a file and no other.
func (s *stack) streamAs(key string, args ...string) *stream {
	s.t.Helper()
	words := s.sshArgs(append([]string{"-tt"}, args...)...)
	words[slices.Index(words, "-i")+1] = key
	cmd := exec.Command("ssh", words...)
	x := &stream{t: s.t, cmd: cmd, ended: make(chan struct{}), news: make(chan struct{}), last: time.Now()}
	cmd.Env, cmd.Stderr = s.env, &x.errs
	out, err := cmd.StdoutPipe()
	must(s.t, err)
	x.in, err = cmd.StdinPipe()
	must(s.t, err)
	must(s.t, cmd.Start())
	go func() {
		defer close(x.ended)
		_, _ = io.Copy(x, out)
		_ = cmd.Wait()
	}()
	s.t.Cleanup(x.kill)
	return x
}

// kill ends the client, also one that is stopped.
func (x *stream) kill() {
	_ = x.cmd.Process.Signal(syscall.SIGKILL)
	<-x.ended
}

// Write takes what the client prints.
func (x *stream) Write(p []byte) (int, error) {
	const kept = 64 << 10
	now := time.Now()
	x.bytes.Add(int64(len(p)))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.gap, x.last = max(x.gap, now.Sub(x.last)), now
	if x.tail = append(x.tail, p...); len(x.tail) > 2*kept {
		x.tail = append(x.tail[:0], x.tail[len(x.tail)-kept:]...)
	}
	close(x.news)
	x.news = make(chan struct{})
	return len(p), nil
}

// gaps is the longest time without anything new since it was last asked, the time up to now included.
func (x *stream) gaps() time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	longest := max(x.gap, time.Since(x.last))
	x.gap, x.last = 0, time.Now()
	return longest
}

// shows waits until what came holds text, and returns how long that took.
func (x *stream) shows(text string) time.Duration {
	x.t.Helper()
	took, ok := x.awaits(text, waitLimit)
	if !ok {
		x.t.Fatalf("%q was not shown\n%s%s", text, x.screen(), x.errs.String())
	}
	return took
}

func (x *stream) awaits(text string, limit time.Duration) (time.Duration, bool) {
	begin := time.Now()
	over := time.NewTimer(limit)
	defer over.Stop()
	for {
		x.mu.Lock()
		seen, news := bytes.Contains(x.tail, []byte(text)), x.news
		x.mu.Unlock()
		if seen {
			return time.Since(begin), true
		}
		select {
		case <-news:
		case <-over.C:
			return limit, false
		}
	}
}

// screen is the end of what came, for a failed test.
func (x *stream) screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return fmt.Sprintf("%q\n", x.tail[max(0, len(x.tail)-2000):])
}

// types sends keys.
func (x *stream) types(keys string) {
	x.t.Helper()
	if _, err := io.WriteString(x.in, keys); err != nil {
		x.t.Fatalf("type %q: %v\n%s%s", keys, err, x.screen(), x.errs.String())
	}
}

// leaves waits until the client has ended by itself with the status.
func (x *stream) leaves(code int) {
	x.t.Helper()
	select {
	case <-x.ended:
	case <-time.After(waitLimit):
		x.t.Fatalf("ssh does not end\n%s%s", x.screen(), x.errs.String())
	}
	if got := x.cmd.ProcessState.ExitCode(); got != code {
		x.t.Errorf("exit status %d, want %d\n%s%s", got, code, x.screen(), x.errs.String())
	}
}

// pulse types a line every quarter of a second into a session that echoes, until the function that it returns is called,
// which gives the longest that an echo took. An echo that does not come ends it.
func (x *stream) pulse() (longest func() time.Duration) {
	stop, done := make(chan struct{}), make(chan time.Duration, 1)
	go func() {
		var longest time.Duration
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			beat := fmt.Sprintf("beat-%d-", n)
			if _, err := io.WriteString(x.in, beat+"\r"); err != nil {
				longest = waitLimit
			} else if took, _ := x.awaits(beat, waitLimit); took > longest {
				longest = took
			}
			select {
			case <-tick.C:
			case <-stop:
				done <- longest
				return
			}
		}
	}()
	return func() time.Duration { close(stop); return <-done }
}
