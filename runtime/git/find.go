package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// limit is how long a look may take in all.
const limit = 2 * time.Second

// Head is what is checked out in a working tree. Both names are UTF-8 without control characters and of moderate
// length; the zero value means that a directory is in no repository.
type Head struct {
	Repo   string // base name of the working tree's directory
	Branch string // also of one without a commit yet; the start of the commit's name where no branch is checked out
}

// Find looks for the working tree that holds dir, as git does: upwards, through linked worktrees and submodules. It
// blocks for 2 s at most, unless a file system hangs, and is safe for concurrent use.
//
// A directory in no repository, or in one that is broken, is no error; one that cannot be read is.
func Find(ctx context.Context, dir string) (Head, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tree, err := filepath.EvalSymlinks(dir) // git goes by where a directory really is
	if err == nil {
		tree, err = filepath.Abs(tree)
	}
	for err == nil {
		if err = ctx.Err(); err != nil {
			break
		}
		var gitDir string
		if gitDir, err = gitDirOf(tree); gitDir != "" {
			var branch string
			if branch, err = checkedOut(ctx, tree, gitDir); branch != "" {
				return Head{clean(filepath.Base(tree)), clean(branch)}, nil
			}
		}
		parent := filepath.Dir(tree)
		if parent == tree {
			break
		}
		tree = parent
	}
	if err != nil && !missing(err) {
		return Head{}, fmt.Errorf("find repository of %q: %w", dir, err)
	}
	return Head{}, nil
}

// gitDirOf is the repository of the working tree at tree, or empty: a directory .git, or one that a file of that name
// leads to (gitrepository-layout(5), "gitfile").
func gitDirOf(tree string) (gitDir string, err error) {
	path := filepath.Join(tree, ".git")
	info, err := os.Stat(path)
	switch {
	case missing(err):
		return "", nil
	case err != nil:
		return "", err
	case info.IsDir():
		return path, nil
	}
	text, err := regular(path)
	if err != nil {
		return "", err
	}
	target, ok := gitFile(text)
	if !ok {
		return "", nil
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(tree, target)
	}
	return target, nil
}

// checkedOut is the branch or commit that the repository has checked out for tree; empty where gitDir is none.
func checkedOut(ctx context.Context, tree, gitDir string) (string, error) {
	path := filepath.Join(gitDir, "HEAD")
	if target, err := os.Readlink(path); err == nil { // how git kept it once, and still reads it
		if ref, ok := branchOf(target); ok {
			return ref, nil
		}
	}
	text, err := regular(path)
	if missing(err) || errors.Is(err, errIrregular) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	name, ok := head(text)
	switch {
	case !ok:
		return "", nil
	case name == elsewhere:
		return ask(ctx, tree)
	}
	return name, nil
}

// missing reports whether err means that there is no such file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDirectory)
}
