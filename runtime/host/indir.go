package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/process"
)

// Resident is a process and where it works.
type Resident struct {
	Process
	Command []string // its words, cut to MaxCommand bytes together
	Dir     string   // its working directory, without symlinks; empty: it may not be read
	DirGone bool     // Dir has been removed since; something else may stand there by now
	Account string   // whose it is: the name, else the number; empty: unknown
	Chain   []int    // its parent, that one's parent and so on
}

// InDir returns the processes whose working directory is dir or lies below it, oldest first. dir is absolute; symlinks
// in it are followed. This process and those that it descends from are left out. hidden is how many processes of this
// account work in a directory that may not be read, as of programs that guard their memory; those of other accounts
// are seen by root alone. An error means that the look is not whole: what was found until then is there.
func InDir(ctx context.Context, dir string) (found []Resident, hidden int, err error) {
	tree, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, 0, err
	}
	of, err := parents(ctx)
	if err != nil {
		return nil, 0, err
	}
	own := lineage(ctx)
	for pid := range of {
		if err := stopped(ctx); err != nil {
			return found, hidden, err
		}
		if slices.Contains(own, pid) {
			continue
		}
		p := &process.Process{Pid: pid}
		cwd, _, err := workplace(ctx, p)
		switch {
		case errors.Is(err, fs.ErrPermission) && ours(ctx, p):
			hidden++
		case err == nil && Within(cwd, tree):
			if r, ok := resident(ctx, p, of); ok {
				found = append(found, r)
			}
		}
	}
	slices.SortFunc(found, func(a, b Resident) int { return byAge(a.Process, b.Process) })
	return found, hidden, nil
}

// Within tells whether a path is dir or lies below it. Both are absolute and without symlinks.
func Within(path, dir string) bool {
	rest, ok := strings.CutPrefix(filepath.Clean(path), strings.TrimSuffix(filepath.Clean(dir), "/"))
	return ok && (rest == "" || rest[0] == '/')
}

// resident is what can be told of a process and its place; false where it has ended.
func resident(ctx context.Context, p *process.Process, of map[int32]int32) (Resident, bool) {
	about, ok := describe(ctx, p)
	if !ok {
		return Resident{}, false
	}
	r := Resident{Process: about, Account: account(ctx, p), Chain: chain(p.Pid, of)}
	r.Command, _ = command(ctx, p)
	r.Dir, r.DirGone, _ = workplace(ctx, p)
	return r, true
}

// workplace is the working directory of a process. Linux writes behind its path that it was removed; proc_pid_cwd(5).
// A directory may be called so, but then it is there.
func workplace(ctx context.Context, p *process.Process) (dir string, gone bool, err error) {
	dir, err = p.CwdWithContext(ctx)
	if err != nil {
		return "", false, err
	}
	if was, ok := strings.CutSuffix(dir, " (deleted)"); ok {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return was, true, nil
		}
	}
	return dir, false, nil
}

// chain is the parent of a process, that one's parent and so on.
func chain(pid int32, of map[int32]int32) []int {
	var pids []int
	for parent := of[pid]; parent > 0 && !slices.Contains(pids, int(parent)); parent = of[parent] {
		pids = append(pids, int(parent))
	}
	return pids
}

// owner is the account that a process acts for; false where it has ended.
func owner(ctx context.Context, p *process.Process) (uid uint32, ok bool) {
	uids, err := p.UidsWithContext(ctx)
	if err != nil || len(uids) == 0 {
		return 0, false
	}
	return uids[min(1, len(uids)-1)], true // the effective one; its directory in /proc may show root instead
}

func ours(ctx context.Context, p *process.Process) bool {
	uid, ok := owner(ctx, p)
	return ok && int64(uid) == int64(os.Geteuid())
}

func account(ctx context.Context, p *process.Process) string {
	uid, ok := owner(ctx, p)
	if !ok {
		return ""
	}
	number := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return number
}
