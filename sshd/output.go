package sshd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// errStuck is given where a client took nothing for too long.
var errStuck = errors.New("the client takes no output")

// output is one of the two streams to a client. Writes are done one at a time: the channel of x/crypto does not allow
// more.
type output struct {
	w    io.Writer
	busy chan struct{} // holds one token while somebody writes
}

func newOutput(w io.Writer) *output { return &output{w: w, busy: make(chan struct{}, 1)} }

// Write writes p as it is.
func (o *output) Write(p []byte) (int, error) {
	o.busy <- struct{}{}
	defer o.release()
	return o.w.Write(p)
}

func (o *output) release() { <-o.busy }

// within writes p unless that takes longer than limit. A write that takes longer goes on, as far as the channel lets
// it, and ends with the channel; g counts it.
func (o *output) within(limit time.Duration, g *group, p []byte) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, errStuck)
	defer cancel()
	return o.until(ctx, g, p)
}

// until is within with the end of ctx as the limit. It keeps a copy of p.
func (o *output) until(ctx context.Context, g *group, p []byte) error {
	select {
	case o.busy <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if !g.enter() {
		o.release()
		return errGone
	}
	p = bytes.Clone(p)
	written := make(chan error, 1)
	go func() {
		defer g.leave()
		_, err := o.w.Write(p)
		o.release() // before the caller goes on: the end of the channel looks whether a write is under way
		written <- err
	}()
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// impatient is an output for a stage that must not hang in a write once its ctx has ended.
type impatient struct {
	ctx context.Context //nolint:containedctx // of one stage, which this value does not outlive
	o   *output
	g   *group
}

func (w impatient) Write(p []byte) (int, error) {
	if err := w.o.until(w.ctx, w.g, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// lastWords is an impatient output that also takes what is said after the end of ctx, for as long as a farewell may take.
type lastWords struct {
	impatient
	limit time.Duration
	said  atomic.Bool // or tried to: it is not tried again
}

func (w *lastWords) Write(p []byte) (int, error) {
	if w.ctx.Err() == nil {
		return w.impatient.Write(p)
	}
	w.said.Store(true)
	if err := w.o.within(w.limit, w.g, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// cooked writes text for people to a terminal: each LF becomes CR LF, and a CR LF stays one.
type cooked struct {
	w    io.Writer
	mu   sync.Mutex
	last byte
}

func (c *cooked) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out := cook(p, c.last)
	c.last = p[len(p)-1]
	if _, err := c.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// cook is p with a CR before each LF that has none, where last is the byte before p. It is p itself where nothing
// changes.
func cook(p []byte, last byte) []byte {
	lone, before := 0, last
	for _, b := range p {
		if b == '\n' && before != '\r' {
			lone++
		}
		before = b
	}
	if lone == 0 {
		return p
	}
	out := make([]byte, 0, len(p)+lone)
	before = last
	for _, b := range p {
		if b == '\n' && before != '\r' {
			out = append(out, '\r')
		}
		out = append(out, b)
		before = b
	}
	return out
}
