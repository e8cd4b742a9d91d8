package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/runtime/git"
)

// kept makes a checkpoint and fails the test where it holds other files than want.
func kept(t *testing.T, dir string, want map[string]string) git.Made {
	t.Helper()
	made := checkpoint(t, dir, "s")
	holds(t, dir, made.Commit, want)
	return made
}

func TestCheckpointLeavesOutWhatIsTooBig(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	for _, name := range []string{"grows", "grows staged"} {
		write(t, filepath.Join(dir, name), "small")
	}
	command(t, dir, "add", ".")
	command(t, dir, "commit", "-q", "-m", "two")
	big := strings.Repeat("x", 2000)
	write(t, filepath.Join(dir, "grows staged"), "middle")
	command(t, dir, "add", ".")
	for _, name := range []string{"grows", "grows staged", "new"} {
		write(t, filepath.Join(dir, name), big)
	}
	write(t, filepath.Join(dir, "ok"), big[:1000])
	made, err := tree(t, dir).Checkpoint(t.Context(), git.Wish{Session: "s", Limits: git.Limits{File: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, dir, made.Commit, map[string]string{"grows": "small", "grows staged": "middle", "ok": big[:1000]})
	if made.LeftOut != 3 || !slices.Equal(made.Left, []git.Left{{"grows", "too big", 2000}, {"grows staged", "too big", 2000},
		{"new", "too big", 2000}}) {
		t.Errorf("%+v", made)
	}
	for name, limits := range map[string]git.Limits{"total": {Total: 2500}, "files": {Files: 1}} {
		made, err := tree(t, dir).Checkpoint(t.Context(), git.Wish{Session: name, Limits: limits})
		if err != nil || made.LeftOut != 3 || made.Left[0].Why != "too much in all" {
			t.Errorf("%s: %+v, %v", name, made, err)
		}
	}
}

func TestCheckpointOfKindsOfFiles(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	hostile := []string{"a\nb", "c\td", "e\x1b[31m", "f\xff\xfe", "g \"h\"\\", "-i", ":(top)j", "*", "ü"}
	want := map[string]string{"link": "/etc/passwd", "dangling": "no where", "run": "#!/bin/sh\n", "was a pipe": "x", "to folder": "folder",
		"folder/in": "in"}
	for _, name := range hostile {
		write(t, filepath.Join(dir, name), name)
		want[name] = name
	}
	write(t, filepath.Join(dir, "run"), "#!/bin/sh\n")
	write(t, filepath.Join(dir, "was a pipe"), "x")
	write(t, filepath.Join(dir, "folder/in"), "in")
	command(t, dir, "add", "was a pipe")
	remove(t, filepath.Join(dir, "was a pipe"))
	for _, err := range []error{os.Chmod(filepath.Join(dir, "run"), 0o755), os.Symlink("/etc/passwd", filepath.Join(dir, "link")),
		os.Symlink("no where", filepath.Join(dir, "dangling")), os.Symlink("folder", filepath.Join(dir, "to folder")),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600), syscall.Mkfifo(filepath.Join(dir, "was a pipe"), 0o600),
		os.Mkdir(filepath.Join(dir, "empty"), 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	made := kept(t, dir, want)
	if made.LeftOut != 1 || made.Left[0] != (git.Left{Path: "was a pipe", Why: "neither a file nor a link"}) {
		t.Errorf("%+v", made.Left)
	}
	modes := command(t, dir, "ls-tree", made.Commit, "--", "run", "link", "-i")
	for _, part := range []string{"100755 blob", "120000 blob", "100644 blob"} {
		if !strings.Contains(modes, part) {
			t.Errorf("no %s in %s", part, modes)
		}
	}
}

func TestCheckpointOfSubmodulesAndOtherRepositories(t *testing.T) {
	t.Parallel()
	dir, inner := repository(t), repository(t)
	command(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub")
	command(t, dir, "commit", "-q", "-m", "two")
	sub := filepath.Join(dir, "sub")
	command(t, sub, "commit", "-q", "--allow-empty", "-m", "theirs")
	write(t, filepath.Join(sub, "dirty"), "x")
	command(t, "/", "clone", "-q", inner, filepath.Join(dir, "clone"))
	command(t, "/", "init", "-q", filepath.Join(dir, "unborn"))
	write(t, filepath.Join(dir, "unborn/x"), "x")
	f := look(t, dir, git.Question{})
	names(t, "changed", f.Status.Changed, "sub")
	made := checkpoint(t, dir, "s")
	got := command(t, dir, "ls-tree", "-r", made.Commit)
	want := "160000 commit " + command(t, sub, "rev-parse", "HEAD") + "\tsub"
	if !strings.HasSuffix(got, want) || strings.Count(got, "\n") != 1 { // and .gitmodules
		t.Errorf("%s\nwant %s", got, want)
	}
	if made.LeftOut != 2 || made.Left[0] != (git.Left{Path: "clone/", Why: "another repository"}) || made.Left[1].Path != "unborn/" {
		t.Errorf("%+v", made.Left)
	}
	if err := os.RemoveAll(filepath.Join(sub, ".git")); err != nil {
		t.Fatal(err)
	}
	if made := checkpoint(t, dir, "s2"); made.Tree == "" {
		t.Errorf("%+v", made)
	}
}

// What git was told not to look at is looked at, and the person's index keeps saying so.
func TestCheckpointSeesWhatIsHidden(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	for _, name := range []string{"assumed", "skipped", "skipped gone", "same"} {
		write(t, filepath.Join(dir, name), "old")
	}
	command(t, dir, "add", ".")
	command(t, dir, "commit", "-q", "-m", "two")
	write(t, filepath.Join(dir, "intended"), "i")
	command(t, dir, "add", "-N", "intended")
	command(t, dir, "update-index", "--assume-unchanged", "assumed", "same")
	command(t, dir, "update-index", "--skip-worktree", "skipped", "skipped gone")
	write(t, filepath.Join(dir, "assumed"), "new")
	write(t, filepath.Join(dir, "skipped"), "new")
	remove(t, filepath.Join(dir, "skipped gone"))
	before := command(t, dir, "ls-files", "-v")
	kept(t, dir, map[string]string{"assumed": "new", "skipped": "new", "skipped gone": "old", "same": "old", "intended": "i"})
	if after := command(t, dir, "ls-files", "-v"); after != before {
		t.Errorf("%s, before %s", after, before)
	}
}

func TestCheckpointInASparseCheckout(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"--no-sparse-index", "--sparse-index"} {
		dir := repository(t)
		want := map[string]string{}
		for _, name := range []string{"in/a", "out/b", "out/deep/c", "top"} {
			write(t, filepath.Join(dir, name), name)
			want[name] = name
		}
		command(t, dir, "add", ".")
		command(t, dir, "commit", "-q", "-m", "two")
		command(t, dir, "sparse-checkout", "set", "--cone", kind, "in")
		if _, err := os.Lstat(filepath.Join(dir, "out")); err == nil {
			t.Fatal("it is not sparse")
		}
		write(t, filepath.Join(dir, "in/a"), "new")
		write(t, filepath.Join(dir, "out/b"), "put there by hand")
		want["in/a"], want["out/b"] = "new", "put there by hand"
		kept(t, dir, want)
		remove(t, filepath.Join(dir, "out/b"))
		if f := look(t, dir, git.Question{}); f.Status.Changed.Count != 1 || f.FromHead.Files != 1 {
			t.Errorf("%+v", f)
		}
	}
}

func TestCheckpointOfOddIndexes(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]struct {
		run  string // words for git
		file string // written below .git
		text string
	}{
		"split":            {run: "update-index --split-index"},
		"split configured": {run: "-c core.splitIndex=true update-index --refresh"},
		"old":              {run: "update-index --index-version 4"},
		"cached":           {run: "update-index --force-untracked-cache"},
		"locked":           {file: "index.lock"},
		"missing":          {},
		"corrupt":          {file: "index", text: "DIRC and then nothing"},
		"empty":            {file: "index"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := repository(t)
			write(t, filepath.Join(dir, ".gitignore"), "*.junk\n")
			write(t, filepath.Join(dir, "tracked.junk"), "t")
			write(t, filepath.Join(dir, "a"), "a")
			command(t, dir, "add", "-f", ".")
			command(t, dir, "commit", "-q", "-m", "two")
			switch {
			case spoil.run != "":
				command(t, dir, strings.Fields(spoil.run)...)
			case spoil.file != "":
				write(t, filepath.Join(dir, ".git", spoil.file), spoil.text)
			default:
				remove(t, filepath.Join(dir, ".git/index"))
			}
			write(t, filepath.Join(dir, "a"), "b")
			before, _ := filepath.Glob(filepath.Join(dir, ".git/*"))
			kept(t, dir, map[string]string{".gitignore": "*.junk\n", "tracked.junk": "t", "a": "b"})
			if after, _ := filepath.Glob(filepath.Join(dir, ".git/*")); !slices.Equal(after, before) {
				t.Errorf("%q, before %q", after, before)
			}
		})
	}
}

// git trusts an entry's size and times where they are older than the index. A copy that looked newer than it is would
// hide a change of the same size, made as soon as the file was added.
func TestCheckpointSeesAChangeOfTheSameMoment(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	file, index := filepath.Join(dir, "a"), filepath.Join(dir, ".git/index")
	for range 20 {
		write(t, file, "one")
		command(t, dir, "-c", "core.trustctime=false", "add", "a")
		write(t, file, "two")
		info, err := os.Stat(index)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		command(t, dir, "config", "core.trustctime", "false")
		made := checkpoint(t, dir, "s")
		if got := command(t, dir, "cat-file", "-p", made.Commit+":a"); got != "two" {
			t.Fatalf("it holds %q", got)
		}
		remove(t, file)
	}
}

func TestCheckpointWithSHA256AndInAWorktree(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "long")
	command(t, "/", "init", "-q", "--object-format=sha256", dir)
	write(t, filepath.Join(dir, "a"), "a")
	f := look(t, dir, git.Question{})
	allKnown(t, f)
	made := kept(t, dir, map[string]string{"a": "a"})
	if len(made.Commit) != 64 {
		t.Errorf("%+v", made)
	}
	command(t, dir, "add", ".")
	command(t, dir, "commit", "-q", "-m", "one")
	other := filepath.Join(t.TempDir(), "other")
	command(t, dir, "worktree", "add", "-q", other)
	write(t, filepath.Join(other, "b"), "b")
	made, err := tree(t, other).Checkpoint(t.Context(), git.Wish{Session: "other"})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, dir, "refs/hitchpost/other/1", map[string]string{"a": "a", "b": "b"})
	if d := look(t, dir, git.Question{Base: made.Tree}).FromBase; d.Files != 1 || !d.Unknown.Known() {
		t.Errorf("%+v", d)
	}
}

