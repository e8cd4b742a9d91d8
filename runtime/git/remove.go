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

// Obstacle is something that would be lost, or broken off, with a worktree.
type Obstacle struct {
	What  Blocks
	Count int      // of files, commits or stashes; zero where there is nothing to count
	First []string // the first of them: paths, subjects or the operation's name; raw
	// Unknown says why it could not be found out whether there is anything of the kind, which is in the way as well.
	Unknown Unknown
}

// Blocks is a kind of obstacle.
type Blocks string

// The kinds.
const (
	BlockedLocked     Blocks = "locked"     // by git worktree lock, with the reason
	BlockedUnfinished Blocks = "unfinished" // a merge, rebase, …
	BlockedConflicts  Blocks = "conflicts"
	BlockedStaged     Blocks = "staged"
	BlockedChanged    Blocks = "changed" // also files that git was told not to look at (assume-unchanged, skip-worktree)
	BlockedUntracked  Blocks = "untracked"
	BlockedUnpushed   Blocks = "unpushed" // commits that no remote-tracking and no other branch has
	BlockedStashed    Blocks = "stashed"  // on the worktree's branch
	BlockedSubmodules Blocks = "submodules"
)

// Removal is what came of the wish to remove a worktree.
type Removal struct {
	Worktree Worktree
	InTheWay []Obstacle // where there are any, nothing was removed
	Ignored  Names      // ignored files, which are not in the way and went with it, or would
}

// RemoveWorktree removes the linked worktree at path, its directory and git's record of it, unless something would be
// lost with it. Its branch and its checkpoints stay: they are the repository's. Ignored files are not in the way, for
// they are made anew; where they matter, Removal names them in time with look set, which removes nothing.
//
// A worktree whose directory is gone is forgotten, unless commits would be lost. git looks once more for changes as it
// removes, so a file that is written meanwhile keeps it. The error is a *hitchpost.Error: NotFoundError where the
// repository has no such linked worktree.
func (t *Tree) RemoveWorktree(ctx context.Context, path string, look bool) (Removal, error) {
	list, err := t.worktrees(ctx)
	if err != nil {
		return Removal{}, t.worded("remove a worktree", err)
	}
	r := Removal{}
	for _, w := range list {
		if !w.Main && !w.Bare && samePath(w.Path, path) {
			r.Worktree = w
		}
	}
	if r.Worktree.Path == "" {
		return Removal{}, hitchpost.Errorf(hitchpost.NotFoundError, "%q is no worktree beside that in %q", path, list[0].Path).
			Hinted("list the worktrees")
	}
	if r.Worktree.Path == t.Top {
		return Removal{}, hitchpost.Errorf(hitchpost.ConflictError, "a worktree cannot be removed from within").
			Hinted("open the repository's own tree")
	}
	if r.Worktree.Locked {
		r.InTheWay = append(r.InTheWay, Obstacle{What: BlockedLocked, First: some(r.Worktree.Why)})
	}
	if _, err := os.Lstat(r.Worktree.Path); !errors.Is(err, fs.ErrNotExist) {
		if err := t.inTree(ctx, &r); err != nil {
			return Removal{}, t.worded("remove a worktree", err)
		}
	}
	t.inRepository(ctx, &r)
	if look || len(r.InTheWay) > 0 {
		return r, nil
	}
	_, err = do(ctx, call{in: t.Top, off: t.off, limit: makeLimit, gently: true}, "worktree", "remove", "--", r.Worktree.Path)
	if err != nil {
		return Removal{}, hitchpost.Errorf(hitchpost.ConflictError, "git does not remove %q: %w", path, err).
			Hinted("look at what it says, then try again")
	}
	return r, nil
}

// samePath reports whether two paths lead to one place, as far as they can be followed.
func samePath(a, b string) bool {
	real := func(path string) string {
		if r, err := filepath.EvalSymlinks(path); err == nil {
			return r
		}
		return filepath.Clean(path)
	}
	return real(a) == real(b)
}

