package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrFed says that somebody feeds the task's standard input already, or has done so.
var ErrFed = errors.New("the task's input has been given already")

// Feed copies r to the standard input of a task whose Spec has Stdin, and closes it at the end of r. It waits for the
// task to start, and blocks for as long as the command does not read. Input is given once: the end of Feed, for
// whatever reason, is the end of the command's input, also when the process that called it is killed.
//
// It is nil once all was given, and also once the command has ended or closed its input, whatever is left of r then. A
// Read of r may then still wait, in a goroutine of Feed's own, which ends with that Read: the caller closes what r reads
// from. Errors: ErrFed, where another Feed came before; the cause of ctx; what r failed with; one that wraps
// fs.ErrNotExist, where there is no task or it has no input.
func Feed(ctx context.Context, folder string, r io.Reader) error {
	spec, err := readSpec(folder)
	if err != nil {
		return fmt.Errorf("feed task: %w", err)
	}
	if !spec.Stdin {
		return fmt.Errorf("feed task: it has no input: %w", fs.ErrNotExist)
	}
	pipe, err := openInput(ctx, folder)
	if err != nil || pipe == nil {
		return err
	}
	// The mark comes when this end of the pipe is open: the runner's own end, which has kept the input open until now, is
	// closed for it. It is told even where the mark is another's, who may have died before telling.
	err = mark(folder, fedName)
	if errors.Is(err, fs.ErrExist) {
		err = ErrFed
	}
	if err == nil || errors.Is(err, ErrFed) {
		err = errors.Join(err, poke(folder))
	}
	if err != nil {
		return fmt.Errorf("feed task: %w", errors.Join(err, pipe.Close()))
	}
	return pour(ctx, folder, pipe, r)
}

// openInput opens the task's input for writing once the command has been started. It is nil where nobody reads it.
func openInput(ctx context.Context, folder string) (*os.File, error) {
	changes := watchFolder(folder)
	defer changes.close()
	for {
		over, err := isOver(folder)
		if err != nil {
			return nil, fmt.Errorf("feed task: %w", err)
		}
		if over {
			return nil, nil
		}
		if exists(in(folder, startedName)) {
			// Without O_NONBLOCK this would wait for a reader, and fail with ENXIO when there is none; fifo(7).
			pipe, err := os.OpenFile(in(folder, stdinName), os.O_WRONLY|syscall.O_NONBLOCK, 0)
			if errors.Is(err, unix.ENXIO) || errors.Is(err, fs.ErrNotExist) {
				return nil, nil
			}
			if err != nil {
				return nil, fmt.Errorf("feed task: %w", err)
			}
			return pipe, nil
		}
		if err := changes.next(ctx); err != nil {
			return nil, err
		}
	}
}

// pour copies r to pipe and closes it.
func pour(ctx context.Context, folder string, pipe *os.File, r io.Reader) error {
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(pipe, r)
		copied <- err
	}()
	unread := make(chan struct{})
	go func() {
		defer close(unread)
		awaitUnread(pipe)
	}()
	err := poured(ctx, folder, copied, unread)
	if errors.Is(err, syscall.EPIPE) {
		err = nil
	}
	if err == nil {
		// Before the end of the input, so that whoever sees that end knows whether it was cut.
		if err = mark(folder, givenName); errors.Is(err, fs.ErrNotExist) {
			err = nil // the task is over, and was removed
		}
	}
	closed := pipe.Close() // ends a write in flight and the wait
	<-unread
	switch {
	case err != nil:
		return fmt.Errorf("feed task: %w", err)
	case closed != nil:
		return fmt.Errorf("feed task: %w", closed)
	}
	return nil
}

// poured waits until all is given, nobody reads any more, the task is over, or ctx is done.
func poured(ctx context.Context, folder string, copied <-chan error, unread <-chan struct{}) error {
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		select {
		case err := <-copied:
			return err
		case <-unread:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-again.C: // where the system tells a writer nothing of its readers
			if over, err := isOver(folder); over || err != nil {
				return err
			}
		}
	}
}

// awaitUnread waits until nobody can read from pipe any more, or until it is closed. The end of the last reader is an
// error on the pipe (poll(2), POLLERR), for which the poller wakes readers and writers alike; a wait as a writer would
// hold up those who write.
func awaitUnread(pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Read(func(fd uintptr) (done bool) {
		ask := []unix.PollFd{{Fd: int32(fd)}}
		for {
			_, err := unix.Poll(ask, 0)
			if !errors.Is(err, unix.EINTR) {
				return err != nil || ask[0].Revents != 0
			}
		}
	})
}
