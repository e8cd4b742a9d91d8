package git

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// scratch is a directory for one look at all files: with an index of our own and, where nothing is to stay, with the
// objects that are written. The person's index is copied and never written.
type scratch struct {
	dir string
	env []string // leads git there
	off []string // settings for calls that write
}

// newScratch makes one outside of the repository. throwaway: no object gets into the repository.
func (t *Tree) newScratch(throwaway bool) (*scratch, error) {
	dir, err := os.MkdirTemp("", "hitchpost-git-") // mode 0700
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	s := &scratch{dir: dir, env: []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}}
	// A split index would leave a part of itself in the repository.
	s.off = []string{"core.splitIndex=false", "index.sparse=false"}
	if !throwaway {
		s.off = append(s.off, durably()...)
	} else {
		objects := filepath.Join(dir, "objects")
		if err := os.Mkdir(objects, 0o700); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		s.env = append(s.env, "GIT_OBJECT_DIRECTORY="+objects,
			"GIT_ALTERNATE_OBJECT_DIRECTORIES="+quoted(filepath.Join(t.CommonDir, "objects")))
	}
	return s, nil
}

// durably are settings for calls that write to the repository: a reference that outlived a power loss which its objects
// did not would break it.
func durably() []string {
	return []string{"core.fsync=committed,loose-object", "core.fsyncMethod=batch", "core.logAllRefUpdates=false",
		"i18n.commitEncoding=UTF-8"}
}

func (s *scratch) remove() { _ = os.RemoveAll(s.dir) }

// quoted is a path in a list that is split at colons (git(1), GIT_ALTERNATE_OBJECT_DIRECTORIES).
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// within is the scratch directory's path from the top of a tree that holds it; empty where it lies elsewhere.
func (s *scratch) within(top string) string {
	rel, err := filepath.Rel(top, s.dir)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return ""
	}
	return rel + "/"
}

// indexLimit bounds the index that is copied, in bytes: some millions of files.
const indexLimit = 1 << 30

// fill puts a copy of the tree's index into the scratch directory. The copy has the time of the original: git takes an
// entry for unchanged by its file's size and times only where these are older than the index.
func (t *Tree) fill(ctx context.Context, s *scratch) error {
	from, err := os.Open(filepath.Join(t.GitDir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return t.fillAnew(ctx, s)
	}
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > indexLimit {
		return &reasoned{Broken, "its index is no regular file of moderate size"}
	}
	path := filepath.Join(s.dir, "index")
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, io.LimitReader(from, indexLimit))
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	_, err = t.run(ctx, call{env: s.env, limit: makeLimit, keep: 1}, "ls-files", "-z")
	if unknown(err).Reason == Broken {
		return t.fillAnew(ctx, s)
	}
	return err
}

// fillAnew makes an index of HEAD, where there is no index, or none that can be read. Without one, a tracked file that
// is ignored would be left out.
func (t *Tree) fillAnew(ctx context.Context, s *scratch) error {
	if err := os.Remove(filepath.Join(s.dir, "index")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	head, err := t.headCommit(ctx)
	if err != nil {
		return err
	}
	from := head.Hash
	if from == "" {
		from = "--empty"
	}
	_, err = t.run(ctx, call{env: s.env, off: s.off, limit: makeLimit}, "read-tree", from)
	return err
}
