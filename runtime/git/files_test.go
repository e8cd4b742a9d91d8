package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hitchpost/hitchpost/runtime/git"
)

// The name of all files changes with what is in them and with nothing else, and is that of a checkpoint.
func TestFactsNameTheFiles(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, filepath.Join(dir, ".gitignore"), "junk\n")
	write(t, filepath.Join(dir, "a"), "one\n")
	files := func() string {
		t.Helper()
		f := look(t, dir, git.Question{Files: true})
		allKnown(t, f)
		if len(f.Files) != 40 {
			t.Fatalf("%+v", f)
		}
		return f.Files
	}
	first := files()
	same := func(what string) {
		t.Helper()
		if files() != first {
			t.Errorf("%s changed the name", what)
		}
	}
	command(t, dir, "add", ".")
	same("staging")
	command(t, dir, "commit", "-q", "-m", "one")
	same("a commit")
	write(t, filepath.Join(dir, "junk"), "x")
	same("an ignored file")
	write(t, filepath.Join(dir, "a"), "two\n")
	if files() == first {
		t.Error("an edit did not change the name")
	}
	write(t, filepath.Join(dir, "a"), "one\n")
	same("an edit that was taken back")
	write(t, filepath.Join(dir, "b"), "")
	if files() == first {
		t.Error("a new file did not change the name")
	}
	if made := checkpoint(t, dir, "s"); made.Tree != files() {
		t.Errorf("the checkpoint is of %s, the files are %s", made.Tree, files())
	}
	if f := look(t, dir, git.Question{}); f.FilesKnown.Reason != git.NotAsked || f.Files != "" {
		t.Errorf("not asked for: %+v", f)
	}
}

// A session's newest checkpoint is told of, with what changed since.
func TestFactsSinceTheNewestCheckpoint(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	q := git.Question{Session: "s"}
	f := look(t, dir, q)
	if f.Last != nil || !f.LastKnown.Known() || f.FromBase.Unknown.Reason != git.NotAsked {
		t.Errorf("without one: %+v", f)
	}
	write(t, filepath.Join(dir, "a"), "one\n")
	checkpoint(t, dir, "s")
	write(t, filepath.Join(dir, "a"), "one\ntwo\n")
	made := checkpoint(t, dir, "s")
	f = look(t, dir, q)
	if f.Last == nil || f.Last.N != 2 || f.Last.Tree != made.Tree || f.FromBase.Files != 0 || !f.FromBase.Unknown.Known() {
		t.Errorf("right after: %+v, %+v", f.Last, f.FromBase)
	}
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "b"), "x\n")
	if f = look(t, dir, q); f.FromBase.Files != 2 || f.FromBase.Insertions != 1 || f.FromBase.Deletions != 2 {
		t.Errorf("after changes: %+v", f.FromBase)
	}
	if f = look(t, dir, git.Question{Session: "../evil"}); f.LastKnown.Known() {
		t.Errorf("of what is no id: %+v", f.LastKnown)
	}
}
