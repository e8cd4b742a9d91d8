package launch

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is what the end of a program needs to know of a process.
type process struct {
	pid, parent, group, session int
	foreground                  int // foreground process group of its terminal; 0 or less: none
	ended                       bool
}

// rounds bounds the repeated looks that catch processes made during the look before.
const rounds = 50

// ErrNoWrapper says that a pid is not, or no longer, the wrapper of a session.
var ErrNoWrapper = errors.New("no such wrapper")

// ErrNoProgram says that a wrapper has no program yet, or no more.
var ErrNoProgram = errors.New("the wrapper runs no program")

// Signal sends s to the program of the wrapper with that pid: to the wrapper's child and to whatever runs in the
// foreground of its terminal. The wrapper itself gets nothing. A signal that ends programs is followed by CONT, for a
// stopped process would not act on it.
//
// It is nil when at least one process was signalled, ErrNoProgram when there was none, as in the moment before the
// wrapper has started its program, and ErrNoWrapper when wrapper is not the leader of a terminal's session.
func Signal(wrapper int, s syscall.Signal) error {
	all, leader, err := look(wrapper)
	if err != nil {
		return err
	}
	// The foreground group is signalled as one where it can be: nothing that it forks meanwhile escapes.
	foreign := leader.foreground > 1 && leader.foreground != leader.group &&
		slices.ContainsFunc(all, func(p process) bool {
			return p.group == leader.foreground && p.session == leader.session
		})
	sent := foreign
	send := func(s syscall.Signal) error {
		var errs []error
		if foreign {
			errs = append(errs, gone(syscall.Kill(-leader.foreground, s)))
		}
		for _, p := range all {
			if p.pid == wrapper || p.ended || (foreign && p.group == leader.foreground) {
				continue
			}
			if p.parent == wrapper || (p.session == leader.session && p.group == leader.foreground) {
				sent = true
				errs = append(errs, gone(syscall.Kill(p.pid, s)))
			}
		}
		return errors.Join(errs...)
	}
	if err := send(s); err != nil {
		return fmt.Errorf("signal program: %w", err)
	}
	if !sent {
		return ErrNoProgram
	}
	switch s {
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM:
		return send(syscall.SIGCONT)
	}
	return nil
}

// Kill ends every process of the terminal session that the wrapper with that pid leads, except the wrapper, which thus
// still writes its record. It looks again until none is left, since a process may fork while it is killed; it takes
// well under a second. What has made itself a session of its own (a daemon) is not touched.
//
// It is nil when none is left, also because there was none, and ErrNoWrapper when wrapper does not lead a session.
func Kill(wrapper int) error {
	for round := range rounds {
		all, leader, err := look(wrapper)
		if round > 0 && errors.Is(err, ErrNoWrapper) {
			return nil // it has followed its program
		}
		if err != nil {
			return err
		}
		left := 0
		for _, p := range all {
			if p.pid == wrapper || p.ended || p.session != leader.session {
				continue
			}
			left++
			if err := gone(syscall.Kill(p.pid, syscall.SIGKILL)); err != nil {
				return fmt.Errorf("kill program: %w", err)
			}
		}
		// A stopped wrapper would record nothing.
		if err := gone(syscall.Kill(wrapper, syscall.SIGCONT)); err != nil {
			return fmt.Errorf("kill program: %w", err)
		}
		if left == 0 {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("kill program: processes of session %d do not end", wrapper)
}

// SignalSession sends s to every living process of the session (setsid(2)) that the process with pid leader made, and
// is the number of those it found; the leader itself may have ended. With s of 0 it only counts. A signal that ends
// programs is followed by CONT, for a stopped process would not act on it. Each group is signalled as one, so that
// nothing that it forks meanwhile escapes; a group that is made meanwhile does: look again.
func SignalSession(leader int, s syscall.Signal) (int, error) {
	if leader <= 1 {
		return 0, ErrNoProgram
	}
	all, err := processes()
	if err != nil {
		return 0, fmt.Errorf("list processes: %w", err)
	}
	found := 0
	var groups []int
	for _, p := range all {
		if p.session != leader || p.ended {
			continue
		}
		found++
		if !slices.Contains(groups, p.group) {
			groups = append(groups, p.group)
		}
	}
	var errs []error
	for _, group := range groups {
		errs = append(errs, gone(syscall.Kill(-group, s)))
		if s == syscall.SIGTERM {
			errs = append(errs, gone(syscall.Kill(-group, syscall.SIGCONT)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return found, fmt.Errorf("signal processes: %w", err)
	}
	return found, nil
}

// look lists all processes and finds the wrapper among them.
func look(wrapper int) ([]process, process, error) {
	if wrapper <= 1 {
		return nil, process{}, ErrNoWrapper
	}
	if sid, err := unix.Getsid(wrapper); err != nil || sid != wrapper {
		return nil, process{}, ErrNoWrapper
	}
	all, err := processes()
	if err != nil {
		return nil, process{}, fmt.Errorf("list processes: %w", err)
	}
	i := slices.IndexFunc(all, func(p process) bool { return p.pid == wrapper })
	if i < 0 || all[i].ended {
		return nil, process{}, ErrNoWrapper
	}
	return all, all[i], nil
}

// gone drops the error of a signal to a process that has ended meanwhile.
func gone(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}
