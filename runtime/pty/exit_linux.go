package pty

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// awaitExit waits until a child ended, and leaves it to be reaped. os.Process.Wait alone would block a thread for each
// child; a process descriptor waits in the poller (pidfd_open(2)). Where there is none it returns at once.
func awaitExit(pid int) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	// It fails only where the poller did not take the descriptor.
	_ = raw.Read(func(fd uintptr) bool {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PIDFD, int(fd), &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		return !errors.Is(err, unix.EINTR) && (err != nil && !errors.Is(err, unix.EAGAIN) || info.Signo != 0)
	})
}
