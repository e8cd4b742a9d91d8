package git

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Diff is how much differs, file by file. A file that was renamed counts as one that went and one that came.
type Diff struct {
	Unknown               Unknown
	Files, Binary         int // Files includes those that are not text, and those above 16 MiB, which count as such
	Insertions, Deletions int // lines, of text files
	AtLeast               bool
	First                 []FileDiff
}

// FileDiff is how much differs in a file.
type FileDiff struct {
	Path                  string // raw, from the top
	Insertions, Deletions int
	Binary                bool
}

// baseLimit is how long the comparison of all files with a base may take: it reads those that changed.
const baseLimit = 5 * time.Second

// plain are the options of a diff that runs no program and heeds no taste.
func plain() []string {
	return []string{"--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=dirty"}
}

// fromHead compares tracked files as they are now with HEAD, or with nothing where there is no commit yet.
func (t *Tree) fromHead(ctx context.Context, head string, known Unknown, keep int) Diff {
	if !known.Known() {
		return Diff{Unknown: known}
	}
	if head == "" {
		head = t.emptyTree()
	}
	return t.numbers(ctx, call{}, keep, "diff-index", head)
}

// files finds what is in all files as they are now, untracked ones too, and compares them with the question's base.
func (t *Tree) files(ctx context.Context, q Question, f *Facts) {
	ctx, cancel := context.WithTimeout(ctx, baseLimit)
	defer cancel()
	notAsked := Unknown{Reason: NotAsked}
	f.FilesKnown, f.LastKnown, f.FromBase.Unknown = notAsked, notAsked, notAsked
	if q.Session != "" {
		var list []Checkpoint
		err := error(&reasoned{NotThere, q.Session})
		if sessionName(q.Session) {
			list, err = t.checkpoints(ctx, q.Session)
		}
		f.LastKnown, f.FromBase.Unknown = unknown(err), unknown(err)
		if len(list) > 0 {
			f.Last = &list[len(list)-1]
			q.Base = f.Last.Tree
		} else if err == nil {
			f.FromBase.Unknown = notAsked
		}
	}
	if q.Base == "" && !q.Files {
		return
	}
	s, err := t.newScratch(true)
	var now snapshot
	if err == nil {
		defer s.remove()
		now, err = t.snapshot(ctx, s, Limits{})
	}
	f.Files, f.FilesKnown = now.tree, unknown(err)
	if q.Base == "" {
		return
	}
	from, baseErr := t.object(ctx, q.Base, "tree")
	if err == nil {
		err = baseErr
	}
	if err != nil {
		f.FromBase = Diff{Unknown: unknown(err)}
		return
	}
	f.FromBase = t.numbers(ctx, call{env: s.env, limit: makeLimit}, q.Names, "diff-tree", "-r", from, now.tree)
}

// numbers runs a diff and adds up its numbers.
func (t *Tree) numbers(ctx context.Context, c call, keep int, verb string, args ...string) Diff {
	words := append([]string{verb, "--numstat", "-z"}, plain()...)
	c.keep = statusBytes
	out, err := t.run(ctx, c, append(append(words, args...), "--")...)
	if err != nil {
		return Diff{Unknown: unknown(err)}
	}
	d := Diff{AtLeast: out.cut}
	seen := ""
	for _, part := range out.parts() {
		fields := strings.SplitN(part, "\t", 3)
		if len(fields) != 3 || fields[2] == seen { // one in conflict comes twice
			continue
		}
		seen = fields[2]
		d.add(fields, keep)
	}
	return d
}

func (d *Diff) add(fields []string, keep int) {
	f := FileDiff{Path: strings.Clone(fields[2]), Binary: fields[0] == "-"}
	f.Insertions, _ = strconv.Atoi(fields[0])
	f.Deletions, _ = strconv.Atoi(fields[1])
	d.Files++
	d.Insertions += f.Insertions
	d.Deletions += f.Deletions
	if f.Binary {
		d.Binary++
	}
	if len(d.First) < keep {
		d.First = append(d.First, f)
	}
}

// Patch is a diff as text.
type Patch struct {
	Stat Diff
	Text string // unified diff, raw: it holds what the files hold
	Cut  bool   // there was more
}

// Compare is the difference between two commits or trees, given by their full hashes, as a patch of up to limit bytes.
// An empty `to` stands for all files as they are now, tracked or not, without the ignored. It changes nothing and adds
// nothing to the repository. The error is a *hitchpost.Error.
func (t *Tree) Compare(ctx context.Context, from, to string, limit int) (Patch, error) {
	var p Patch
	var failed error
	err := t.beside(ctx, from, to, func(env []string, from, to string) {
		c := call{env: env, limit: makeLimit}
		p.Stat = t.numbers(ctx, c, namesListed, "diff-tree", "-r", from, to)
		c.keep = limit
		var out output
		out, failed = t.run(ctx, c, append(append([]string{"diff-tree", "-r", "-p"}, plain()...), from, to, "--")...)
		p.Text, p.Cut = out.text, out.cut
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return Patch{}, t.worded("compare files", err)
	}
	return p, nil
}

// beside has f compare two trees. Where the second is of the files as they are now, it is written to a place of its own
// that is gone afterwards.
func (t *Tree) beside(ctx context.Context, from, to string, f func(env []string, from, to string)) error {
	from, err := t.object(ctx, from, "tree")
	if err != nil {
		return err
	}
	if to != "" {
		if to, err = t.object(ctx, to, "tree"); err == nil {
			f([]string{"GIT_INDEX_FILE=" + filepath.Join(t.GitDir, "no index")}, from, to) // it may be broken
		}
		return err
	}
	s, err := t.newScratch(true)
	if err != nil {
		return err
	}
	defer s.remove()
	now, err := t.snapshot(ctx, s, Limits{})
	if err == nil {
		f(s.env, from, now.tree)
	}
	return err
}
