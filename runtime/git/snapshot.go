package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Limits bound what one checkpoint takes in. Zero values stand for what the fields say.
type Limits struct {
	File  int64 // bytes of a file, 50 MB: a bigger one is left out
	Total int64 // bytes of all files that changed together, 1 GB: those beyond it are left out
	Files int   // files that changed, 100,000: those beyond it are left out
}

func (l Limits) orDefault() Limits {
	if l.File <= 0 {
		l.File = 50_000_000
	}
	if l.Total <= 0 {
		l.Total = 1_000_000_000
	}
	if l.Files <= 0 {
		l.Files = 100_000
	}
	return l
}

// Left is a file that was left out of a checkpoint: where it is tracked, the checkpoint has it as the index does.
type Left struct {
	Path string // raw, from the top
	Why  string // too big, another repository, …
	Size int64
}

// Why a file is left out.
const (
	leftTooBig     = "too big"
	leftTooMuch    = "too much in all"
	leftRepository = "another repository"
	leftUnreadable = "may not be read"
	leftNoFile     = "neither a file nor a link"
	leftByGit      = "git cannot take it"
)

// leftListed is how many files that were left out are named.
const leftListed = 100

// snapshot is a tree of the files as they were.
type snapshot struct {
	tree  string
	left  []Left // the first of them
	count int    // how many were left out
	raw   Names  // taken in as they are although they pass through a filter
}

func (s *snapshot) leave(path, why string, size int64) {
	s.count++
	if len(s.left) < leftListed {
		s.left = append(s.left, Left{strings.Clone(path), why, size})
	}
}

// snapshot makes a tree of all files as they are now that are tracked or not ignored, with the index in at. It is not of
// one moment: a file that is written meanwhile is taken as it was when its turn came.
//
// No filter is run: a file that changed is taken as it is. Contents of others' files, and what would run, are the
// repository's choice. What git itself does to line ends and encodings it does.
func (t *Tree) snapshot(ctx context.Context, at *scratch, limits Limits) (snapshot, error) {
	var s snapshot
	if err := t.fill(ctx, at); err != nil {
		return s, err
	}
	if err := t.unhide(ctx, at); err != nil {
		return s, err
	}
	paths, err := t.candidates(ctx, at)
	if err != nil {
		return s, err
	}
	paths = t.sift(ctx, paths, limits.orDefault(), &s)
	adding := adder{t: t, at: at, into: &s}
	if err := adding.add(ctx, paths); err != nil {
		return s, err
	}
	if s.raw, err = t.filtered(ctx, paths); err != nil {
		return s, err
	}
	if err := t.settle(ctx, at); err != nil {
		return s, err
	}
	out, err := t.run(ctx, call{env: at.env, off: at.off, limit: makeLimit, keep: fileLimit}, "write-tree", "--missing-ok")
	s.tree = strings.TrimSuffix(out.text, "\n")
	return s, err
}

// unhide clears the marks by which git does not look at a file (git-update-index(1), assume-unchanged and
// skip-worktree), as far as the file is there: what it holds may be somebody's work.
func (t *Tree) unhide(ctx context.Context, at *scratch) error {
	var assumed, skipped []string
	_, err := t.run(ctx, call{env: at.env, limit: makeLimit, each: func(part string) {
		tag, path, _ := strings.Cut(part, " ")
		if tag == "" || tag == "H" {
			return
		}
		if strings.ToLower(tag) == tag && tag != "?" {
			assumed = append(assumed, strings.Clone(path))
		}
		if _, err := os.Lstat(filepath.Join(t.Top, path)); err == nil && strings.EqualFold(tag, "S") {
			skipped = append(skipped, strings.Clone(path))
		}
	}}, "ls-files", "-v", "-z")
	if err == nil && len(assumed) > 0 {
		err = t.feed(ctx, at, assumed, "--no-assume-unchanged")
	}
	if err == nil && len(skipped) > 0 {
		err = t.feed(ctx, at, skipped, "--no-skip-worktree")
	}
	return err
}

// feed has update-index do something to paths.
func (t *Tree) feed(ctx context.Context, at *scratch, paths []string, options ...string) error {
	args := append([]string{"update-index", "-z"}, options...)
	_, err := t.run(ctx, call{env: at.env, off: at.off, limit: makeLimit,
		stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00")}, append(args, "--stdin")...)
	return err
}

// candidates are the paths whose entry in the index may not be what the tree has.
func (t *Tree) candidates(ctx context.Context, at *scratch) ([]string, error) {
	seen := map[string]bool{}
	own := at.within(t.Top)
	_, err := t.run(ctx, call{env: at.env, limit: makeLimit, each: func(path string) {
		if own == "" || !strings.HasPrefix(path, own) {
			seen[strings.Clone(path)] = true
		}
	}}, "ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard")
	paths := make([]string, 0, len(seen))
	for path := range seen {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths, err
}

// sift leaves out what should or can not be taken in.
func (t *Tree) sift(ctx context.Context, paths []string, limits Limits, s *snapshot) []string {
	var kept []string
	var total int64
	for _, path := range paths {
		if ctx.Err() != nil {
			return nil
		}
		if strings.HasSuffix(path, "/") {
			s.leave(path, leftRepository, 0)
			continue
		}
		full := filepath.Join(t.Top, path)
		info, err := os.Lstat(full)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotDirectory), err == nil && info.IsDir():
			kept = append(kept, path) // it went, or is a submodule
			continue
		case err != nil, info.Mode().IsRegular() && unix.Access(full, unix.R_OK) != nil:
			s.leave(path, leftUnreadable, 0)
		case info.Mode().Type() == fs.ModeSymlink:
			kept = append(kept, path)
		case !info.Mode().IsRegular():
			s.leave(path, leftNoFile, 0)
		case info.Size() > limits.File:
			s.leave(path, leftTooBig, info.Size())
		case total+info.Size() > limits.Total || len(kept) >= limits.Files:
			s.leave(path, leftTooMuch, info.Size())
		default:
			total += info.Size()
			kept = append(kept, path)
		}
	}
	return kept
}

// filtered lists the paths that pass through a filter.
func (t *Tree) filtered(ctx context.Context, paths []string) (Names, error) {
	var n Names
	if len(t.Filters) == 0 || len(paths) == 0 {
		return n, nil
	}
	var fields []string // path, filter, its name
	_, err := t.run(ctx, call{limit: makeLimit, stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
		each: func(part string) {
			if fields = append(fields, strings.Clone(part)); len(fields) < 3 {
				return
			}
			if slices.Contains(t.Filters, fields[2]) {
				n.add(fields[0], leftListed)
			}
			fields = nil
		}}, "check-attr", "-z", "--stdin", "filter")
	return n, err
}
