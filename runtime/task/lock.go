package task

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// The lock of a folder is a record lock of fcntl(2), not one of flock(2): those who look can ask for its holder without
// taking it, so that a look never stands in the way of a runner that starts. The trap of such a lock is that closing any
// descriptor of the file in the holder's process drops it: the runner opens the file once.

// lock takes the lock of folder for the rest of this process's life. It reports false where another process has it.
func lock(folder string) (bool, error) {
	path := in(folder, lockName)
	// A plain descriptor: a file would be closed when nobody refers to it any more.
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, &os.PathError{Op: "open", Path: path, Err: err}
	}
	err = unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart})
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EAGAIN) {
		return false, unix.Close(fd)
	}
	if err != nil {
		return false, errors.Join(&os.PathError{Op: "lock", Path: path, Err: err}, unix.Close(fd))
	}
	return true, nil
}

// holder is the pid of the process that holds the lock of folder, and 0 where nobody does.
func holder(folder string) (int, error) {
	f, err := os.Open(in(folder, lockName))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	asked := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &asked); err != nil {
		return 0, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	if asked.Type == unix.F_UNLCK {
		return 0, nil
	}
	return int(asked.Pid), nil
}
