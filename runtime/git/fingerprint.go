package git

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Print is a mark of what a repository's own files say. Two that are equal mean that none of it changed in between; it
// means nothing in another process's time or on another machine. The zero value is of a directory in no repository.
type Print [16]byte

// Fingerprint marks the repository of the working tree that holds dir. It starts no process and reads some thirty
// entries of directories, so it can be taken of hundreds of trees every few seconds.
//
// It changes with what is checked out, committed, staged, stashed, fetched or pushed, with what is unfinished, with the
// repository's configuration, and with names that come or go in the tree's top directory. It does not see a file that
// is edited, or that comes or goes deeper in the tree: only git can tell that, so a Look is due all the same when the
// session's programs did something, and once in a while in any case. Nor does it see remote-tracking branches of another
// name than the branch's that lie in folders of their own.
func Fingerprint(ctx context.Context, dir string) (Print, error) {
	t, err := locate(ctx, dir)
	if reason := unknown(err).Reason; reason == NoRepository {
		return Print{}, nil
	}
	if err != nil {
		return Print{}, worded(dir, err)
	}
	sum := fnv.New128a()
	head, _ := regular(filepath.Join(t.GitDir, "HEAD"))
	_, _ = io.WriteString(sum, t.Top+"\x00"+t.GitDir+"\x00"+head+"\x00")
	for _, path := range t.telling(strings.TrimSpace(strings.TrimPrefix(head, "ref: "))) {
		stamp(sum, path)
	}
	return Print(sum.Sum(nil)), nil
}

// telling are the paths whose state tells of a change. A reference is replaced by a rename, so its directory changes
// with it.
func (t *Tree) telling(ref string) []string {
	paths := []string{t.Top}
	for _, name := range []string{"index", "logs/HEAD", "config.worktree", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD",
		"BISECT_LOG", "rebase-merge", "rebase-merge/msgnum", "rebase-apply", "rebase-apply/next", "sequencer/todo"} {
		paths = append(paths, filepath.Join(t.GitDir, name))
	}
	for _, name := range []string{"config", "packed-refs", "FETCH_HEAD", "reftable/tables.list", "info/exclude", "refs/stash",
		"logs/refs/stash", "refs/heads", "refs/remotes"} {
		paths = append(paths, filepath.Join(t.CommonDir, name))
	}
	branch := ""
	if filepath.IsLocal(ref) && strings.HasPrefix(ref, "refs/heads/") {
		branch = strings.TrimPrefix(ref, "refs/heads/")
		paths = append(paths, filepath.Join(t.CommonDir, ref))
	}
	for _, remote := range remotes(filepath.Join(t.CommonDir, "refs/remotes")) {
		paths = append(paths, remote)
		if folder := filepath.Dir(branch); folder != "." {
			paths = append(paths, filepath.Join(remote, folder))
		}
	}
	return paths
}

// remotesLimit is how many remotes are looked at.
const remotesLimit = 16

func remotes(dir string) []string {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(remotesLimit)
	slices.Sort(names)
	for i := range names {
		names[i] = filepath.Join(dir, names[i])
	}
	return names
}

// stamp adds a path's state to a sum: what file it is, its size and when it changed.
func stamp(sum io.Writer, path string) {
	var s unix.Stat_t
	var state [40]byte
	if err := unix.Lstat(path, &s); err == nil {
		for i, n := range []uint64{s.Ino, uint64(s.Size), uint64(s.Mode), uint64(s.Mtim.Nano()), uint64(s.Ctim.Nano())} {
			binary.LittleEndian.PutUint64(state[8*i:], n)
		}
	}
	_, _ = sum.Write(state[:])
}
