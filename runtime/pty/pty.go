// Package pty runs a command under a pseudo-terminal whose master side never holds an operating system thread: it is
// non-blocking and belongs to Go's poller, so a reader that waits is a parked goroutine and deadlines work.
//
// It promises that nothing is left of a command after Close: no process, no goroutine, no descriptor. Package
// runtime/tmux imports it.
package pty

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
)

// hangupGrace is how long a command may take to end after its terminal hung up.
const hangupGrace = 250 * time.Millisecond

// Process is a command under a pseudo-terminal. Its methods may be called at the same time, but for two Reads or two
// Writes.
type Process struct {
	master *os.File
	raw    syscall.RawConn
	tty    string
	cmd    *exec.Cmd

	read  atomic.Int64
	typed atomic.Int64 // when Write was last called, in Unix nanoseconds; 0: never

	// What one reader and one writer try without waiting. It is here so that neither allocates.
	reading, writing attempt

	// How long Close waits; see hangupGrace and inputGrace.
	hangup, input time.Duration
	closing       sync.Once
	done          chan struct{}
	err           error // of the command; set before done is closed
}

// Start runs cmd as the leader of a new terminal session whose controlling terminal is a new pseudo-terminal of the
// given size. Standard input is that terminal; standard output and error too, unless cmd sets them.
func Start(cmd *exec.Cmd, size hitchpost.Size) (*Process, error) {
	master, tty, err := open()
	if err != nil {
		return nil, fmt.Errorf("open a pseudo-terminal: %w", err)
	}
	defer tty.Close()
	raw, err := master.SyscallConn()
	if err != nil {
		master.Close()
		return nil, fmt.Errorf("open a pseudo-terminal: %w", err)
	}
	p := &Process{master: master, raw: raw, tty: tty.Name(), cmd: cmd, done: make(chan struct{}),
		hangup: hangupGrace, input: inputGrace}
	p.reading.call, p.writing.call = unix.Read, unix.Write
	p.reading.do, p.writing.do = p.reading.on, p.writing.on
	if err := p.Resize(size); err != nil {
		master.Close()
		return nil, err
	}
	cmd.Stdin = tty
	if cmd.Stdout == nil {
		cmd.Stdout = tty
	}
	if cmd.Stderr == nil {
		cmd.Stderr = tty
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		master.Close()
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	go p.wait()
	return p, nil
}

func (p *Process) wait() {
	awaitExit(p.cmd.Process.Pid)
	p.err = p.cmd.Wait()
	close(p.done)
}

// TTY is the path of the command's terminal, such as /dev/pts/7.
func (p *Process) TTY() string { return p.tty }

// Pid is the command's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed once the command ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is how the command ended, as exec.Cmd.Wait tells it; valid after Done.
func (p *Process) Err() error { return p.err }

// BytesRead is how many bytes were read so far.
func (p *Process) BytesRead() int64 { return p.read.Load() }

// Read waits until the command printed something and returns what there is, up to len(b), in as few calls of the
// kernel as it takes. It is io.EOF once the command's side is closed.
func (p *Process) Read(b []byte) (int, error) {
	n, err := p.master.Read(b)
	if n > 0 {
		p.read.Add(int64(n))
	}
	if err != nil {
		return n, endOf(err)
	}
	// A terminal gives up one line discipline buffer at a time. Where a burst is under way, more stands behind it; a
	// short answer, such as the echo of a key, goes out at once.
	for n >= burst && n < len(b) {
		m, err := p.ReadReady(b[n:])
		n += m
		if m == 0 || err != nil {
			break // an error comes again at the next Read
		}
	}
	return n, nil
}

// burst is the size of a read from which on it is worth asking the kernel for more.
const burst = 128

// ReadReady returns what is there without waiting; 0 and no error when there is nothing.
func (p *Process) ReadReady(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err := p.reading.try(p.raw, b)
	if n > 0 {
		p.read.Add(int64(n))
		return n, nil
	}
	switch {
	case err == nil:
		return 0, io.EOF
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return 0, nil
	}
	return 0, endOf(err)
}

// attempt is a call of the kernel that does not wait, since the descriptor is non-blocking.
type attempt struct {
	call func(fd int, b []byte) (int, error)
	do   func(fd uintptr) // on, which would be allocated each time
	buf  []byte
	n    int
	err  error
}

func (a *attempt) on(fd uintptr) { a.n, a.err = a.call(int(fd), a.buf) }

func (a *attempt) try(raw syscall.RawConn, b []byte) (int, error) {
	a.buf, a.n, a.err = b, 0, nil
	err := raw.Control(a.do)
	a.buf = nil
	if err == nil {
		err = a.err
	}
	return max(a.n, 0), err
}

// endOf turns the kernel's word for "the other side is closed" (EIO on Linux, pty(7)) into io.EOF.
func endOf(err error) error {
	if errors.Is(err, unix.EIO) || errors.Is(err, os.ErrClosed) {
		return io.EOF
	}
	return err
}

// Write types b. It waits while the command does not read.
func (p *Process) Write(b []byte) (int, error) {
	p.typed.Store(time.Now().UnixNano())
	return p.master.Write(b)
}

// WriteWithin is Write that waits for at most limit, and then gives os.ErrDeadlineExceeded with what was typed so far.
func (p *Process) WriteWithin(b []byte, limit time.Duration) (int, error) {
	p.typed.Store(time.Now().UnixNano())
	n, err := p.writing.try(p.raw, b)
	if n == len(b) || err != nil && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
		return n, err
	}
	// Only here, as a timer for each key would wake a thread to look after it.
	if err := p.master.SetWriteDeadline(time.Now().Add(limit)); err != nil {
		return n, err
	}
	m, err := p.master.Write(b[n:])
	_ = p.master.SetWriteDeadline(time.Time{}) // it fails only for a closed one
	return n + m, err
}

