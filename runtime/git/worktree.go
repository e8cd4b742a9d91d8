package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hitchpost/hitchpost"
)

// Worktree is a working tree of a repository, as git worktree lists it. Paths and reasons are raw.
type Worktree struct {
	Path     string
	Head     string // commit; empty where there is none yet
	Branch   string // empty where HEAD is on none
	Main     bool   // the repository's own, which is no linked one
	Bare     bool
	Locked   bool
	Why      string // it is locked
	Prunable bool   // its directory is gone
}

// Added is a worktree that was made.
type Added struct {
	Worktree
	NewBranch bool
	// Filtered are files that pass through a filter, such as those of git-lfs, which was not run: what lies there is
	// what the repository holds of them. `git lfs pull` in the worktree gets the rest.
	Filtered Names
}

// AddWorktree makes a worktree of the repository in a new directory under parent, which must exist, with branch checked
// out: one that there is, unless another worktree has it, else a new one at HEAD. The directory is called after
// repository and branch. No hook and no filter is run. The error is a *hitchpost.Error, and leaves nothing behind.
// It blocks for as long as it takes to write all files, 60 s at most.
func (t *Tree) AddWorktree(ctx context.Context, parent, branch string) (Added, error) {
	if err := t.branchName(ctx, branch); err != nil {
		return Added{}, err
	}
	from, isNew, err := t.startOf(ctx, branch)
	if err != nil {
		return Added{}, err
	}
	path, err := claim(parent, filepath.Base(t.Top)+"-"+branch)
	if err != nil {
		return Added{}, t.worded("make a worktree", err)
	}
	args := []string{"worktree", "add", "--quiet", "--no-track", "-b", branch, "--", path, from}
	if !isNew {
		args = []string{"worktree", "add", "--quiet", "--", path, branch}
	}
	if _, err = do(ctx, call{in: t.Top, off: t.off, limit: makeLimit, gently: true}, args...); err != nil {
		failed := t.notAdded(branch, err)
		// A branch that was there after all is somebody else's.
		t.unmake(context.WithoutCancel(ctx), path, branch, from, isNew && hitchpost.KindOf(failed) != hitchpost.ConflictError)
		return Added{}, failed
	}
	added := Added{Worktree: Worktree{Path: path, Head: from, Branch: branch}, NewBranch: isNew}
	if made, err := open(ctx, path); err == nil {
		added.Filtered, _ = made.passing(ctx)
	}
	return added, nil
}

// startOf is the commit that a worktree of branch begins with, and whether the branch is new.
func (t *Tree) startOf(ctx context.Context, branch string) (from string, isNew bool, err error) {
	from, err = t.text(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch+"^{commit}")
	if err == nil {
		return from, false, nil
	}
	if !exited(err, 1) {
		return "", false, t.worded("make a worktree", err)
	}
	remote, err := t.text(ctx, "for-each-ref", "--count=1", "--format=%(refname:short)", "refs/remotes/*/"+branch)
	if err != nil {
		return "", false, t.worded("make a worktree", err)
	}
	if remote != "" {
		return "", false, hitchpost.Errorf(hitchpost.ConflictError, "branch %q is not here but on a remote", branch).
			Hinted("make it with git branch --track %s %s, or name another", branch, remote)
	}
	head, err := t.headCommit(ctx)
	if err != nil {
		return "", false, t.worded("make a worktree", err)
	}
	if head.Hash == "" {
		return "", false, hitchpost.Errorf(hitchpost.ConflictError, "the repository in %q has no commit yet", t.Top).
			Hinted("commit first")
	}
	return head.Hash, true, nil
}

// claim makes a new directory under parent that is called as far as possible by name.
func claim(parent, name string) (string, error) {
	parent, err := filepath.Abs(parent)
	if err == nil {
		parent, err = filepath.EvalSymlinks(parent)
	}
	if err != nil {
		return "", err
	}
	name = plainName(name)
	for n := 1; ; n++ {
		path := filepath.Join(parent, name)
		if n > 1 {
			path += "-" + strconv.Itoa(n)
		}
		err := os.Mkdir(path, 0o700)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrExist) || n == 1000 {
			return "", err
		}
	}
}

// plainName is a name for a directory that needs no quoting anywhere and is no hidden one.
func plainName(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._", r)
	})
	name = strings.TrimLeft(strings.Join(words, "-"), ".-")
	if name = name[:min(len(name), 100)]; name == "" {
		return "worktree"
	}
	return name
}

// unmake takes away what a worktree that could not be made has left.
func (t *Tree) unmake(ctx context.Context, path, branch, from string, isNew bool) {
	_ = os.RemoveAll(path)
	_, _ = do(ctx, call{in: t.Top, off: t.off}, "worktree", "prune")
	if isNew {
		_, _ = do(ctx, call{in: t.Top, off: t.off}, "update-ref", "-d", "refs/heads/"+branch, from)
	}
}

func (t *Tree) notAdded(branch string, err error) error {
	said := unknown(err).Detail
	switch {
	case strings.Contains(said, "already checked out at"), strings.Contains(said, "already used by worktree at"):
		return hitchpost.Errorf(hitchpost.ConflictError, "branch %q is checked out in another worktree: %w", branch, err).
			Hinted("work there, or name another branch")
	case strings.Contains(said, "already exists"), strings.Contains(said, "cannot create"):
		return hitchpost.Errorf(hitchpost.ConflictError, "there is a branch in the way of %q: %w", branch, err).
			Hinted("name another branch")
	default:
		return t.worded("make a worktree", err)
	}
}

// passing lists the files of the index that pass through a configured filter.
func (t *Tree) passing(ctx context.Context) (Names, error) {
	var n Names
	for _, name := range t.Filters {
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
			continue // cannot stand in a pattern
		}
		_, err := t.run(ctx, call{limit: makeLimit, each: func(path string) { n.add(path, leftListed) }},
			"ls-files", "-z", "--", ":(attr:filter="+name+")")
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Worktrees lists the repository's, its own first. The error is a *hitchpost.Error. git 2.36.
func (t *Tree) Worktrees(ctx context.Context) ([]Worktree, error) {
	list, err := t.worktrees(ctx)
	if err != nil {
		return nil, t.worded("list worktrees", err)
	}
	return list, nil
}

func (t *Tree) worktrees(ctx context.Context) ([]Worktree, error) {
	out, err := do(ctx, call{in: t.Top, off: t.off}, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	if out.cut {
		return nil, &reasoned{TooMuch, "more worktrees than can be listed"}
	}
	var list []Worktree
	for _, part := range out.parts() {
		key, value, _ := strings.Cut(part, " ")
		if key == "worktree" {
			list = append(list, Worktree{Path: value, Main: len(list) == 0})
			continue
		}
		if len(list) == 0 {
			continue
		}
		w := &list[len(list)-1]
		switch key {
		case "HEAD":
			if strings.Trim(value, "0") != "" {
				w.Head = value
			}
		case "branch":
			w.Branch = strings.TrimPrefix(value, "refs/heads/")
		case "bare":
			w.Bare = true
		case "locked":
			w.Locked, w.Why = true, value
		case "prunable":
			w.Prunable = true
		}
	}
	return list, nil
}
