package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sshRun is one run of ssh.
type sshRun struct {
	c     *reconnector
	pid   int
	ended chan syscall.WaitStatus
	end   sshEnd
	seen  time.Time // when a session was first seen; zero: not yet

	again bool
	errs  *quietErrors // nil at the first run, whose words are the person's
}

// startSSH starts ssh on this terminal. again says that this client was in a session before.
func startSSH(c *reconnector, again bool) (*sshRun, error) {
	cmd := exec.Command(c.path, c.call.arguments(c.keepAlive, again)...)
	cmd.Env = append(os.Environ(), clientVariable+"="+c.id)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.term.in, c.term.out, c.errs
	r := &sshRun{c: c, again: again, ended: make(chan syscall.WaitStatus, 1)}
	if again {
		cmd.Env = append(cmd.Env, reconnectVariable+"=1")
		kept, err := newQuietErrors(c.errs)
		if err != nil {
			return nil, err
		}
		r.errs, cmd.Stderr = kept, kept.w
	}
	err := cmd.Start()
	if r.errs != nil {
		r.errs.started(err == nil)
	}
	if err != nil {
		return nil, err
	}
	r.pid = cmd.Process.Pid
	// os/exec does not tell of a child that was stopped, so its own way of waiting is given up here.
	go func() {
		r.ended <- r.wait()
		_ = cmd.Process.Release()
	}()
	return r, nil
}

// How often the terminal and the clock are looked at: before there is a session, and while there is one.
const (
	modeTick  = 5 * time.Millisecond
	clockTick = time.Second
)

// follow stays with ssh to its end.
func (r *sshRun) follow(ctx context.Context) sshEnd {
	tick := time.NewTicker(modeTick)
	defer tick.Stop()
	done := ctx.Done()
	last := r.c.now()
	for {
		select {
		case status := <-r.ended:
			return r.over(status)
		case s := <-r.c.signals:
			r.hand(s)
		case <-done:
			done = nil
			r.hand(r.c.ender())
		case <-tick.C:
			switch {
			case !r.seen.IsZero():
			case r.c.term.raw():
				r.open()
				tick.Reset(clockTick)
			case r.again:
				// What is typed now is typed blind, and ssh reads it the moment it is through.
				r.c.term.flush()
			}
			now := r.c.now()
			if !r.seen.IsZero() && asleep(last, now) > deadAfter {
				r.end.slept = true
				_ = unix.Kill(r.pid, unix.SIGTERM)
			}
			last = now
		}
	}
}

// open notes that ssh has opened a session: it sets the terminal to raw mode then, and at no prompt before that. What
// was typed before was typed blind.
func (r *sshRun) open() {
	r.seen = time.Now()
	if r.again {
		r.c.term.flush()
		r.errs.pass()
	}
	r.c.shown = false
}

// hand gives a signal on to ssh. ssh ends by each of those that come here, and cleans up before.
func (r *sshRun) hand(s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		if r.end.asked == 0 {
			r.end.asked = number
		}
		_ = unix.Kill(r.pid, number)
	}
}

// over is the end of ssh as the planner wants to know it.
func (r *sshRun) over(status syscall.WaitStatus) sshEnd {
	e := r.end
	e.status = sshFailed
	if status.Exited() {
		e.status = status.ExitStatus()
	}
	if e.seen = !r.seen.IsZero(); e.seen {
		e.lasted = time.Since(r.seen)
	}
	if r.errs != nil {
		e.said = r.errs.close()
	}
	return e
}

// wait waits for the end of ssh. Where ssh stops itself (~^Z), the whole job must stop, or the person's shell would
// wait for a program that waits for nothing.
func (r *sshRun) wait() syscall.WaitStatus {
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(r.pid, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // somebody else took the status; a connection is lost either way
			return syscall.WaitStatus(sshFailed << 8)
		case status.Stopped():
			stopJob(r.pid)
		default:
			return status
		}
	}
}

// stopJob stops this program's process group and, once somebody has continued it, ssh in it. In an orphaned group the
// kernel drops the stop, and everything goes on at once.
func stopJob(ssh int) {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = unix.Kill(0, unix.SIGTSTP)
	limit := time.NewTimer(200 * time.Millisecond)
	defer limit.Stop()
	select {
	case <-continued:
	case <-limit.C:
	}
	_ = unix.Kill(ssh, unix.SIGCONT)
}
