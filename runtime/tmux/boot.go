package tmux

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/hitchpost/hitchpost"
)

// calmly does what makes tmux notify control clients, but not while one is coming up, in this process or another:
// tmux 3.3 notifies a control client that has said what it is but is not ready, and ends by that, with all sessions.
// do must not connect.
func (s *Server) calmly(ctx context.Context, do func() error) error {
	unlock, err := s.lock(ctx, syscall.LOCK_SH)
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

// leave ends a client of ours. tmux notifies control clients of that too, so it waits for one that is coming up; see
// calmly. One that comes up later has asked tmux something before, which tmux answers after it has seen the end. A client
// that cannot wait any longer goes all the same: it must not stay for ever.
func (s *Server) leave(end func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), leaveLimit)
	defer cancel()
	if unlock, err := s.lock(ctx, syscall.LOCK_SH); err == nil {
		defer unlock()
	}
	return end()
}

// leaveLimit is longer than a control client takes to come up on a busy machine.
const leaveLimit = time.Second

// lock takes the lock of the directory: exclusively to start a server and to connect a control client, else shared.
// The descriptor is closed on exec, so no tmux inherits it.
func (s *Server) lock(ctx context.Context, how int) (unlock func(), err error) {
	f, err := os.OpenFile(s.program.layout.lock(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 10*time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, err
		}
		if err := pause(ctx, wait); err != nil {
			f.Close()
			return nil, err
		}
	}
}

// revive makes a server that lives without a socket put it back (tmux(1), SIGUSR1). False means that the server that
// was last known is certainly gone. Where the server lives but does not come back in time, that is an error: a second
// server beside it would hide its sessions.
func (s *Server) revive(ctx context.Context) (bool, error) {
	pid := s.pidFile()
	if pid == 0 || !s.ours(ctx, pid) {
		return false, nil
	}
	if err := syscall.Kill(pid, syscall.SIGUSR1); err != nil {
		if errors.Is(err, syscall.ESRCH) {
			return false, nil
		}
		return false, err
	}
	limit := time.Now().Add(2 * time.Second)
	for time.Now().Before(limit) {
		if listening, err := probe(ctx, s.program.layout.socket); err != nil || listening {
			return listening, err
		}
		if !s.ours(ctx, pid) {
			return false, nil
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return false, err
		}
	}
	return false, hitchpost.Errorf(hitchpost.UnavailableError,
		"the tmux server (process %d) runs but its socket is gone", pid).Hinted("it may be stopped; continue or end it")
}

func (s *Server) pidFile() int {
	text, err := os.ReadFile(s.program.layout.pidFile())
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// ours reports whether pid is a process that was started as the server of our socket: a number may be another's by now.
func (s *Server) ours(ctx context.Context, pid int) bool {
	p, err := process.NewProcessWithContext(ctx, int32(pid))
	if err != nil {
		return false
	}
	if status, err := p.StatusWithContext(ctx); err == nil && slices.Contains(status, process.Zombie) {
		return false
	}
	words, err := p.CmdlineSliceWithContext(ctx)
	return err == nil && slices.Contains(words, s.program.layout.socket) && slices.Contains(words, "new-session")
}
