package pty

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// open returns the two sides of a new pseudo-terminal. The master is opened O_NONBLOCK, which makes os.NewFile hand it
// to the poller; os.File.Fd must never be called on it, as that makes it blocking again.
func open() (master, tty *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("open /dev/ptmx", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		unix.Close(fd)
		return nil, nil, os.NewSyscallError("ioctl /dev/ptmx", err)
	}
	name := "/dev/pts/" + strconv.Itoa(n)
	tfd, err := unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(fd)
		return nil, nil, os.NewSyscallError("open "+name, err)
	}
	return os.NewFile(uintptr(fd), "/dev/ptmx"), os.NewFile(uintptr(tfd), name), nil
}
