package tmux

import "syscall"

// apart is how a client that belongs to this process is started: in a process group of its own, so that Ctrl-C in the
// terminal of the service is not for it, and ended with us even when we are killed. Closing its input is not enough:
// tmux 3.3 keeps a control client whose last output nobody took. Linux takes the thread that started it for its parent
// (prctl(2), PR_SET_PDEATHSIG), which Go ends only together with a goroutine that has locked it (golang/go#27505). None
// here does; where one did, the client would be made again.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
