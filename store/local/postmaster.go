package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/process"
)

// pidFile is the lock that a running server keeps in its data directory. Its lines are the process id, the data
// directory, the start time, the port, the first socket directory, the first listen address, the shared memory key and
// the status (miscadmin.h of PostgreSQL).
const pidFile = "postmaster.pid"

// postmaster is what the lock in a data directory says.
type postmaster struct {
	pid    int
	socket string // directory; empty while the server has not come that far
}

// readPostmaster reads the lock in data; nil when there is none. A lock without a readable process id, as a full disk
// leaves it, has pid 0.
func readPostmaster(data string) (*postmaster, error) {
	text, err := os.ReadFile(filepath.Join(data, pidFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	var p postmaster
	// A single-user backend writes its number negative.
	if n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(lines[0]), "-")); err == nil {
		p.pid = n
	}
	if len(lines) > 4 {
		p.socket = strings.TrimSpace(lines[4])
	}
	return &p, nil
}

// living is the server that runs on data; nil when none does. A lock that a crash left behind may bear the number of a
// process that is something else by now, so the number alone proves nothing: a process of PostgreSQL works in its data
// directory all its life, and that is asked for.
func living(ctx context.Context, data string) (*postmaster, error) {
	p, err := readPostmaster(data)
	if err != nil || p == nil || p.pid <= 0 {
		return nil, err
	}
	at, err := os.Stat(data)
	if err != nil {
		return nil, err
	}
	works, err := worksIn(ctx, int32(p.pid), at)
	if err != nil {
		return nil, fmt.Errorf("find out whether process %d is the PostgreSQL server on %s: %w", p.pid, data, err)
	}
	if !works {
		return nil, nil
	}
	return p, nil
}

// stragglers lists the processes of PostgreSQL that work in data, the server or what a killed one left.
func stragglers(ctx context.Context, data string) ([]int32, error) {
	at, err := os.Stat(data)
	if err != nil {
		return nil, err
	}
	pids, err := process.PidsWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	var found []int32
	for _, pid := range pids {
		works, err := worksIn(ctx, pid, at)
		if err != nil {
			return nil, fmt.Errorf("find out whether process %d is a PostgreSQL server: %w", pid, err)
		}
		if works {
			found = append(found, pid)
		}
	}
	return found, nil
}

// worksIn reports whether process pid is one of PostgreSQL whose working directory is at. A process that has ended, or
// is a zombie, works nowhere. Of a process that cannot be looked into, another account's is not ours, and what is left
// is an error: it might be.
func worksIn(ctx context.Context, pid int32, at fs.FileInfo) (bool, error) {
	p, err := process.NewProcessWithContext(ctx, pid)
	if errors.Is(err, process.ErrorProcessNotRunning) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	name, err := p.NameWithContext(ctx)
	if err != nil {
		return false, unlessGone(ctx, pid, err)
	}
	if !strings.HasPrefix(name, "postgres") && !strings.HasPrefix(name, "postmaster") {
		return false, nil
	}
	if status, err := p.StatusWithContext(ctx); err == nil && len(status) > 0 && status[0] == process.Zombie {
		return false, nil
	}
	cwd, err := p.CwdWithContext(ctx)
	if errors.Is(err, fs.ErrPermission) {
		// Ours runs as this account, or this process is root and may look at any.
		return false, nil
	}
	if err != nil {
		return false, unlessGone(ctx, pid, err)
	}
	info, err := os.Stat(cwd)
	if err != nil {
		return false, nil // deleted under it, or not ours to see: not the directory at, which was just seen
	}
	return os.SameFile(info, at), nil
}

// unlessGone is err, or nil where the reason is that the process ended meanwhile.
func unlessGone(ctx context.Context, pid int32, err error) error {
	if exists, lookErr := process.PidExistsWithContext(ctx, pid); lookErr == nil && !exists {
		return nil
	}
	// Linux has the directory of a zombie still, but nothing in it can be read.
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
