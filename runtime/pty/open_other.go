//go:build !linux

package pty

import (
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// open returns the two sides of a new pseudo-terminal. The library's master is blocking; a duplicate of its descriptor
// is made non-blocking before os.NewFile looks at it, so that the poller takes it.
func open() (master, tty *os.File, err error) {
	m, tty, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer m.Close()
	fd, err := unix.FcntlInt(m.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		tty.Close()
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), m.Name()), tty, nil
}
