package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost/runtime/git"
)

func look(t *testing.T, dir string, q git.Question) git.Facts {
	t.Helper()
	return git.Look(t.Context(), dir, q)
}

// allKnown fails the test where a part that was asked for is not known.
func allKnown(t *testing.T, f git.Facts) {
	t.Helper()
	for name, u := range map[string]git.Unknown{"place": f.Place, "status": f.Status.Unknown, "untracked": f.Untracked.Unknown,
		"head": f.HeadKnown, "since": f.Since.Unknown, "unpushed": f.Unpushed.Unknown, "from head": f.FromHead.Unknown,
		"from base": f.FromBase.Unknown} {
		if !u.Known() && u.Reason != git.NotAsked {
			t.Errorf("%s: %s (%s)", name, u.Reason, u.Detail)
		}
	}
}

func TestFactsOfATree(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	began := command(t, dir, "rev-parse", "HEAD")
	for _, name := range []string{"kept", "edited", "deleted", "staged"} {
		write(t, filepath.Join(dir, name), name+"\n")
	}
	command(t, dir, "add", ".")
	command(t, dir, "commit", "-q", "-m", "two: four files")
	write(t, filepath.Join(dir, "edited"), "edited\nmore\nand more\n")
	write(t, filepath.Join(dir, "staged"), "other\n")
	write(t, filepath.Join(dir, "new"), "new\n")
	write(t, filepath.Join(dir, "folder/a"), "a\n")
	write(t, filepath.Join(dir, "folder/b"), "b\n")
	write(t, filepath.Join(dir, ".gitignore"), "junk\n")
	write(t, filepath.Join(dir, "junk"), "junk\n")
	command(t, dir, "add", "staged", ".gitignore")
	if err := os.Remove(filepath.Join(dir, "deleted")); err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	f := look(t, filepath.Join(dir, "folder"), git.Question{Began: began})
	allKnown(t, f)
	if f.At.Before(before) || f.Repo != "api" || f.Linked || f.Top != real(t, dir) || f.GitDir != filepath.Join(real(t, dir), ".git") ||
		f.CommonDir != f.GitDir || len(f.Filters) != 0 && !slices.Contains(f.Filters, "lfs") {
		t.Errorf("%+v", f)
	}
	s := f.Status
	if s.Branch != "main" || s.Upstream != "" || s.UpstreamGone || s.Stashes != 0 {
		t.Errorf("%+v", s)
	}
	names(t, "staged", s.Staged, ".gitignore", "staged")
	names(t, "changed", s.Changed, "deleted", "edited")
	names(t, "conflicted", s.Conflicted)
	names(t, "untracked", f.Untracked, "folder/", "new")
	if f.Head.Subject != "two: four files" || time.Since(f.Head.At) > time.Minute || f.Since.Count != 1 || f.Since.AtLeast ||
		f.Since.First[0] != f.Head || f.Head.Hash != command(t, dir, "rev-parse", "HEAD") {
		t.Errorf("%+v, %+v", f.Head, f.Since)
	}
	if f.Unpushed.Count != 2 || !f.NoRemote {
		t.Errorf("%+v", f.Unpushed)
	}
	want := git.Diff{Files: 4, Insertions: 4, Deletions: 2, First: []git.FileDiff{{Path: ".gitignore", Insertions: 1},
		{Path: "deleted", Deletions: 1}, {Path: "edited", Insertions: 2}, {Path: "staged", Insertions: 1, Deletions: 1}}}
	if diff := cmp.Diff(want, f.FromHead); diff != "" {
		t.Error(diff)
	}
	if f.Unfinished != (git.Unfinished{}) || f.FromBase.Unknown.Reason != git.NotAsked {
		t.Errorf("%+v, %+v", f.Unfinished, f.FromBase)
	}
}

