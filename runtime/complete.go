package runtime

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hitchpost/hitchpost"
)

const (
	completeLimit   = 50   // names in an answer
	completeEntries = 5000 // entries looked at in one directory
)

// Complete lists directories that begin with prefix, each ending in a slash, in the order of their names. A relative
// prefix and ~ start at the account's home, and the answer keeps the form of the prefix. A directory that answers too
// slowly gives nothing.
func (s *Service) Complete(ctx context.Context, a hitchpost.Actor, prefix string) ([]string, error) {
	if err := a.Require(hitchpost.Drive); err != nil {
		return nil, err
	}
	typed, base := filepath.Split(prefix)
	dir := typed
	switch {
	case strings.HasPrefix(typed, "~/"):
		dir = filepath.Join(s.Account.Home, typed[2:])
	case !filepath.IsAbs(typed):
		dir = filepath.Join(s.Account.Home, typed)
	}
	return ask(ctx, s.disk, func() ([]string, error) { return directories(dir, typed, base), nil })
}

func directories(dir, typed, base string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }() // only read
	entries, err := d.ReadDir(completeEntries)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range sortedByName(entries) {
		name := e.Name()
		hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(base, ".")
		if !strings.HasPrefix(name, base) || hidden || !isDirectory(dir, e) {
			continue
		}
		if out = append(out, typed+name+"/"); len(out) == completeLimit {
			break
		}
	}
	return out
}

func isDirectory(dir string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(filepath.Join(dir, e.Name()))
	return err == nil && info.IsDir()
}

func sortedByName(entries []fs.DirEntry) []fs.DirEntry {
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}
