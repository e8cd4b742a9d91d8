package task

import (
	"os"

	"golang.org/x/sys/unix"
)

// openInput opens the FIFO at both ends: the command's, and one of the runner's own, without which the command would
// read the end of its input before anybody came to feed it.
func (r *runner) openInput() error {
	path := in(r.folder, stdinName)
	// A reader that does not wait for a writer, and then a writer, which finds the reader: fifo(7).
	for _, end := range []struct {
		fd    *int
		flags int
	}{{&r.stdin, unix.O_RDONLY}, {&r.input, unix.O_WRONLY}} {
		fd, err := unix.Open(path, end.flags|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return &os.PathError{Op: "open", Path: path, Err: err}
		}
		*end.fd = fd
	}
	return unix.SetNonblock(r.stdin, false) // the command's reads wait, as programs expect
}

// inputCut reports whether the command's input ended before all was given: whoever fed it went away. A command that ended
// before its input did was not cut.
func (r *runner) inputCut() bool {
	if !r.spec.Stdin || !exists(in(r.folder, fedName)) {
		return false
	}
	// A new reader gets the end of the input where nobody writes any more, and EAGAIN where somebody does; fifo(7). The
	// mark is looked for after that: it comes before the end.
	fd, err := unix.Open(in(r.folder, stdinName), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	n, err := unix.Read(fd, make([]byte, 1))
	_ = unix.Close(fd)
	return n == 0 && err == nil && !exists(in(r.folder, givenName))
}

// noInput gives the command /dev/null where it has no other input.
func (r *runner) noInput() error {
	if r.stdin >= 0 {
		return nil
	}
	fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: os.DevNull, Err: err}
	}
	r.stdin = fd
	return nil
}
