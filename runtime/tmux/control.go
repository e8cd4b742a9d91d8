package tmux

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// control is a control client on the lobby: the way commands go in without a fork, and the source of events.
//
// It is attached without the flag ignore-size on purpose. It has no size of its own, but tmux keeps the size of a
// read-only view out of a window only while some client without that flag is attached anywhere.
type control struct {
	cmd     *exec.Cmd
	in, out *os.File
	stderr  bytes.Buffer // read after the client ended

	turn    chan struct{} // holds one token: whoever has it may send
	count   int
	answers chan *reply
	over    <-chan struct{} // closed when nobody will want an answer any more
	gone    chan struct{}   // closed once the connection is lost
	err     error           // why; set before gone is closed
	read    chan struct{}   // closed once the reader ended
}

const markPrefix = "hitchpost-end-"

// dialControl starts a control client. It runs until it ends or close is called; event is told of each notification,
// and lost is called once when it ended. Neither may block. Once over is closed no answer is waited for.
func dialControl(
	ctx context.Context, cmd *exec.Cmd, over <-chan struct{}, event func(string), lost func(),
) (*control, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		inR.Close()
		inW.Close()
		return nil, err
	}
	c := &control{cmd: cmd, in: inW, out: outR, turn: make(chan struct{}, 1), answers: make(chan *reply, 1),
		over: over, gone: make(chan struct{}), read: make(chan struct{})}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, &limited{buf: &c.stderr}
	cmd.SysProcAttr = apart()
	cmd.WaitDelay = waitDelay
	err = cmd.Start()
	inR.Close()
	outW.Close()
	if err != nil {
		inW.Close()
		outR.Close()
		return nil, err
	}
	go c.reader(event, lost)
	c.turn <- struct{}{}
	if _, err := c.run(ctx, command{"display-message", "-p", "ready"}); err != nil {
		c.close()
		return nil, c.why(err)
	}
	return c, nil
}

func (c *control) reader(event func(string), lost func()) {
	defer close(c.read)
	p := replies{
		r:      bufio.NewReaderSize(c.out, 64<<10),
		isMark: func(text string) bool { return strings.HasPrefix(text, markPrefix) },
		event:  event,
		done: func(r *reply) {
			select {
			case c.answers <- r:
			default: // nobody waits for it: the caller gave up and closes the client
			}
		},
	}
	c.err = p.run()
	if err := p.reply().err(); err != nil { // such as the answer to its own attach
		c.err = err
	}
	close(c.gone)
	lost()
}

// run sends one line of commands and waits for its answer. tmux carries them out in one turn of its loop. What was sent
// is waited for until the deadline of ctx, even when ctx is cancelled: the client is everybody's, and the answer tells
// what there is to clear away. At the deadline the client is closed: what it was sent may or may not have been done.
func (c *control) run(ctx context.Context, cmds ...command) (string, error) {
	return c.send(ctx, line(cmds))
}

// send is run for text that is quoted already.
func (c *control) send(ctx context.Context, text string) (string, error) {
	select {
	case <-c.turn:
	case <-c.gone:
		return "", errLost
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { c.turn <- struct{}{} }()
	c.count++
	mark := markPrefix + strconv.Itoa(c.count)
	if deadline, ok := ctx.Deadline(); ok {
		_ = c.in.SetWriteDeadline(deadline) // a pipe has deadlines
		uncancelled, done := context.WithDeadline(context.WithoutCancel(ctx), deadline)
		defer done()
		ctx = uncancelled
	}
	if _, err := c.in.WriteString(text + "\ndisplay-message -p " + mark + "\n"); err != nil {
		c.kill()
		<-c.gone // whoever tries again gets another connection
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return "", context.DeadlineExceeded
		}
		return "", errLost
	}
	for {
		select {
		case r := <-c.answers:
			if r.marker != mark {
				continue
			}
			return r.text.String(), r.err()
		case <-c.gone:
			return "", errLost
		case <-c.over:
			return "", context.Canceled
		case <-ctx.Done():
			c.kill()
			return "", ctx.Err()
		}
	}
}

// kill ends the client at once. Its output is closed from our side too: a stopped server may hold the other end.
func (c *control) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.out.SetReadDeadline(time.Unix(1, 0))
}

// close ends the client and waits for it and for its reader.
func (c *control) close() {
	c.kill()
	<-c.read
	c.in.Close()
	c.out.Close()
	_ = c.cmd.Wait() // it was killed
}

// why adds the words of a client that could not attach to err.
func (c *control) why(err error) error {
	if words := strings.TrimSpace(c.stderr.String()); words != "" && errors.Is(err, errLost) {
		return fmt.Errorf("%w: %w", err, refusal(words))
	}
	if c.err != nil && errors.Is(err, errLost) {
		return fmt.Errorf("%w: %w", err, refusal(c.err.Error()))
	}
	return err
}

// limited keeps the first few kilobytes of what is written to it.
type limited struct{ buf *bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := 4096 - l.buf.Len(); room > 0 {
		l.buf.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
