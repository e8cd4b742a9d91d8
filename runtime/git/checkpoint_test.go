package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/git"
)

func tree(t *testing.T, dir string) *git.Tree {
	t.Helper()
	opened, err := git.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func checkpoint(t *testing.T, dir, session string) git.Made {
	t.Helper()
	made, err := tree(t, dir).Checkpoint(t.Context(), git.Wish{Session: session, Message: "m"})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// holds fails the test where a commit or tree holds other files than want, which has their contents by name.
func holds(t *testing.T, dir, commit string, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimRight(raw(t, dir, "ls-tree", "-r", "-z", "--full-tree", "--name-only", commit), "\x00"), "\x00") {
		if name != "" {
			got[name] = raw(t, dir, "cat-file", "-p", commit+":"+name)
		}
	}
	for name, text := range got {
		if wanted, ok := want[name]; !ok || wanted != text {
			t.Errorf("%q holds %.100q, want %.100q (%v)", name, text, wanted, ok)
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%q is missing", name)
		}
	}
}

// raw is what git writes, to the byte.
func raw(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := program(dir, args...).Output()
	if err != nil {
		t.Fatalf("git %q: %v", args, err)
	}
	return string(out)
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func TestCheckpointHoldsWhatIsNotIgnored(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	for _, name := range []string{"kept", "edited", "deleted", "staged", "tracked.junk", "becomes"} {
		write(t, filepath.Join(dir, name), name)
	}
	command(t, dir, "add", ".")
	command(t, dir, "commit", "-q", "-m", "two")
	write(t, filepath.Join(dir, ".gitignore"), "*.junk\n")
	write(t, filepath.Join(dir, "new.junk"), "junk")
	write(t, filepath.Join(dir, "tracked.junk"), "kept all the same")
	write(t, filepath.Join(dir, "edited"), "edited once more")
	write(t, filepath.Join(dir, "staged"), "index")
	command(t, dir, "add", "staged")
	write(t, filepath.Join(dir, "staged"), "tree")
	write(t, filepath.Join(dir, "folder/new"), "new")
	remove(t, filepath.Join(dir, "deleted"))
	remove(t, filepath.Join(dir, "becomes"))
	write(t, filepath.Join(dir, "becomes/a folder"), "x")
	made := checkpoint(t, dir, "s1")
	holds(t, dir, made.Commit, map[string]string{"kept": "kept", "edited": "edited once more", "staged": "tree", "folder/new": "new",
		"tracked.junk": "kept all the same", ".gitignore": "*.junk\n", "becomes/a folder": "x"})
	head := command(t, dir, "rev-parse", "HEAD")
	if !made.New || made.N != 1 || made.Head != head || made.Files != 8 || len(made.Left) != 0 || made.Raw.Count != 0 {
		t.Errorf("%+v", made)
	}
	if got := command(t, dir, "rev-parse", "refs/hitchpost/s1/1", "refs/hitchpost/s1/1^", "refs/hitchpost/s1/1^{tree}"); got !=
		made.Commit+"\n"+head+"\n"+made.Tree {
		t.Error(got)
	}
	who := command(t, dir, "log", "-1", "--format=%an <%ae>, %cn <%ce>", made.Commit)
	if who != "Hitchpost <hitchpost@localhost>, Hitchpost <hitchpost@localhost>" {
		t.Error(who)
	}
}

// What is the person's is as it was: index to the byte and to its time, HEAD, status, stash, logs, files; and no hook ran.
func TestCheckpointTouchesNothing(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	for _, name := range []string{"staged", "changed"} {
		write(t, filepath.Join(dir, name), name)
	}
	command(t, dir, "add", ".")
	command(t, dir, "stash", "-q")
	write(t, filepath.Join(dir, "staged"), "more")
	command(t, dir, "add", ".")
	write(t, filepath.Join(dir, "changed"), "x")
	command(t, dir, "config", "core.logAllRefUpdates", "always")
	proof := hooked(t, dir)
	before := state(t, dir)
	made := checkpoint(t, dir, "s")
	if after := state(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if !made.New {
		t.Error("none made")
	}
	if _, err := tree(t, dir).Prune(t.Context(), git.Keep{Now: time.Now().Add(31 * 24 * time.Hour)}); err != nil {
		t.Error(err)
	}
	absent(t, proof)
}

// state is all that a checkpoint must not change, and what is found at the places of references that it may not have.
func state(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, name := range []string{"index", "HEAD", "logs/HEAD", "config"} {
		path := filepath.Join(dir, ".git", name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(name + info.ModTime().String() + string(text))
	}
	b.WriteString(command(t, dir, "--no-optional-locks", "status", "--porcelain=v2", "--show-stash"))
	b.WriteString(command(t, dir, "for-each-ref", "refs/heads", "refs/stash", "refs/tags"))
	for _, glob := range []string{"*", ".git/*", ".git/logs/*", ".git/logs/refs/*"} {
		found, err := filepath.Glob(filepath.Join(dir, glob))
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(strings.Join(found, "\n"))
	}
	return b.String()
}

// hooked gives a repository hooks that leave proof.
func hooked(t *testing.T, dir string) (proof string) {
	t.Helper()
	proof = filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(t.TempDir(), "script")
	write(t, script, "#!/bin/sh\necho \"$0\" >> "+proof+"\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "pre-commit", "post-commit",
		"commit-msg", "post-rewrite", "prepare-commit-msg"} {
		if err := os.Symlink(script, filepath.Join(dir, ".git/hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
	command(t, dir, "config", "hook.evil.command", script)
	command(t, dir, "config", "--add", "hook.evil.event", "reference-transaction")
	command(t, dir, "config", "--add", "hook.evil.event", "post-index-change")
	if err := os.RemoveAll(proof); err != nil {
		t.Fatal(err)
	}
	return proof
}

func absent(t *testing.T, proof string) {
	t.Helper()
	if text, err := os.ReadFile(proof); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the repository's programs were run: %s, %v", text, err)
	}
}

func TestCheckpointOfTheSameFilesIsNotMade(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, filepath.Join(dir, "a"), "a")
	first, same := checkpoint(t, dir, "s"), checkpoint(t, dir, "s")
	if same.New || same.Checkpoint != first.Checkpoint {
		t.Errorf("%+v, then %+v", first, same)
	}
	if other := checkpoint(t, dir, "other"); !other.New || other.N != 1 || other.Tree != first.Tree {
		t.Errorf("%+v", other)
	}
	write(t, filepath.Join(dir, "b"), "b")
	if second := checkpoint(t, dir, "s"); !second.New || second.N != 2 || second.Files != 1 {
		t.Errorf("%+v", second)
	}
	remove(t, filepath.Join(dir, "b"))
	if third := checkpoint(t, dir, "s"); !third.New || third.N != 3 || third.Tree != first.Tree {
		t.Errorf("%+v", third)
	}
	command(t, dir, "gc", "-q", "--prune=now")
	command(t, dir, "pack-refs", "--all")
	list, err := tree(t, dir).Checkpoints(t.Context(), "s")
	if err != nil || len(list) != 3 || list[0] != first.Checkpoint || list[2].N != 3 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestCheckpointWithoutACommit(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	command(t, "/", "init", "-q", dir)
	empty := checkpoint(t, dir, "s")
	if !empty.New || empty.Head != "" || empty.Files != 0 {
		t.Errorf("%+v", empty)
	}
	write(t, filepath.Join(dir, "a"), "a")
	made := checkpoint(t, dir, "s")
	holds(t, dir, made.Commit, map[string]string{"a": "a"})
	if made.Head != "" || made.Files != 1 || made.N != 2 {
		t.Errorf("%+v", made)
	}
	if _, err := tree(t, dir).Restore(t.Context(), "s", 2, "back"); err != nil {
		t.Error(err)
	}
	command(t, dir, "switch", "-q", "-f", "back")
}

func TestCheckpointsKeepWhatWasSaid(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	at := time.Date(2026, 2, 3, 4, 5, 6, 7, time.UTC)
	for i, message := range []string{"", "before a Restart\n\nmore\n", "Hitchpost-Files: 77", "ü\x1b\xff\x00\n\n\n\n  ", strings.Repeat("x", 5000)} {
		write(t, filepath.Join(dir, "n"), message)
		made, err := tree(t, dir).Checkpoint(t.Context(), git.Wish{Session: "s", Message: message, Now: at.Add(time.Duration(i) * time.Minute),
			Limits: git.Limits{File: 4000}})
		if err != nil {
			t.Fatal(err)
		}
		list, err := tree(t, dir).Checkpoints(t.Context(), "s")
		if err != nil || len(list) != made.N {
			t.Fatalf("%+v, %v", list, err)
		}
		got := list[made.N-1]
		if want := made.Checkpoint; got != want || got.Message == "" || !got.At.Equal(at.Truncate(time.Second).Add(time.Duration(i)*time.Minute)) {
			t.Errorf("%+v\nwant %+v", got, want)
		}
	}
	list, err := tree(t, dir).Checkpoints(t.Context(), "s")
	if err != nil || list[0].Message != "checkpoint" || list[1].Message != "before a Restart\n\nmore" ||
		list[2].Message != "Hitchpost-Files: 77" || list[3].Message != "ü\x1b" || list[4].LeftOut != 1 || len(list[4].Message) != 1000 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestCheckpointsGoWithTime(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	now := time.Now()
	for i := range 8 {
		write(t, filepath.Join(dir, "n"), strings.Repeat("x", i))
		for _, session := range []string{"a", "b"} {
			age := time.Duration(7-i) * 24 * time.Hour
			if _, err := tree(t, dir).Checkpoint(t.Context(), git.Wish{Session: session, Now: now.Add(-age)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	left := func(keep git.Keep, gone int, want ...int) {
		t.Helper()
		keep.Now = now
		if n, err := tree(t, dir).Prune(t.Context(), keep); err != nil || n != gone {
			t.Errorf("%d went, %v; want %d", n, err, gone)
		}
		for _, session := range []string{"a", "b"} {
			list, err := tree(t, dir).Checkpoints(t.Context(), session)
			var got []int
			for _, c := range list {
				got = append(got, c.N)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, %v; want %v", got, err, want)
			}
		}
	}
	left(git.Keep{}, 0, 1, 2, 3, 4, 5, 6, 7, 8)
	left(git.Keep{Count: 6}, 4, 3, 4, 5, 6, 7, 8)
	left(git.Keep{For: 60 * time.Hour}, 6, 6, 7, 8)
	if made := checkpoint(t, dir, "a"); made.New || made.N != 8 {
		t.Errorf("%+v", made)
	}
	// One that leads to nothing keeps nobody from the others, and goes with the next look.
	write(t, filepath.Join(dir, ".git/refs/hitchpost/a/9"), strings.Repeat("1", 40)+"\n")
	write(t, filepath.Join(dir, ".git/refs/hitchpost/a/word"), command(t, dir, "rev-parse", "HEAD")+"\n")
	left(git.Keep{}, 1, 6, 7, 8)
}

// Two at once leave one where they find the same, and each its own where not; none is lost.
func TestCheckpointsAtOnce(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, filepath.Join(dir, "a"), "a")
	opened := tree(t, dir)
	var wait sync.WaitGroup
	made := make([]git.Made, 6)
	for i := range made {
		wait.Go(func() {
			session := "same"
			if i >= 4 {
				session = "another"
			}
			var err error
			if made[i], err = opened.Checkpoint(t.Context(), git.Wish{Session: session}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	fresh := 0
	for _, m := range made {
		if m.New {
			fresh++
		}
		if m.N != 1 {
			t.Errorf("%+v", m)
		}
	}
	if fresh != 2 {
		t.Errorf("%d are new, want one of each session", fresh)
	}
}

func TestCheckpointOfABadSession(t *testing.T) {
	t.Parallel()
	opened := tree(t, repository(t))
	for _, session := range []string{"", "../heads/main", "a/b", "-x", "A", "a b", "x*", strings.Repeat("x", 65)} {
		if _, err := opened.Checkpoint(t.Context(), git.Wish{Session: session}); hitchpost.KindOf(err) != hitchpost.UsageError {
			t.Errorf("%q: %v", session, err)
		}
		if _, err := opened.Checkpoints(t.Context(), session); hitchpost.KindOf(err) != hitchpost.UsageError {
			t.Errorf("%q: %v", session, err)
		}
	}
}
