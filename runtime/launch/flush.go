package launch

import (
	"bytes"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// flushLimit is how long a wrapper stays for a terminal that does not answer.
const flushLimit = time.Second

// The question whether a terminal is well, and its answer: DSR 5 and its reply; ECMA-48 8.3.35.
const (
	askStatus    = "\x1b[5n"
	statusIsWell = "\x1b[0n"
)

// flush waits until the terminal has read all that the program printed, for flushLimit at most.
func flush() {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		awaitAnswer()
	}()
	select {
	case <-answered:
	case <-time.After(flushLimit):
		// It may wait for ever in a read: a process that is about to end can take the answer between poll and read. This
		// process ends soon, and that read with it.
	}
}

// awaitAnswer asks the terminal whether it is well and waits for its answer. tmux lets go of a pane as soon as its process
// has ended, and of what it has not read yet. An answer to a question that stands behind the output proves that it was
// read. What a person typed meanwhile is dropped with the rest of the program's input.
func awaitAnswer() {
	// The foreground group may be that of a job that is gone, and a write or a change of modes from the background
	// would stop this process; tcsetpgrp(3).
	signal.Ignore(syscall.SIGTTOU, syscall.SIGTTIN)
	group := unix.Getpgrp()
	if err := unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, group); err != nil {
		return
	}
	if _, err := term.MakeRaw(0); err != nil {
		return
	}
	if _, err := os.Stdout.WriteString(askStatus); err != nil {
		return
	}
	var seen []byte
	buf := make([]byte, 256)
	for end := time.Now().Add(flushLimit); ; {
		left := time.Until(end)
		ready, err := unix.Poll([]unix.PollFd{{Fd: 0, Events: unix.POLLIN}}, int(left.Milliseconds()))
		if err == unix.EINTR && left > 0 {
			continue
		}
		if err != nil || ready == 0 || left <= 0 {
			return
		}
		n, err := unix.Read(0, buf)
		if n <= 0 || err != nil {
			return
		}
		if seen = append(seen, buf[:n]...); bytes.Contains(seen, []byte(statusIsWell)) {
			return
		}
		seen = seen[max(0, len(seen)-len(statusIsWell)):]
	}
}
