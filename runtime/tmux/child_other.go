//go:build !linux

package tmux

import "syscall"

// apart is how a client that belongs to this process is started: in a process group of its own, so that Ctrl-C in the
// terminal of the service is not for it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
