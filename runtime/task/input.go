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
