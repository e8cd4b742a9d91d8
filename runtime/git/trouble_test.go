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
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/git"
)

// why looks for facts where there are none, and fails the test where the reason is another.
func why(t *testing.T, dir string, want git.Reason) {
	t.Helper()
	if f := look(t, dir, git.Question{Base: strings.Repeat("1", 40), Since: time.Now()}); f.Place.Reason != want || f.Top != "" {
		t.Errorf("%s: %+v, want %q", dir, f, want)
	}
	if _, err := git.Open(t.Context(), dir); err == nil || hitchpost.KindOf(err) == "" {
		t.Errorf("%s: %v", dir, err)
	} else if e := new(hitchpost.Error); !errors.As(err, &e) || e.Hint == "" && want != git.NoDirectory {
		t.Errorf("%s: %v", dir, err)
	}
}

func TestFactsWhereThereAreNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	why(t, dir, git.NoRepository)
	why(t, filepath.Join(dir, "gone"), git.NoDirectory)
	write(t, filepath.Join(dir, "file"), "")
	why(t, filepath.Join(dir, "file"), git.NoDirectory)
	command(t, "/", "init", "-q", "--bare", filepath.Join(dir, "x.git"))
	why(t, filepath.Join(dir, "x.git"), git.Bare)
	why(t, filepath.Join(dir, "x.git/hooks"), git.Bare)
	for name, text := range map[string]string{"f-empty": "", "f-gone": "gitdir: /no/such/place", "f-self": "gitdir: .git",
		"f-long": strings.Repeat("x", 1<<20)} {
		write(t, filepath.Join(dir, name, ".git"), text)
		why(t, filepath.Join(dir, name), git.Broken)
	}
	for name, text := range map[string]string{"config": "[core\n", "HEAD": "nonsense",
		"config.worktree": "[core\n", "objects": ""} {
		broken := repository(t)
		path := filepath.Join(broken, ".git", name)
		command(t, broken, "config", "extensions.worktreeConfig", "true")
		if text == "" {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		} else {
			write(t, path, text)
		}
		why(t, broken, git.Broken)
	}
	newer, pipe := repository(t), repository(t)
	command(t, newer, "config", "core.repositoryFormatVersion", "99")
	why(t, newer, git.Broken)
	head := filepath.Join(pipe, ".git/HEAD")
	if err := errors.Join(os.Remove(head), syscall.Mkfifo(head, 0o600)); err != nil {
		t.Fatal(err)
	}
	why(t, pipe, git.Broken)
}

// What is broken of a repository does not keep the rest from being told.
func TestFactsOfAPartlyBrokenRepository(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, filepath.Join(dir, "a"), "a")
	write(t, filepath.Join(dir, ".git/index"), "nonsense")
	f := look(t, dir, git.Question{Since: time.Now().Add(-time.Hour)})
	if f.Status.Unknown.Reason != git.Broken || f.Status.Unknown.Detail == "" || !f.Place.Known() || f.Head.Subject != "one" ||
		f.Since.Count != 1 || f.Unpushed.Count != 1 {
		t.Errorf("%+v", f)
	}
	dir = repository(t)
	command(t, dir, "commit", "-q", "--allow-empty", "-m", "two")
	hash := command(t, dir, "rev-parse", "HEAD")
	remove(t, filepath.Join(dir, ".git/objects", hash[:2], hash[2:]))
	write(t, filepath.Join(dir, "a"), "a")
	f = look(t, dir, git.Question{Since: time.Now().Add(-time.Hour)})
	names(t, "untracked", f.Untracked, "a")
	if f.HeadKnown.Known() || f.Since.Unknown.Known() || f.Unpushed.Unknown.Known() || f.FromHead.Unknown.Known() {
		t.Errorf("%+v", f)
	}
	if _, err := tree(t, dir).Checkpoint(t.Context(), git.Wish{Session: "s"}); hitchpost.KindOf(err) != hitchpost.FailedError {
		t.Errorf("%v", err)
	}
	dir = repository(t)
	write(t, filepath.Join(dir, ".git/refs/heads/main"), "nonsense\n")
	if f := look(t, dir, git.Question{}); f.HeadKnown.Reason != git.Broken {
		t.Errorf("%+v", f)
	}
}