func real(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func names(t *testing.T, what string, got git.Names, want ...string) {
	t.Helper()
	if !got.Unknown.Known() || got.Count != len(want) || !slices.Equal(got.First, want) {
		t.Errorf("%s: %d %q (%+v), want %q", what, got.Count, got.First, got.Unknown, want)
	}
}

func TestFactsOfARepositoryWithoutACommit(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	command(t, "/", "init", "-q", "-b", "trunk", dir)
	write(t, filepath.Join(dir, "staged"), "a\nb\n")
	command(t, dir, "add", "staged")
	write(t, filepath.Join(dir, "new"), "")
	f := look(t, dir, git.Question{Since: time.Now().Add(-time.Hour)})
	allKnown(t, f)
	if f.Head != (git.Commit{}) || f.Status.Branch != "trunk" || f.Since.Count != 0 || f.Unpushed.Count != 0 || f.FromHead.Insertions != 2 {
		t.Errorf("%+v", f)
	}
	names(t, "staged", f.Status.Staged, "staged")
	names(t, "untracked", f.Untracked, "new")
}

func TestFactsOfTheUpstream(t *testing.T) {
	t.Parallel()
	origin := repository(t)
	dir := filepath.Join(t.TempDir(), "clone")
	command(t, "/", "clone", "-q", origin, dir)
	for _, n := range []string{"a", "b"} {
		command(t, dir, "commit", "-q", "--allow-empty", "-m", n)
	}
	command(t, origin, "commit", "-q", "--allow-empty", "-m", "theirs")
	command(t, dir, "fetch", "-q")
	f := look(t, dir, git.Question{Since: time.Now().Add(-time.Hour)})
	allKnown(t, f)
	if s := f.Status; s.Upstream != "origin/main" || s.UpstreamGone || s.Ahead != 2 || s.Behind != 1 {
		t.Errorf("%+v", s)
	}
	if f.Unpushed.Count != 2 || f.Unpushed.First[0].Subject != "b" || f.NoRemote || f.Since.Count != 3 {
		t.Errorf("%+v, %+v", f.Unpushed, f.Since)
	}
	if f := look(t, dir, git.Question{Since: time.Now().Add(time.Hour)}); f.Since.Count != 0 || !f.Since.Unknown.Known() {
		t.Errorf("%+v", f.Since)
	}
	command(t, dir, "update-ref", "-d", "refs/remotes/origin/main")
	if s := look(t, dir, git.Question{}).Status; s.Upstream != "origin/main" || !s.UpstreamGone {
		t.Errorf("%+v", s)
	}
	command(t, dir, "switch", "-q", "--detach")
	if f := look(t, dir, git.Question{}); f.Status.Branch != "" || f.Status.Upstream != "" || f.Head.Subject != "b" {
		t.Errorf("%+v", f.Status)
	}
}

// A commit that went, and what is no commit's name, is told from one after which nothing was done.
func TestFactsSinceACommitThatIsNot(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	for _, began := range []string{strings.Repeat("1", 40), "main", "--all", "HEAD"} {
		if got := look(t, dir, git.Question{Began: began}).Since; got.Unknown.Reason != git.NotThere {
			t.Errorf("%s: %+v", began, got)
		}
	}
}

func TestFactsOfWorktreesStashesAndManyNames(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, filepath.Join(dir, "file"), "a")
	command(t, dir, "add", ".")
	command(t, dir, "stash", "-q")
	other := filepath.Join(t.TempDir(), "fix")
	command(t, dir, "worktree", "add", "-q", other)
	for i := range 50 {
		write(t, filepath.Join(other, fmt.Sprintf("%02d", i)), "")
	}
	f := look(t, other, git.Question{Names: 3})
	allKnown(t, f)
	if !f.Linked || f.Top != real(t, other) || f.CommonDir != filepath.Join(real(t, dir), ".git") ||
		f.GitDir != filepath.Join(f.CommonDir, "worktrees/fix") || f.Status.Stashes != 1 || f.Status.Branch != "fix" {
		t.Errorf("%+v", f)
	}
	if f.Untracked.Count != 50 || !slices.Equal(f.Untracked.First, []string{"00", "01", "02"}) {
		t.Errorf("%+v", f.Untracked)
	}
	if n := look(t, dir, git.Question{}).Untracked.Count; n != 0 {
		t.Errorf("%d untracked in the other tree", n)
	}
}

// Names come as they are, whatever bytes they have, and nothing in them ends a list or a field.
func TestFactsOfHostileNames(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	hostile := []string{"a\nb", "c\td", "e\x1b[31m", "f\xff\xfe", "g \"h\"", "-i", "2 R. N...", "\u202ej"}
	for _, name := range hostile {
		write(t, filepath.Join(dir, name), "x\n")
	}
	names(t, "untracked", sorted(look(t, dir, git.Question{}).Untracked), sortedNames(hostile)...)
	command(t, dir, "add", "--", ".")
	command(t, dir, "branch", "-M", "x;touch${IFS}pwned\xf0\x9f\x92\xa9")
	f := look(t, dir, git.Question{})
	names(t, "staged", sorted(f.Status.Staged), sortedNames(hostile)...)
	if f.Status.Branch != "x;touch${IFS}pwned\xf0\x9f\x92\xa9" || f.FromHead.Files != len(hostile) {
		t.Errorf("%+v", f)
	}
	for _, d := range f.FromHead.First {
		if !slices.Contains(hostile, d.Path) {
			t.Errorf("%q", d.Path)
		}
	}
	command(t, dir, "commit", "-q", "-m", "sub\x1b[31m\nject"+strings.Repeat("é", 1000))
	if s := look(t, dir, git.Question{}).Head.Subject; !strings.HasPrefix(s, "sub\x1b[31m ject") || len(s) != 500 {
		t.Errorf("%q", s)
	}
}

