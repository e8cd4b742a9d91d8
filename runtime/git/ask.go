package git

import (
	"context"
	"strings"
)

// ask has git tell what is checked out in tree, which it holds in a form of its own. Nothing that the repository's
// configuration names is run: no hook, no file system monitor, no pager, no fetch of what is missing.
func ask(ctx context.Context, tree string) (string, error) {
	ref, err := line(ctx, tree, "symbolic-ref", "--quiet", "HEAD")
	switch {
	case exited(err, 1): // git-symbolic-ref(1): HEAD is no reference but a commit
		hash, err := line(ctx, tree, "rev-parse", "--verify", "HEAD")
		if err != nil {
			return "", err
		}
		name, _ := head(hash)
		return name, nil
	case err != nil:
		return "", err
	}
	name, _ := branchOf(ref)
	return name, nil
}

// line is one line of git's output.
func line(ctx context.Context, tree string, args ...string) (string, error) {
	out, err := do(ctx, call{in: tree, keep: fileLimit}, args...)
	return strings.TrimRight(out.text, "\r\n"), err
}
