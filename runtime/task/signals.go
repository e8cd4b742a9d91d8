package task

import (
	"os"
	"os/signal"
	"syscall"
)

// caught are the signals of a runner, each kind on a channel of its own that holds one: a flood of one kind loses none
// of another, and a second of the same kind says nothing new.
type caught struct {
	child chan os.Signal // a process of the task ended
	poked chan os.Signal // there are marks to look at
	down  chan os.Signal // the machine or tmux goes down
}

// catch takes the runner's signals for the rest of its life. They are caught and not ignored: execve(2) gives caught
// signals their default action and leaves ignored ones ignored, and the command must start with the defaults, whatever
// was inherited.
func catch() caught {
	c := caught{make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan os.Signal, 1)}
	signal.Notify(c.child, syscall.SIGCHLD)
	signal.Notify(c.poked, syscall.SIGUSR1)
	signal.Notify(c.down, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
	return c
}
