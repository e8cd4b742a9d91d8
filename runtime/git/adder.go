package git

import (
	"context"
	"errors"
	"strings"
)

// adder takes files into an index of ours.
type adder struct {
	t     *Tree
	at    *scratch
	into  *snapshot
	fails int
}

// failsLimit is how many calls may fail before it is given up: git takes all paths of a call or none.
const failsLimit = 200

// add takes paths in as they are now; those that are gone are taken out. A path that git cannot take, because it went
// or was closed meanwhile or cannot be encoded as the repository wants it, is found by halving and left out.
func (a *adder) add(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	err := a.t.feed(ctx, a.at, paths, "--add", "--remove", "--replace", "--ignore-skip-worktree-entries")
	if err == nil {
		return nil
	}
	a.fails++
	var c *callError
	if ctx.Err() != nil || !errors.As(err, &c) || c.exit < 1 || cannotWrite(c) || a.fails > failsLimit {
		return err
	}
	if len(paths) == 1 {
		a.into.leave(paths[0], leftByGit, 0)
		return nil
	}
	half := len(paths) / 2
	if err := a.add(ctx, paths[:half]); err != nil {
		return err
	}
	return a.add(ctx, paths[half:])
}

// cannotWrite reports whether git failed because nothing can be written now, whatever the path.
func cannotWrite(c *callError) bool {
	for _, words := range []string{"No space left", "quota exceeded", "Read-only file system", "unable to write",
		"temporary file", "insufficient permission", "Unable to create", "File too large"} {
		if strings.Contains(c.said, words) {
			return true
		}
	}
	return false
}

// settle gives each path that is still in conflict, because it was left out, one of its sides: ours where there is one.
// A tree has no place for several.
func (t *Tree) settle(ctx context.Context, at *scratch) error {
	sides := map[string]string{}
	_, err := t.run(ctx, call{env: at.env, limit: makeLimit, each: func(part string) {
		entry, path, _ := strings.Cut(part, "\t") // mode hash stage
		if fields := strings.Fields(entry); len(fields) == 3 && (sides[path] == "" || fields[2] == "2") {
			sides[strings.Clone(path)] = fields[0] + " " + fields[1]
		}
	}}, "ls-files", "-z", "--unmerged")
	if err != nil || len(sides) == 0 {
		return err
	}
	var in strings.Builder
	for path, side := range sides {
		in.WriteString("0 " + strings.Repeat("0", len(t.emptyTree())) + "\t" + path + "\x00" + side + "\t" + path + "\x00")
	}
	_, err = t.run(ctx, call{env: at.env, off: at.off, limit: makeLimit, stdin: strings.NewReader(in.String())},
		"update-index", "-z", "--index-info")
	return err
}