func TestCheckpointInTheMiddleOfAMerge(t *testing.T) {
	t.Parallel()
	dir := conflicting(t)
	fails(t, dir, "merge", "other")
	before := command(t, dir, "ls-files", "-u")
	made := checkpoint(t, dir, "s")
	if got := command(t, dir, "cat-file", "-p", made.Commit+":file"); !strings.HasPrefix(got, "<<<<<<< HEAD") {
		t.Error(got)
	}
	made, err := tree(t, dir).Checkpoint(t.Context(), git.Wish{Session: "big", Limits: git.Limits{File: 1}})
	if err != nil || made.LeftOut != 1 {
		t.Fatalf("%+v, %v", made, err)
	}
	holds(t, dir, made.Commit, map[string]string{"file": "main2\n"})
	if after := command(t, dir, "ls-files", "-u"); after != before {
		t.Errorf("%s, before %s", after, before)
	}
	if look(t, dir, git.Question{}).Unfinished.Operation != git.Merge {
		t.Error("the merge is no more")
	}
}

// A file that git cannot take is left out by itself, among many that it can.
func TestCheckpointLeavesOutWhatGitCannotTake(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	want := map[string]string{".gitattributes": "*.utf working-tree-encoding=UTF-16\n"}
	for i := range 40 {
		want[fmt.Sprintf("%02d", i)] = "x"
	}
	for name, text := range want {
		write(t, filepath.Join(dir, name), text)
	}
	write(t, filepath.Join(dir, "20.utf"), "odd")
	write(t, filepath.Join(dir, "30.utf"), "odd")
	made := kept(t, dir, want)
	if made.LeftOut != 2 || made.Left[0] != (git.Left{Path: "20.utf", Why: "git cannot take it"}) {
		t.Errorf("%+v", made.Left)
	}
}