// SetReadDeadline ends a Read that waits, as os.File's does.
func (p *Process) SetReadDeadline(t time.Time) error { return p.master.SetReadDeadline(t) }

// Resize sets the terminal's size and never blocks; the command hears of it by SIGWINCH when it changed.
func (p *Process) Resize(size hitchpost.Size) error {
	ws := unix.Winsize{Row: cells(size.Rows), Col: cells(size.Cols)}
	var setErr error
	err := p.raw.Control(func(fd uintptr) { setErr = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &ws) })
	if err == nil {
		err = setErr
	}
	if err != nil {
		return fmt.Errorf("resize %s: %w", p.tty, err)
	}
	return nil
}

func cells(n int) uint16 { return uint16(min(max(n, 1), 1<<15)) }

// Close hangs the terminal up, kills the command if it does not end of that, and waits for it. A hangup discards what
// was typed and not read yet, so a command that is reading is first given the time to do so.
func (p *Process) Close() error {
	p.closing.Do(func() {
		if at := p.typed.Load(); at != 0 {
			p.awaitInput(time.Unix(0, at))
		}
		p.master.Close()
	})
	grace := time.NewTimer(p.hangup)
	defer grace.Stop()
	select {
	case <-p.done:
	case <-grace.C:
		// The error can only say that it ended meanwhile.
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	return nil
}

// inputGrace is how long a command may take to read what was typed before Close.
const inputGrace = 250 * time.Millisecond

func (p *Process) awaitInput(typed time.Time) {
	if time.Since(typed) > p.input {
		return
	}
	fd, err := unix.Open(p.tty, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return // its last user is gone, and with it the input
	}
	defer unix.Close(fd)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(p.input)
	defer limit.Stop()
	for {
		// Unlike FIONREAD, poll(2) also counts what the kernel is still carrying over in the background.
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		if err != nil && !errors.Is(err, unix.EINTR) || err == nil && ready == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return
		case <-p.done:
			return
		}
	}
}
