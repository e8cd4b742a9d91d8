package task

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	fionread   = unix.TIOCINQ // the name for it here; ioctl_tty(2)
	maxRSSUnit = 1 << 10      // getrusage(2)
)

// confine gives a command a session of its own, and has the kernel kill its first process where the runner is killed:
// what nobody records must not go on. Orphans of the command become the runner's children, which accounts for them and
// hears of their ends (PR_SET_CHILD_SUBREAPER(2const)).
func confine() *syscall.SysProcAttr {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // since Linux 3.4; without it init has them
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