// No filter is run, neither of the repository nor of git-lfs: files are taken as they are, and that is said.
func TestCheckpointRunsNoFilter(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	proof := filepath.Join(t.TempDir(), "ran")
	for _, name := range []string{"clean", "smudge", "process"} {
		command(t, dir, "config", "filter.evil.with.dots."+name, "touch "+proof+"; cat")
	}
	command(t, dir, "config", "filter.evil.with.dots.required", "true")
	write(t, filepath.Join(dir, ".gitattributes"), "*.f filter=evil.with.dots\n*.crlf text eol=crlf\n")
	write(t, filepath.Join(dir, "a.f"), "a")
	write(t, filepath.Join(dir, "b.crlf"), "1\r\n2\r\n")
	made := kept(t, dir, map[string]string{".gitattributes": "*.f filter=evil.with.dots\n*.crlf text eol=crlf\n", "a.f": "a", "b.crlf": "1\n2\n"})
	names(t, "raw", made.Raw, "a.f")
	command(t, dir, "-c", "filter.evil.with.dots.process=", "-c", "filter.evil.with.dots.clean=cat",
		"-c", "filter.evil.with.dots.required=false", "add", ".")
	write(t, filepath.Join(dir, "a.f"), "b")
	remove(t, filepath.Join(dir, "b.crlf"))
	f := look(t, dir, git.Question{Base: made.Tree})
	allKnown(t, f)
	if f.FromBase.Files != 2 || f.Status.Changed.Count != 2 || !slices.Contains(f.Filters, "evil.with.dots") {
		t.Errorf("%+v", f)
	}
	if _, err := tree(t, dir).Compare(t.Context(), made.Tree, "", 1000); err != nil {
		t.Error(err)
	}
	absent(t, proof)
}

