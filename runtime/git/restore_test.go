package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
)

func TestCompareWithACheckpoint(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, filepath.Join(dir, "a"), "1\n2\n3\n")
	first := checkpoint(t, dir, "s")
	write(t, filepath.Join(dir, "a"), "1\ntwo\n3\n")
	write(t, filepath.Join(dir, "b\x1b"), "x\x00y")
	command(t, dir, "config", "diff.external", "touch pwned")
	command(t, dir, "config", "diff.noprefix", "true")
	compared := func(to string) {
		t.Helper()
		p, err := tree(t, dir).Compare(t.Context(), first.Commit, to, 1<<20)
		if err != nil || p.Cut || p.Stat.Files != 2 || p.Stat.Binary != 1 || p.Stat.Insertions != 1 || p.Stat.Deletions != 1 {
			t.Fatalf("%+v, %v", p, err)
		}
		for _, part := range []string{"--- a/a\n+++ b/a\n", "\n-2\n+two\n 3\n", "Binary files /dev/null and"} {
			if !strings.Contains(p.Text, part) {
				t.Errorf("no %q in %s", part, p.Text)
			}
		}
	}
	compared("")
	compared(checkpoint(t, dir, "s").Tree)
	write(t, filepath.Join(dir, "a"), strings.Repeat("line\n", 1<<20))
	if p, err := tree(t, dir).Compare(t.Context(), first.Tree, "", 1000); err != nil || !p.Cut || len(p.Text) != 1000 || p.Stat.Insertions != 1<<20 {
		t.Errorf("%d bytes, %+v, %v", len(p.Text), p.Stat, err)
	}
	_, err := tree(t, dir).Compare(t.Context(), strings.Repeat("1", 40), "", 1000)
	if hitchpost.KindOf(err) != hitchpost.NotFoundError {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("the repository's diff was run")
	}
}

func TestRestoreMakesABranchAndNothingElse(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, filepath.Join(dir, "a"), "as it was")
	made := checkpoint(t, dir, "s")
	write(t, filepath.Join(dir, "a"), "as it is")
	command(t, dir, "branch", "taken")
	command(t, dir, "branch", "folder/x")
	proof := hooked(t, dir)
	before := command(t, dir, "rev-parse", "HEAD", "taken") + command(t, dir, "status", "--porcelain")
	opened := tree(t, dir)
	for _, branch := range []string{"taken", "main", "folder", "taken/x"} {
		if _, err := opened.Restore(t.Context(), "s", 1, branch); hitchpost.KindOf(err) != hitchpost.ConflictError {
			t.Errorf("%s: %v", branch, err)
		}
	}
	for _, branch := range []string{"", "-d", "@{-1}", "a..b", "HEAD", "a b", "x\x00y", "x.lock", strings.Repeat("x", 300)} {
		if _, err := opened.Restore(t.Context(), "s", 1, branch); hitchpost.KindOf(err) != hitchpost.UsageError {
			t.Errorf("%q: %v", branch, err)
		}
	}
	if _, err := opened.Restore(t.Context(), "s", 2, "back"); hitchpost.KindOf(err) != hitchpost.NotFoundError {
		t.Errorf("%v", err)
	}
	if c, err := opened.Restore(t.Context(), "s", 1, "back"); err != nil || c != made.Checkpoint {
		t.Errorf("%+v, %v", c, err)
	}
	absent(t, proof)
	if after := command(t, dir, "rev-parse", "HEAD", "taken") + command(t, dir, "status", "--porcelain"); after != before {
		t.Errorf("%s, before %s", after, before)
	}
	holds(t, dir, "back", map[string]string{"a": "as it was"})
}