func sorted(n git.Names) git.Names {
	n.First = sortedNames(n.First)
	return n
}

func sortedNames(names []string) []string { return slices.Sorted(slices.Values(names)) }

func TestFactsOfAConflictAndAMerge(t *testing.T) {
	t.Parallel()
	dir := conflicting(t)
	if out := fails(t, dir, "merge", "other"); !strings.Contains(out, "CONFLICT") {
		t.Fatal(out)
	}
	f := look(t, dir, git.Question{})
	allKnown(t, f)
	names(t, "conflicted", f.Status.Conflicted, "file")
	names(t, "staged", f.Status.Staged)
	names(t, "changed", f.Status.Changed)
	if f.Unfinished != (git.Unfinished{Operation: git.Merge}) || f.FromHead.Files != 1 {
		t.Errorf("%+v, %+v", f.Unfinished, f.FromHead)
	}
}

// conflicting is a repository whose branches main and other each have two commits that change the same line.
func conflicting(t *testing.T) string {
	t.Helper()
	dir := repository(t)
	command(t, dir, "branch", "other")
	for _, branch := range []string{"main", "other"} {
		command(t, dir, "switch", "-q", branch)
		for _, n := range []string{"1", "2"} {
			write(t, filepath.Join(dir, "file"), branch+n+"\n")
			command(t, dir, "add", ".")
			command(t, dir, "commit", "-q", "-m", branch+n)
		}
	}
	command(t, dir, "switch", "-q", "main")
	return dir
}

// fails runs the real git where it is expected to stop, and returns what it said.
func fails(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := program(dir, args...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("git %q succeeds: %s", args, out)
	}
	return string(out)
}

func TestFactsOfUnfinishedOperations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin []string
		want  git.Unfinished
	}{
		"rebase":       {[]string{"rebase", "other"}, git.Unfinished{Operation: git.Rebase, Step: 1, Steps: 2, Branch: "main"}},
		"apply":        {[]string{"rebase", "--apply", "other"}, git.Unfinished{Operation: git.Rebase, Step: 1, Steps: 2, Branch: "main"}},
		"cherry-pick":  {[]string{"cherry-pick", "other"}, git.Unfinished{Operation: git.CherryPick}},
		"cherry-picks": {[]string{"cherry-pick", "main~2..other"}, git.Unfinished{Operation: git.CherryPick}},
		"revert":       {[]string{"revert", "--no-edit", "HEAD~1"}, git.Unfinished{Operation: git.Revert}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := conflicting(t)
			fails(t, dir, c.begin...)
			if got := look(t, dir, git.Question{}).Unfinished; got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
	t.Run("am", func(t *testing.T) {
		t.Parallel()
		dir := conflicting(t)
		patch := filepath.Join(t.TempDir(), "patch")
		write(t, patch, command(t, dir, "format-patch", "--stdout", "other~1..other")+"\n\n")
		fails(t, dir, "am", patch)
		if got := look(t, dir, git.Question{}).Unfinished; got != (git.Unfinished{Operation: git.Am, Step: 1, Steps: 1}) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("bisect", func(t *testing.T) {
		t.Parallel()
		dir := conflicting(t)
		command(t, dir, "bisect", "start", "main", "main~2")
		want := git.Unfinished{Operation: git.Bisect, Branch: "main", Bisecting: true}
		if got := look(t, dir, git.Question{}).Unfinished; got != want {
			t.Errorf("%+v", got)
		}
	})
}

// The files as they are now, untracked ones too, against a tree; the repository gets no object of it.
func TestFactsFromABase(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, filepath.Join(dir, "file"), "a\n")
	base := checkpoint(t, dir, "s").Tree
	if d := look(t, dir, git.Question{Base: base}).FromBase; d.Files != 0 || !d.Unknown.Known() {
		t.Errorf("%+v", d)
	}
	write(t, filepath.Join(dir, "file"), "b\n")
	write(t, filepath.Join(dir, "more"), "c\nd\n")
	objects := command(t, dir, "count-objects")
	want := git.Diff{Files: 2, Insertions: 3, Deletions: 1, First: []git.FileDiff{{Path: "file", Insertions: 1, Deletions: 1},
		{Path: "more", Insertions: 2}}}
	if diff := cmp.Diff(want, look(t, dir, git.Question{Base: base}).FromBase); diff != "" {
		t.Error(diff)
	}
	if after := command(t, dir, "count-objects"); after != objects {
		t.Errorf("%s, before %s", after, objects)
	}
}
