package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// family is a command with everything it starts, daemons included. This process becomes their reaper, see
// PR_SET_CHILD_SUBREAPER in prctl(2): whoever loses its parent becomes our child and not init's, so nobody gets away
// by forking twice, and "no child any more" means that nobody is left.
type family struct {
	ended chan syscall.WaitStatus // of the command itself
	empty chan struct{}           // closed when nobody is left
}

// startFamily starts cmd, whose Wait must not be called.
func startFamily(cmd *exec.Cmd) (*family, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("becoming the reaper: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f := &family{ended: make(chan syscall.WaitStatus, 1), empty: make(chan struct{})}
	go f.reap(cmd.Process.Pid)
	return f, nil
}

// reap waits for every child there is or will be. Tests that wait for a process to be gone count on its reaper.
func (f *family) reap(command int) {
	defer close(f.empty)
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return // ECHILD: nobody is left
		case pid == command:
			f.ended <- ws
		}
	}
}

// status waits for the command and is its exit status as a shell would give it.
func (f *family) status() int {
	ws := <-f.ended
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// leftovers waits at most limit until nobody is left. It kills who is, and tells pid, parent and command line of each.
func (f *family) leftovers(limit time.Duration) []string {
	select {
	case <-f.empty:
		return nil
	case <-time.After(limit):
	}
	var left []string
	for {
		pids := descendants(os.Getpid())
		for _, pid := range pids {
			left = append(left, describe(pid))
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		select {
		case <-f.empty:
			return left
		case <-time.After(limit):
			if len(pids) == 0 {
				return append(left, "a process that cannot be seen")
			}
		}
	}
}

// descendants lists the living children of pid, their children, and so on; zombies are not counted.
func descendants(pid int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}
		// The name in brackets may hold anything, so what follows is counted from the last bracket; proc(5).
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], child)
	}
	var all []int
	for queue := children[pid]; len(queue) > 0; {
		all = append(all, queue[0])
		queue = append(queue[1:], children[queue[0]]...)
	}
	return all
}

func describe(pid int) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	return fmt.Sprintf("pid %d in %s: %s", pid, dir, bytes.ReplaceAll(bytes.TrimRight(line, "\x00"), []byte{0}, []byte{' '}))
}