// A repository that would have its files looked for elsewhere gets those beside it.
func TestCheckpointHoldsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, filepath.Join(home, "secret"), "s")
	dir := filepath.Join(home, "api")
	command(t, "/", "init", "-q", dir)
	write(t, filepath.Join(dir, "a"), "a")
	for _, elsewhere := range []string{home, "../..", "/"} {
		command(t, dir, "config", "core.worktree", elsewhere)
		f := look(t, dir, git.Question{})
		names(t, "untracked", f.Untracked, "a")
		kept(t, dir, map[string]string{"a": "a"})
	}
}

// A tree that holds the place for temporary files does not get ours.
func TestCheckpointLeavesOutItsOwnFiles(t *testing.T) {
	dir := repository(t)
	write(t, filepath.Join(dir, "tmp/a"), "a")
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	kept(t, dir, map[string]string{"tmp/a": "a"})
	if found, _ := filepath.Glob(filepath.Join(dir, "tmp/*")); len(found) != 1 {
		t.Errorf("left behind: %q", found)
	}
}

// Files that come and go meanwhile do not make it fail.
func TestCheckpointWhileFilesChange(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			path := filepath.Join(dir, fmt.Sprintf("folder %d/%d", i%7, i%50))
			_ = os.MkdirAll(filepath.Dir(path), 0o700)
			_ = os.WriteFile(path, []byte(strings.Repeat("x", i%5000)), 0o600)
			_ = os.RemoveAll(filepath.Join(dir, fmt.Sprintf("folder %d", (i+3)%7)))
		}
	}()
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		checkpoint(t, dir, "s")
		allKnown(t, look(t, dir, git.Question{}))
	}
	close(stop)
	<-done
}
