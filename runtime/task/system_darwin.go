package task

import "syscall"

const (
	fionread   = 0x4004667f // FIONREAD of <sys/filio.h>
	maxRSSUnit = 1          // getrusage(2)
)

// confine gives a command a session of its own.
func confine() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