func some(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// inTree finds what is in the way in the worktree's files.
func (t *Tree) inTree(ctx context.Context, r *Removal) error {
	w, err := open(ctx, r.Worktree.Path)
	if err != nil {
		return err
	}
	if w.Top != r.Worktree.Path && !samePath(w.Top, r.Worktree.Path) {
		return &reasoned{Broken, "the worktree has lost its .git"}
	}
	if u := w.unfinished(); u.Operation != None {
		r.InTheWay = append(r.InTheWay, Obstacle{What: BlockedUnfinished, First: []string{string(u.Operation)}})
	}
	s := w.status(ctx, namesListed)
	if !s.Unknown.Known() {
		r.block(BlockedChanged, Names{Unknown: s.Unknown})
	}
	r.block(BlockedConflicts, s.Conflicted)
	r.block(BlockedStaged, s.Staged)
	if s.Changed.Count == 0 && s.Conflicted.Count == 0 {
		s.Changed = w.unseen(ctx)
	}
	r.block(BlockedChanged, s.Changed)
	r.block(BlockedUntracked, w.untracked(ctx, namesListed))
	r.block(BlockedSubmodules, w.submodules(ctx))
	out, err := w.run(ctx, call{}, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	r.Ignored = Names{Unknown: unknown(err), AtLeast: out.cut}
	for _, name := range out.parts() {
		r.Ignored.add(name, namesListed)
	}
	return nil
}

func (r *Removal) block(what Blocks, n Names) {
	if n.Count > 0 || !n.Unknown.Known() {
		r.InTheWay = append(r.InTheWay, Obstacle{What: what, Count: n.Count, First: n.First, Unknown: n.Unknown})
	}
}

// unseen lists tracked files that changed although git was told not to look at them.
func (t *Tree) unseen(ctx context.Context) Names {
	at, err := t.newScratch(true)
	if err != nil {
		return Names{Unknown: unknown(err)}
	}
	defer at.remove()
	if err = t.fill(ctx, at); err == nil {
		err = t.unhide(ctx, at)
	}
	if err != nil {
		return Names{Unknown: unknown(err)}
	}
	var n Names
	_, err = t.run(ctx, call{env: at.env, limit: makeLimit, each: func(path string) { n.add(path, namesListed) }},
		"ls-files", "-z", "--modified")
	n.Unknown = unknown(err)
	return n
}

// submodules lists those that are checked out: their repositories may lie in the worktree.
func (t *Tree) submodules(ctx context.Context) Names {
	var n Names
	_, err := t.run(ctx, call{limit: makeLimit, each: func(part string) {
		entry, path, _ := strings.Cut(part, "\t")
		if !strings.HasPrefix(entry, "160000 ") {
			return
		}
		if _, err := os.Lstat(filepath.Join(t.Top, path, ".git")); err == nil {
			n.add(path, namesListed)
		}
	}}, "ls-files", "-z", "--stage")
	n.Unknown = unknown(err)
	return n
}

// inRepository finds what is in the way in the repository.
func (t *Tree) inRepository(ctx context.Context, r *Removal) {
	w := r.Worktree
	if w.Head != "" {
		which := []string{w.Head, "--not", "--remotes"}
		if w.Branch != "" {
			which = append(which, "--exclude="+w.Branch)
		}
		list, err := t.log(ctx, namesListed, commitsCounted, append(which, "--branches")...)
		n := Names{Unknown: unknown(err), Count: list.Count}
		for _, c := range list.First {
			n.First = append(n.First, c.Subject)
		}
		r.block(BlockedUnpushed, n)
	}
	r.block(BlockedStashed, t.stashes(ctx, w.Branch))
}

// stashes lists those that were made on a branch, or on none where branch is empty.
func (t *Tree) stashes(ctx context.Context, branch string) Names {
	var n Names
	_, err := t.text(ctx, "rev-parse", "--verify", "--quiet", "refs/stash")
	if exited(err, 1) {
		return n
	}
	if branch == "" {
		branch = "(no branch)"
	}
	if err == nil {
		_, err = t.run(ctx, call{each: func(subject string) {
			rest, ok := strings.CutPrefix(subject, "WIP on ")
			if !ok {
				rest, ok = strings.CutPrefix(subject, "On ")
			}
			if ok && strings.HasPrefix(rest, branch+": ") {
				n.add(subject, namesListed)
			}
		}}, "log", "-g", "-z", "--no-show-signature", "--no-color", "--no-decorate", "--no-notes", "--no-patch", "--format=%gs",
			"--max-count="+strconv.Itoa(commitsCounted), "refs/stash", "--")
	}
	n.Unknown = unknown(err)
	return n
}
