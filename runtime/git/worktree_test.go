package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/git"
)

func added(t *testing.T, dir, branch string) git.Added {
	t.Helper()
	got, err := tree(t, dir).AddWorktree(t.Context(), t.TempDir(), branch)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAddWorktree(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, filepath.Join(dir, "a"), "a")
	command(t, dir, "add", ".")
	command(t, dir, "commit", "-q", "-m", "two")
	command(t, dir, "branch", "old", "HEAD~")
	proof := hooked(t, dir)
	command(t, dir, "config", "branch.autoSetupMerge", "always")
	head := command(t, dir, "rev-parse", "HEAD")
	parent := t.TempDir()
	opened := tree(t, dir)
	made, err := opened.AddWorktree(t.Context(), parent, "feature/ünï one")
	if hitchpost.KindOf(err) != hitchpost.UsageError { // a blank
		t.Errorf("%+v, %v", made, err)
	}
	made, err = opened.AddWorktree(t.Context(), parent, "feature/ünï;$(x)")
	want := git.Added{NewBranch: true, Worktree: git.Worktree{Path: filepath.Join(real(t, parent), "api-feature-n-x"), Head: head,
		Branch: "feature/ünï;$(x)"}}
	if diff := cmp.Diff(want, made); diff != "" || err != nil {
		t.Error(diff, err)
	}
	check(t, made.Path, "api-feature-n-x", "feature/ünï;$(x)")
	if f := look(t, made.Path, git.Question{}); !f.Linked || f.Status.Changed.Count+f.Untracked.Count != 0 || f.Status.Upstream != "" {
		t.Errorf("%+v", f)
	}
	mkdir(t, filepath.Join(parent, "api-old"))
	old, err := opened.AddWorktree(t.Context(), parent, "old")
	if err != nil || old.NewBranch || old.Path != filepath.Join(real(t, parent), "api-old-2") || old.Head == head {
		t.Errorf("%+v, %v", old, err)
	}
	absent(t, proof)
	list, err := tree(t, old.Path).Worktrees(t.Context())
	if err != nil || len(list) != 3 || !list[0].Main || list[0].Path != real(t, dir) || list[1] != made.Worktree || list[2] != old.Worktree {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestAddWorktreeIsRefused(t *testing.T) {
	t.Parallel()
	origin := repository(t)
	command(t, origin, "branch", "theirs")
	dir := filepath.Join(t.TempDir(), "api")
	command(t, "/", "clone", "-q", origin, dir)
	command(t, dir, "branch", "folder/x")
	parent := t.TempDir()
	for branch, kind := range map[string]hitchpost.ErrorKind{"main": hitchpost.ConflictError, "theirs": hitchpost.ConflictError,
		"folder": hitchpost.ConflictError, "main/x": hitchpost.ConflictError, "": hitchpost.UsageError, "--detach": hitchpost.UsageError,
		"@{-1}": hitchpost.UsageError, "../../x": hitchpost.UsageError} {
		if _, err := tree(t, dir).AddWorktree(t.Context(), parent, branch); hitchpost.KindOf(err) != kind {
			t.Errorf("%q: %v", branch, err)
		}
	}
	if _, err := tree(t, dir).AddWorktree(t.Context(), filepath.Join(parent, "gone"), "b"); err == nil {
		t.Error("made where there is no directory")
	}
	ctx, cancel := context.WithCancel(t.Context())
	opened := tree(t, dir)
	cancel()
	if _, err := opened.AddWorktree(ctx, parent, "b"); err == nil {
		t.Error("made although nobody waits")
	}
	empty := filepath.Join(t.TempDir(), "empty")
	command(t, "/", "init", "-q", empty)
	if _, err := tree(t, empty).AddWorktree(t.Context(), parent, "b"); hitchpost.KindOf(err) != hitchpost.ConflictError {
		t.Errorf("%v", err)
	}
	if found, _ := filepath.Glob(filepath.Join(parent, "*")); len(found) != 0 {
		t.Errorf("left behind: %q", found)
	}
	if got := command(t, dir, "for-each-ref", "--format=%(refname:short)", "refs/heads"); got != "folder/x\nmain" {
		t.Errorf("left behind: %s", got)
	}
	if list, err := tree(t, dir).Worktrees(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("left behind: %+v, %v", list, err)
	}
}

func TestAddWorktreeRunsNoFilter(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, filepath.Join(dir, ".gitattributes"), "*.f filter=evil\n")
	write(t, filepath.Join(dir, "a.f"), "pointer")
	command(t, dir, "add", ".")
	command(t, dir, "commit", "-q", "-m", "two")
	proof := filepath.Join(t.TempDir(), "ran")
	command(t, dir, "config", "filter.evil.smudge", "touch "+proof+"; cat")
	command(t, dir, "config", "filter.evil.required", "true")
	made := added(t, dir, "b")
	names(t, "filtered", made.Filtered, "a.f")
	if text, err := os.ReadFile(filepath.Join(made.Path, "a.f")); err != nil || string(text) != "pointer" {
		t.Errorf("%q, %v", text, err)
	}
	absent(t, proof)
}

// removal looks for what is in the way of a worktree.
func removal(t *testing.T, dir, path string) git.Removal {
	t.Helper()
	r, err := tree(t, dir).RemoveWorktree(t.Context(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRemoveWorktree(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	proof := hooked(t, dir)
	made := added(t, dir, "b")
	write(t, filepath.Join(dir, ".git/info/exclude"), "junk\n")
	write(t, filepath.Join(made.Path, "junk/file"), "x")
	seen, err := tree(t, dir).RemoveWorktree(t.Context(), made.Path, true)
	if err != nil || len(seen.InTheWay) != 0 {
		t.Errorf("%+v, %v", seen, err)
	}
	names(t, "ignored", seen.Ignored, "junk/")
	if _, err := os.Lstat(made.Path); err != nil {
		t.Error(err)
	}
	if r := removal(t, dir, made.Path); len(r.InTheWay) != 0 || r.Worktree != made.Worktree {
		t.Errorf("%+v", r)
	}
	if _, err := os.Lstat(made.Path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if command(t, dir, "rev-parse", "refs/heads/b") == "" {
		t.Error("the branch is gone")
	}
	absent(t, proof)
	for _, path := range []string{made.Path, dir, "/", ""} {
		if _, err := tree(t, dir).RemoveWorktree(t.Context(), path, false); hitchpost.KindOf(err) != hitchpost.NotFoundError {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestRemoveWorktreeIsRefused(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[git.Blocks]struct{ file, run string }{
		git.BlockedUntracked:  {file: "new"},
		git.BlockedStaged:     {file: "new", run: "add new"},
		git.BlockedChanged:    {file: "file"},
		git.BlockedUnpushed:   {run: "commit -q --allow-empty -m precious"},
		git.BlockedStashed:    {file: "file", run: "stash -q"},
		git.BlockedLocked:     {run: "worktree lock --reason because ."},
		git.BlockedUnfinished: {run: "bisect start"},
	} {
		t.Run(string(what), func(t *testing.T) {
			t.Parallel()
			dir := conflicting(t)
			made := added(t, dir, "b")
			if spoil.file != "" {
				write(t, filepath.Join(made.Path, spoil.file), "x")
			}
			if spoil.run != "" {
				command(t, made.Path, strings.Fields(spoil.run)...)
			}
			r := removal(t, dir, made.Path)
			if len(r.InTheWay) != 1 || r.InTheWay[0].What != what || len(r.InTheWay[0].First) != 1 {
				t.Errorf("%+v", r.InTheWay)
			}
			if _, err := os.Lstat(filepath.Join(made.Path, "file")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRemoveWorktreeInTheMiddleOfARebase(t *testing.T) {
	t.Parallel()
	dir := conflicting(t)
	made := added(t, dir, "b")
	fails(t, made.Path, "rebase", "other")
	write(t, filepath.Join(made.Path, "new"), "x")
	var got []git.Blocks
	for _, o := range removal(t, dir, made.Path).InTheWay {
		got = append(got, o.What)
	}
	if !slices.Equal(got, []git.Blocks{git.BlockedUnfinished, git.BlockedConflicts, git.BlockedUntracked}) {
		t.Errorf("%q", got)
	}
}

// What git was told not to look at is somebody's work all the same.
func TestRemoveWorktreeSeesWhatIsHidden(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{"--assume-unchanged", "--skip-worktree"} {
		dir := conflicting(t)
		made := added(t, dir, "b")
		command(t, made.Path, "update-index", mark, "file")
		if r, err := tree(t, dir).RemoveWorktree(t.Context(), made.Path, true); err != nil || len(r.InTheWay) != 0 {
			t.Errorf("%+v, %v", r, err)
		}
		write(t, filepath.Join(made.Path, "file"), "precious")
		if r := removal(t, dir, made.Path); len(r.InTheWay) != 1 || r.InTheWay[0].What != git.BlockedChanged {
			t.Errorf("%+v", r)
		}
	}
}

// Commits are safe on a remote, or on another branch, and not on the worktree's own.
func TestRemoveWorktreeKnowsWhereCommitsAre(t *testing.T) {
	t.Parallel()
	origin := repository(t)
	dir := filepath.Join(t.TempDir(), "api")
	command(t, "/", "clone", "-q", origin, dir)
	for name, save := range map[string][]string{"pushed": {"push", "-q", "origin", "HEAD"}, "merged": {"branch", "copy"}} {
		made := added(t, dir, name)
		command(t, made.Path, "commit", "-q", "--allow-empty", "-m", name)
		command(t, made.Path, "tag", name+"-tag")
		if r := removal(t, dir, made.Path); len(r.InTheWay) != 1 || r.InTheWay[0].Count != 1 || r.InTheWay[0].First[0] != name {
			t.Errorf("%+v", r)
		}
		command(t, made.Path, save...)
		if r := removal(t, dir, made.Path); len(r.InTheWay) != 0 {
			t.Errorf("%+v", r)
		}
	}
	made := added(t, dir, "loose")
	command(t, made.Path, "switch", "-q", "--detach")
	command(t, made.Path, "commit", "-q", "--allow-empty", "-m", "on no branch")
	if r := removal(t, dir, made.Path); len(r.InTheWay) != 1 || r.InTheWay[0].What != git.BlockedUnpushed {
		t.Errorf("%+v", r)
	}
	// It counts as well where the directory is gone.
	if err := os.RemoveAll(made.Path); err != nil {
		t.Fatal(err)
	}
	if r := removal(t, dir, made.Path); len(r.InTheWay) != 1 || !r.Worktree.Prunable {
		t.Errorf("%+v", r)
	}
	command(t, dir, "branch", "saved", secondHead(t, dir))
	if r := removal(t, dir, made.Path); len(r.InTheWay) != 0 {
		t.Errorf("%+v", r)
	}
	if list, err := tree(t, dir).Worktrees(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

// secondHead is the head of the repository's second worktree.
func secondHead(t *testing.T, dir string) string {
	t.Helper()
	list, err := tree(t, dir).Worktrees(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list[1].Head
}

func TestRemoveWorktreeWithASubmodule(t *testing.T) {
	t.Parallel()
	dir, inner := repository(t), repository(t)
	command(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub")
	command(t, dir, "commit", "-q", "-m", "two")
	made := added(t, dir, "b")
	command(t, made.Path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	if r := removal(t, dir, made.Path); len(r.InTheWay) != 1 || r.InTheWay[0].What != git.BlockedSubmodules {
		t.Errorf("%+v", r)
	}
}

// A worktree that has lost its .git lies in whatever is around it; that one's files are not looked at in its place.
func TestRemoveWorktreeThatIsBroken(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	made, err := tree(t, dir).AddWorktree(t.Context(), dir, "b")
	if err != nil {
		t.Fatal(err)
	}
	remove(t, filepath.Join(made.Path, ".git"))
	write(t, filepath.Join(made.Path, "precious"), "x")
	if r, err := tree(t, dir).RemoveWorktree(t.Context(), made.Path, false); err == nil || !strings.Contains(err.Error(), "lost its .git") {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := os.Lstat(filepath.Join(made.Path, "precious")); err != nil {
		t.Error(err)
	}
}
