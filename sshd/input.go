package sshd

import (
	"io"
	"sync"
)

// maxBuffered is how much typed input waits for a stage that does not read. What comes after it stays with the client:
// nobody takes it from the channel, so that its window closes.
const maxBuffered = 64 << 10

// input is what a client types. One goroutine reads the channel, for the whole life of a session, and the stages take
// turns at what it has read: a stage opens the input for itself, which ends the turn of the one before, and not one
// byte that a stage has not taken is lost.
type input struct {
	mu      sync.Mutex
	changed sync.Cond
	buf     []byte // read from the channel; what is behind off is not yet taken
	off     int
	sink    func([]byte) (int, bool)
	turn    *stageInput // who may read, where that is not the sink
	over    bool        // the channel has ended
	drop    bool        // nobody will read any more
	ended   chan struct{}
}

func newInput() *input {
	in := &input{ended: make(chan struct{})}
	in.changed.L = &in.mu
	return in
}

// run reads r until it ends, and hands on what it reads. It blocks where nobody takes it.
func (in *input) run(r io.Reader) {
	chunk := make([]byte, 2048)
	for {
		n, err := r.Read(chunk)
		in.deliver(chunk[:n])
		if err != nil {
			break
		}
	}
	in.mu.Lock()
	in.over = true
	close(in.ended)
	in.changed.Broadcast()
	in.mu.Unlock()
}

func (in *input) deliver(p []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(p) > 0 && !in.drop {
		switch {
		case in.sink != nil && in.waiting() == 0:
			p = p[in.feed(p):]
		case in.waiting() < maxBuffered:
			n := min(len(p), maxBuffered-in.waiting())
			in.store(p[:n])
			p = p[n:]
			in.changed.Broadcast()
		default:
			in.changed.Wait()
		}
	}
}

// feed gives p to the sink, and ends its turn where it wants no more.
func (in *input) feed(p []byte) int {
	n, more := in.sink(p)
	if !more {
		in.sink = nil
	}
	return n
}

// waiting is how many bytes are there and not taken.
func (in *input) waiting() int { return len(in.buf) - in.off }

// store appends p to buf.
func (in *input) store(p []byte) {
	if in.off > 0 && len(in.buf)+len(p) > cap(in.buf) {
		in.buf = in.buf[:copy(in.buf, in.buf[in.off:])]
		in.off = 0
	}
	in.buf = append(in.buf, p...)
}

// taken removes n bytes from the front of buf. An idle session holds no buffer.
func (in *input) taken(n int) {
	if in.off += n; in.off == len(in.buf) {
		in.buf, in.off = nil, 0
	}
	in.changed.Broadcast()
}

// push makes sink the stage that takes the input: it is called with whatever there is now and comes later, by one
// goroutine at a time, and returns how much of it it took and whether it wants more. It must not block for long and
// must not call back. What it did not take is for the next stage.
func (in *input) push(sink func([]byte) (int, bool)) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.turn = nil
	in.sink = sink
	for in.sink != nil && in.waiting() > 0 {
		in.taken(in.feed(in.buf[in.off:]))
	}
	in.changed.Broadcast()
}

// pause ends the turn of the stage that reads now. When it has returned a sink is not called any more.
func (in *input) pause() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.sink, in.turn = nil, nil
	in.changed.Broadcast()
}

// open makes the returned reader the stage that takes the input.
func (in *input) open() *stageInput {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.sink = nil
	in.turn = &stageInput{in: in}
	in.changed.Broadcast()
	return in.turn
}

// current is the reader whose turn it is, made where there is none.
func (in *input) current() *stageInput {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.turn == nil {
		in.sink = nil
		in.turn = &stageInput{in: in}
	}
	return in.turn
}

// forget throws away what is there now.
func (in *input) forget() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.taken(in.waiting())
}

// discard throws away what is there and what comes, so that the channel's end is seen.
func (in *input) discard() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.drop = true
	in.buf, in.off, in.sink, in.turn = nil, 0, nil, nil
	in.changed.Broadcast()
}

// stageInput is one stage's turn at a session's input. Its methods may be called from any goroutine.
type stageInput struct {
	in   *input
	stop bool // guarded by in.mu
}

// Read gives what was typed. It blocks until there is something, and returns io.EOF when the client's input has ended,
// after Interrupt, and when another stage has its turn.
func (p *stageInput) Read(b []byte) (int, error) {
	in := p.in
	in.mu.Lock()
	defer in.mu.Unlock()
	for {
		switch {
		case p.stop || in.turn != p:
			return 0, io.EOF
		case len(b) == 0:
			return 0, nil
		case in.waiting() > 0:
			n := copy(b, in.buf[in.off:])
			in.taken(n)
			return n, nil
		case in.over:
			return 0, io.EOF
		}
		in.changed.Wait()
	}
}

// Interrupt makes the Read that blocks now, and every later one, return io.EOF. It takes no byte.
func (p *stageInput) Interrupt() {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	p.stop = true
	p.in.changed.Broadcast()
}

// Unread puts b in front of what the next stage reads. It keeps no reference to b.
func (p *stageInput) Unread(b []byte) {
	in := p.in
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(b) == 0 || in.drop {
		return
	}
	in.buf = append(append(make([]byte, 0, len(b)+in.waiting()), b...), in.buf[in.off:]...)
	in.off = 0
	in.changed.Broadcast()
}
