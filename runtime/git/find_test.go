package git_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/hitchpost/hitchpost/runtime/git"
)

// command runs the real git with an identity and a configuration of the test's own.
func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := program(dir, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func program(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	return cmd
}

// repository is a new one with a commit on branch main, in a directory called api.
func repository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "api")
	command(t, "/", "init", "-q", "-b", "main", dir)
	command(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
	return dir
}

func mkdir(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, dir string) git.Head {
	t.Helper()
	h, err := git.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func check(t *testing.T, dir, repo, branch string) {
	t.Helper()
	if got := find(t, dir); got != (git.Head{Repo: repo, Branch: branch}) {
		t.Errorf("%s: %q at %q, want %q at %q", dir, got.Repo, got.Branch, repo, branch)
	}
}

func TestFindInWorkingTrees(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	check(t, dir, "api", "main")
	check(t, mkdir(t, filepath.Join(dir, "a/b/c")), "api", "main")
	check(t, filepath.Join(dir, ".git/hooks"), "api", "main")
	command(t, dir, "switch", "-q", "-c", "feature/ünï-1")
	check(t, dir, "api", "feature/ünï-1")
	commit := command(t, dir, "rev-parse", "HEAD")
	command(t, dir, "switch", "-q", "--detach")
	check(t, dir, "api", commit[:7])
	command(t, dir, "switch", "-q", "--orphan", "unborn")
	check(t, dir, "api", "unborn")

	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(dir, "a/b"), link); err != nil {
		t.Fatal(err)
	}
	check(t, link, "api", "unborn")
}

func TestFindInAnEmptyRepository(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	command(t, "/", "init", "-q", "-b", "trunk", dir)
	check(t, dir, "new", "trunk")
}

func TestFindInWorktreesAndSubmodules(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	other := filepath.Join(t.TempDir(), "api-fix")
	command(t, dir, "worktree", "add", "-q", "-b", "fix", other)
	check(t, mkdir(t, filepath.Join(other, "sub")), "api-fix", "fix")
	check(t, dir, "api", "main")

	outer := repository(t)
	command(t, outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", dir, "parts/inner")
	command(t, filepath.Join(outer, "parts/inner"), "switch", "-q", "-c", "patch")
	check(t, filepath.Join(outer, "parts/inner"), "inner", "patch")
	check(t, filepath.Join(outer, "parts"), "api", "main")
}

func TestFindOutsideOfRepositories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	check(t, dir, "", "")
	check(t, "/", "", "")
	check(t, filepath.Join(dir, "gone"), "", "")
	write(t, filepath.Join(dir, "file"), "")
	check(t, filepath.Join(dir, "file"), "", "")
}

// What is not a repository is passed over, and the one around it is found.
func TestFindPassesOverWhatIsBroken(t *testing.T) {
	t.Parallel()
	outer := repository(t)
	pipe := filepath.Join(mkdir(t, filepath.Join(outer, "pipe/.git")), "HEAD")
	device := filepath.Join(mkdir(t, filepath.Join(outer, "device/.git")), "HEAD")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink("/dev/zero", device)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "words": "hello", "hash": strings.Repeat("a", 41), "nohash": strings.Repeat("z", 40), "ref": "ref: ",
		"outside": "ref: ../../etc", "long": "ref: refs/heads/" + strings.Repeat("x", 1<<20),
	} {
		write(t, filepath.Join(outer, name, ".git/HEAD"), text)
	}
	for name, text := range map[string]string{
		"f-empty": "", "f-words": "hello", "f-gone": "gitdir: /no/such/place", "f-none": "gitdir: \n",
		"f-self": "gitdir: .git", "f-nul": "gitdir: a\x00b",
	} {
		write(t, filepath.Join(outer, name, ".git"), text)
	}
	mkdir(t, filepath.Join(outer, "bare/.git"))
	entries, err := os.ReadDir(outer)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		check(t, filepath.Join(outer, e.Name()), "api", "main")
	}
}

func TestNamesComeBackClean(t *testing.T) {
	t.Parallel()
	dir := mkdir(t, filepath.Join(t.TempDir(), "a\x1b[31m\u202eb"))
	write(t, filepath.Join(dir, ".git/HEAD"), "ref: refs/heads/x\x1b]0;pwned\x07\xff\x00\u009b"+strings.Repeat("é", 300)+"\n")
	got := find(t, dir)
	if got.Repo != "a\ufffd[31m\ufffdb" || !strings.HasPrefix(got.Branch, "x\ufffd]0;pwned\ufffd\ufffd\ufffd\ufffdé") {
		t.Errorf("%q", got)
	}
	if n := len([]rune(got.Branch)); n != 200 {
		t.Errorf("%d characters", n)
	}
	for _, r := range got.Repo + got.Branch {
		if !unicode.IsPrint(r) {
			t.Errorf("%U", r)
		}
	}
}

func TestOldAndOddFormsOfHead(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	head := filepath.Join(dir, ".git/HEAD")
	for text, branch := range map[string]string{
		"ref: refs/heads/a\r\n": "a", "ref:refs/heads/b": "b", "ref: \trefs/heads/c  \n": "c",
		"ref: refs/remotes/o/d\n": "remotes/o/d",
		strings.Repeat("ab", 32):  "abababa", strings.Repeat("0F", 20) + "\n": "0F0F0F0",
	} {
		write(t, head, text)
		check(t, dir, "api", branch)
	}
	if err := errors.Join(os.Remove(head), os.Symlink("refs/heads/linked", head)); err != nil {
		t.Fatal(err)
	}
	check(t, dir, "api", "linked")
}

func TestFindGivesUpInTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if h, err := git.Find(ctx, repository(t)); !errors.Is(err, context.Canceled) || h != (git.Head{}) {
		t.Errorf("%v, %v", h, err)
	}
}
