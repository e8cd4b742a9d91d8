package main

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// quietErrors keeps what ssh says while it tries from the screen, where it would be a new line each time. Once a
// session is open it hands everything on.
type quietErrors struct {
	r, w *os.File
	to   io.Writer
	done chan struct{}

	mu   sync.Mutex
	kept []byte
	open bool
}

func newQuietErrors(to io.Writer) (*quietErrors, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &quietErrors{r: r, w: w, to: to, done: make(chan struct{})}, nil
}

// started begins to read, or frees all where nothing was started.
func (q *quietErrors) started(ok bool) {
	_ = q.w.Close()
	if !ok {
		_ = q.r.Close()
		return
	}
	go q.read()
}

// maxKept bounds what is kept of ssh's words.
const maxKept = 4 << 10

func (q *quietErrors) read() {
	defer close(q.done)
	var buf [1 << 10]byte
	for {
		n, err := q.r.Read(buf[:])
		q.mu.Lock()
		if q.open {
			_, _ = q.to.Write(buf[:n])
		} else if q.kept = append(q.kept, buf[:n]...); len(q.kept) > maxKept {
			q.kept = q.kept[len(q.kept)-maxKept:]
		}
		q.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// pass hands on what comes from now on.
func (q *quietErrors) pass() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open, q.kept = true, nil
}

// close ends the reading once ssh has ended, and returns its last line. A program that ssh has left behind may hold
// the pipe open, so it is not waited for.
func (q *quietErrors) close() string {
	_ = q.r.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	<-q.done
	_ = q.r.Close()
	q.mu.Lock()
	defer q.mu.Unlock()
	lines := strings.FieldsFunc(string(q.kept), func(r rune) bool { return r == '\r' || r == '\n' })
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}