// Another account's repository is not looked into unless the person has said that it may be.
func TestFactsOfDubiousOwnership(t *testing.T) {
	found, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := repository(t)
	proof := filepath.Join(t.TempDir(), "ran")
	command(t, dir, "config", "core.fsmonitor", "touch "+proof)
	command(t, dir, "config", "filter.x.clean", "touch "+proof)
	if os.Geteuid() == 0 {
		owned := repository(t)
		for _, path := range []string{owned, filepath.Join(owned, ".git")} {
			if err := os.Chown(path, 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
		why(t, owned, git.Dubious)
	}
	standIn(t, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec "+found+` "$@"`) // git's own way to try this
	why(t, dir, git.Dubious)
	absent(t, proof)
}

func TestFactsWithoutGit(t *testing.T) {
	dir := repository(t)
	t.Setenv("PATH", t.TempDir())
	why(t, dir, git.NoGit)
	if p := fingerprint(t, dir); p == (git.Print{}) {
		t.Error("a fingerprint needs no git")
	}
}

// Whatever the repository would have run, at whichever word, is not, and so cannot hang anything either.
func TestNothingThatHangsIsRun(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	proof := filepath.Join(t.TempDir(), "ran")
	hang := filepath.Join(t.TempDir(), "hang")
	write(t, filepath.Join(dir, "a.x"), "a")
	write(t, filepath.Join(dir, ".gitattributes"), "* filter=evil diff=evil merge=evil\n")
	command(t, dir, "add", ".")
	command(t, dir, "commit", "-q", "-m", "two")
	command(t, dir, "update-ref", "refs/remotes/origin/x", "HEAD~")
	write(t, hang, "#!/bin/sh\necho \"$0 $*\" >> "+proof+"\nexec sleep 600\n")
	if err := os.Chmod(hang, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc", "fsmonitor-watchman"} {
		if err := os.Symlink(hang, filepath.Join(dir, ".git/hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "diff.external",
		"diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "merge.evil.driver",
		"gpg.program", "credential.helper", "hook.evil.command", "alias.status", "uploadpack.packObjectsHook",
		"core.alternateRefsCommand", "pager.log", "pager.diff-tree", "interactive.diffFilter"} {
		command(t, dir, "config", name, hang)
	}
	for name, value := range map[string]string{"log.showSignature": "true", "commit.gpgSign": "true", "hook.evil.event": "reference-transaction",
		"core.hooksPath": filepath.Dir(hang), "filter.evil.required": "true", "tag.gpgSign": "true", "submodule.recurse": "true"} {
		command(t, dir, "config", name, value)
	}
	write(t, filepath.Join(dir, "a.x"), "b")
	began := time.Now()
	made := checkpoint(t, dir, "s")
	write(t, filepath.Join(dir, "a.x"), "c")
	f := look(t, dir, git.Question{Base: made.Tree, Since: began})
	allKnown(t, f)
	if f.FromBase.Files != 1 || f.Status.Changed.Count != 1 || f.FromHead.Files != 1 || f.Unpushed.Count != 1 {
		t.Errorf("%+v", f)
	}
	opened := tree(t, dir)
	if p, err := opened.Compare(t.Context(), made.Tree, "", 1<<10); err != nil || !strings.Contains(p.Text, "+c") {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := opened.Restore(t.Context(), "s", 1, "back"); err != nil {
		t.Error(err)
	}
	if n, err := opened.Prune(t.Context(), git.Keep{Now: time.Now().Add(1000 * time.Hour)}); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	worktree := added(t, dir, "b")
	if r := removal(t, dir, worktree.Path); len(r.InTheWay) != 0 {
		t.Errorf("%+v", r)
	}
	absent(t, proof)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("took %s", took)
	}
}

// What cannot be switched off by its name keeps a repository from being looked into.
func TestFilterThatCannotBeNamed(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	command(t, dir, "config", "filter.x.clean", "cat")
	config, err := os.ReadFile(filepath.Join(dir, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".git/config"), strings.Replace(string(config), `"x"`, `"a=b"`, 1))
	why(t, dir, git.Failed)
}

// A file that this account may not read is left out, and said so. The superuser may read all.
func TestCheckpointLeavesOutWhatMayNotBeRead(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, filepath.Join(dir, "a"), "a")
	write(t, filepath.Join(dir, "closed"), "c")
	if err := os.Chmod(filepath.Join(dir, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		kept(t, dir, map[string]string{"a": "a", "closed": "c"})
		return
	}
	made := kept(t, dir, map[string]string{"a": "a"})
	if made.LeftOut != 1 || made.Left[0] != (git.Left{Path: "closed", Why: "may not be read"}) {
		t.Errorf("%+v", made)
	}
}

// What is not here is not fetched, whichever way the repository names to do so.
func TestNothingIsFetched(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	proof := filepath.Join(t.TempDir(), "ran")
	write(t, filepath.Join(dir, "a"), "a")
	command(t, dir, "add", ".")
	command(t, dir, "commit", "-q", "-m", "two")
	hash := command(t, dir, "rev-parse", "HEAD:a")
	remove(t, filepath.Join(dir, ".git/objects", hash[:2], hash[2:]))
	for name, value := range map[string]string{"core.repositoryFormatVersion": "1", "extensions.partialClone": "origin",
		"remote.origin.promisor": "true", "remote.origin.url": "ext::sh -c touch% " + proof, "protocol.ext.allow": "always",
		"remote.origin.partialclonefilter": "blob:none"} {
		command(t, dir, "config", name, value)
	}
	fails(t, dir, "cat-file", "-p", hash) // git by itself tries, and so the test would see it
	if _, err := os.Stat(proof); err != nil {
		t.Fatal("the test proves nothing: ", err)
	}
	remove(t, proof)
	write(t, filepath.Join(dir, "a"), "b")
	f := look(t, dir, git.Question{})
	if f.Status.Changed.Count != 1 || f.FromHead.Unknown.Known() {
		t.Errorf("%+v", f)
	}
	kept(t, dir, map[string]string{"a": "b"})
	absent(t, proof)
}

// A git that hangs at one word keeps no other part from being told, and leaves no process.
func TestFactsOfAGitThatHangs(t *testing.T) {
	found, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := repository(t)
	pids := filepath.Join(t.TempDir(), "pids")
	standIn(t, `case " $* " in *" status "*) sleep 600 & echo $! >> `+pids+`; wait;; esac; exec `+found+` "$@"`)
	began := time.Now()
	f := look(t, dir, git.Question{})
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("took %s", took)
	}
	if f.Status.Unknown.Reason != git.Deadline || !f.Untracked.Unknown.Known() || f.Head.Subject != "one" {
		t.Errorf("%+v", f)
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	gone := func(pid string) bool {
		state, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || strings.Contains(string(state), ") Z ")
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); !gone(strings.TrimSpace(string(text))); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s lives on", text)
		}
	}
}

func TestFactsForNobody(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f := git.Look(ctx, repository(t), git.Question{}); f.Place.Reason != git.Deadline {
		t.Errorf("%+v", f)
	}
}

// A full disk makes a checkpoint fail as a whole: nothing is left out for it, and no reference made.
func TestCheckpointOnAFullDisk(t *testing.T) {
	found, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := repository(t)
	for _, name := range []string{"a", "b", "c"} {
		write(t, filepath.Join(dir, name), name)
	}
	calls := filepath.Join(t.TempDir(), "calls")
	standIn(t, `case " $* " in *" update-index "*) echo x >> `+calls+
		`; echo "error: unable to write file: No space left on device" >&2; exit 128;; esac; exec `+found+` "$@"`)
	_, err = tree(t, dir).Checkpoint(t.Context(), git.Wish{Session: "s"})
	if hitchpost.KindOf(err) != hitchpost.FailedError || !strings.Contains(err.Error(), "No space left") {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(calls); err != nil || string(text) != "x\n" {
		t.Errorf("%q, %v", text, err)
	}
	if list, err := tree(t, dir).Checkpoints(t.Context(), "s"); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}
