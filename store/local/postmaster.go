package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

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
func (a account) living(ctx context.Context, data string) (*postmaster, error) {
	p, err := readPostmaster(data)
	if err != nil || p == nil || p.pid <= 0 {
		return nil, err
	}
	at, err := os.Stat(data)
	if err != nil {
		return nil, err
	}
	works, err := a.worksIn(ctx, int32(p.pid), at)
	if err != nil {
		return nil, fmt.Errorf("find out whether process %d is the PostgreSQL server on %s: %w", p.pid, data, err)
	}
	if !works {
		return nil, nil
	}
	return p, nil
}

// stragglers lists the processes of PostgreSQL that work in data, the server or what a killed one left.
func (a account) stragglers(ctx context.Context, data string) ([]int32, error) {
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
		works, err := a.worksIn(ctx, pid, at)
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
// is a zombie, works nowhere. One that cannot be looked into, though it might be ours, is an error.
func (a account) worksIn(ctx context.Context, pid int32, at fs.FileInfo) (bool, error) {
	p, err := process.NewProcessWithContext(ctx, pid)
	if errors.Is(err, process.ErrorProcessNotRunning) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	name, err := p.NameWithContext(ctx)
	if err != nil {
		return false, unlessGone(ctx, p, err)
	}
	if !strings.HasPrefix(name, "postgres") && !strings.HasPrefix(name, "postmaster") || zombie(ctx, p) {
		return false, nil
	}
	cwd, err := p.CwdWithContext(ctx)
	if errors.Is(err, fs.ErrPermission) {
		cwd, err = a.cwdOf(ctx, p)
	}
	if err != nil {
		return false, unlessGone(ctx, p, err)
	}
	info, err := os.Stat(cwd)
	// One that cannot be found is not the directory at, which was just seen.
	return err == nil && os.SameFile(info, at), nil
}

// cwdOf is the working directory of a process that this one may not look into; empty for one of an account that the
// server does not run as. The account itself may look: in most containers root may not, without CAP_SYS_PTRACE (proc(5)).
func (a account) cwdOf(ctx context.Context, p *process.Process) (string, error) {
	uids, err := p.UidsWithContext(ctx)
	if err != nil {
		return "", err
	}
	if len(uids) > 1 && uids[1] != uint32(a.uid) {
		return "", nil
	}
	cmd := exec.CommandContext(ctx, "readlink", fmt.Sprintf("/proc/%d/cwd", p.Pid))
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", environment(), a.attributes()
	out, err := cmd.Output()
	return strings.TrimSuffix(string(out), "\n"), err
}

// dying is how long a process may take from giving up its working directory to its end.
const dying = time.Second

// unlessGone is err, or nil where the reason is that the process ends: it gives up what could be read one after the
// other, and is waited for then.
func unlessGone(ctx context.Context, p *process.Process, err error) error {
	for began := time.Now(); time.Since(began) < dying; {
		exists, lookErr := process.PidExistsWithContext(ctx, p.Pid)
		if lookErr == nil && !exists || zombie(ctx, p) {
			return nil
		}
		if e := pause(ctx); e != nil {
			return errors.Join(err, e)
		}
	}
	return err
}

func zombie(ctx context.Context, p *process.Process) bool {
	status, err := p.StatusWithContext(ctx)
	return err == nil && len(status) > 0 && status[0] == process.Zombie
}
