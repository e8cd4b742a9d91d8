package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Question is what Look should find out besides what it always does.
type Question struct {
	// Began is the commit that was checked out when the work began; commits made since are those that HEAD has and it has
	// not. Empty: by Since.
	Began string
	// Since is the time from which on commits count, by their committer's clock. Zero, with Began empty: NotAsked.
	Since time.Time
	// Base is a commit or tree that the files as they are now are compared with, untracked ones included: the last
	// checkpoint. Empty: NotAsked.
	Base string
	// Session is the id of a session whose newest checkpoint is the Base.
	Session string
	// Files tells to name what is in the files as they are now.
	Files bool
	// Names is how many names each list holds; zero: 20.
	Names int
}

// Facts are what git knows of a working tree. Each part says whether it is known; one that is not, or only in part, does
// not keep the others from being so. All names, subjects and details are raw: somebody else has chosen their bytes.
type Facts struct {
	At    time.Time // when the look began
	Place Unknown   // whether there is a working tree at all; where not, nothing else is known

	Top, GitDir, CommonDir string
	Repo                   string // base name of Top
	Linked                 bool   // a worktree beside the repository's own
	// Filters are names of configured filters, which are not run: a file that passes through one counts as changed as
	// soon as git cannot tell from its size and times that it is not.
	Filters []string

	Status     Status
	Untracked  Names // a directory with nothing tracked in it is one name that ends with a slash
	Unfinished Unfinished
	Head       Commit  // zero where the branch has no commit yet
	HeadKnown  Unknown // whether Head is known
	Since      Commits // made since the work began
	Unpushed   Commits // of HEAD that no remote-tracking branch has
	NoRemote   bool    // there is no remote-tracking branch, so Unpushed is all there is
	FromHead   Diff    // tracked files as they are now against HEAD
	FromBase   Diff    // all files as they are now against the question's Base
	// Last is the newest checkpoint of the question's Session, nil where there is none; LastKnown whether it is known.
	Last      *Checkpoint
	LastKnown Unknown
	// Files is the tree that a checkpoint of the files as they are now would have, so that two that are equal tell that
	// nothing changed. Nothing of it is in the repository.
	Files      string
	FilesKnown Unknown
}

// Commit is a commit.
type Commit struct {
	Hash    string
	Subject string // one line, up to 500 bytes
	At      time.Time
}

// Names are some of a list.
type Names struct {
	Unknown Unknown
	Count   int
	AtLeast bool     // there are more than Count
	First   []string // paths from the top, as the file system has them; not necessarily UTF-8
}

// Commits are some of a list, newest first.
type Commits struct {
	Unknown Unknown
	Count   int
	AtLeast bool
	First   []Commit
}

const (
	// namesListed is how many names a list of Facts holds where the question does not say.
	namesListed = 20
	// subjectLimit bounds a subject, in bytes.
	subjectLimit = 500
)

// Look finds the facts of the working tree that holds dir. It never fails: what it could not find out says why. It
// changes nothing and runs nothing of the repository's. Its parts are found beside each other and take 2 s each at
// most, what is about all files 5 s; a ctx that ends earlier ends those that are under way.
func Look(ctx context.Context, dir string, q Question) Facts {
	f := Facts{At: time.Now()}
	if q.Names <= 0 {
		q.Names = namesListed
	}
	t, err := open(ctx, dir)
	if err != nil {
		f.Place = unknown(err)
		return f
	}
	f.Top, f.GitDir, f.CommonDir, f.Repo, f.Linked = t.Top, t.GitDir, t.CommonDir, filepath.Base(t.Top), t.Linked()
	f.Filters = t.Filters
	head, err := t.headCommit(ctx)
	f.Head, f.HeadKnown = head, unknown(err)
	f.Unfinished = t.unfinished()

	var wait sync.WaitGroup
	wait.Go(func() { f.Status = t.status(ctx, q.Names) })
	wait.Go(func() { f.Untracked = t.untracked(ctx, q.Names) })
	wait.Go(func() { f.Since = t.since(ctx, f.Head.Hash, f.HeadKnown, q) })
	wait.Go(func() { f.Unpushed, f.NoRemote = t.unpushed(ctx, f.Head.Hash, f.HeadKnown, q.Names) })
	wait.Go(func() { f.FromHead = t.fromHead(ctx, f.Head.Hash, f.HeadKnown, q.Names) })
	wait.Go(func() { t.files(ctx, q, &f) })
	wait.Wait()
	return f
}

// headCommit is the commit that is checked out; zero, without an error, where there is none yet.
func (t *Tree) headCommit(ctx context.Context) (Commit, error) {
	hash, err := t.text(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
	if exited(err, 1) {
		return Commit{}, t.unborn()
	}
	if err != nil {
		return Commit{}, err
	}
	list, err := t.log(ctx, 1, 1, hash)
	if err != nil || len(list.First) == 0 {
		return Commit{Hash: hash}, err
	}
	return list.First[0], nil
}

// unborn is nil where HEAD names a branch without a commit, and not one whose commit git cannot make out: the two look
// alike to it.
func (t *Tree) unborn() error {
	text, err := regular(filepath.Join(t.GitDir, "HEAD"))
	if err != nil {
		return err
	}
	ref := strings.TrimSpace(strings.TrimPrefix(text, "ref:"))
	if !filepath.IsLocal(ref) {
		return nil
	}
	if info, err := os.Lstat(filepath.Join(t.CommonDir, ref)); err == nil && !info.IsDir() {
		return &reasoned{Broken, ref + " names no commit"}
	}
	return nil
}

// untracked lists files that are neither tracked nor ignored.
func (t *Tree) untracked(ctx context.Context, keep int) Names {
	out, err := t.run(ctx, call{}, "ls-files", "-z", "--others", "--exclude-standard", "--directory", "--no-empty-directory")
	if err != nil {
		return Names{Unknown: unknown(err)}
	}
	var n Names
	for _, name := range out.parts() {
		n.add(name, keep)
	}
	n.AtLeast = out.cut
	return n
}

func (n *Names) add(name string, keep int) {
	n.Count++
	if len(n.First) < keep {
		n.First = append(n.First, strings.Clone(name)) // the whole output is not kept for it
	}
}
