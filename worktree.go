package hitchpost

// Worktree is a linked working tree of a repository that was made for a session.
type Worktree struct {
	Session Session // that it was made for, which may be closed
	Path    string  // absolute
	Of      string  // top of the repository's own tree, or of the one that it was made from
	Branch  string  // checked out there; empty: none, or not known
}

// RemovedWorktree is a worktree that is gone. Its branch is still there.
type RemovedWorktree struct {
	Worktree
	Ignored NameList // ignored files that went with it
}

// Obstacle is a kind of thing that would be lost by what was asked for.
type Obstacle struct {
	What    string   // such as changed, untracked, unpushed or stashed
	Count   int      // of files, commits or stashes; zero where there is nothing to count
	First   []string // the first of them; not necessarily UTF-8
	Unknown string   // why nobody knows whether there is any; empty: it is known
}
