package git_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/git"
)

func fingerprint(t *testing.T, dir string) git.Print {
	t.Helper()
	p, err := git.Fingerprint(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFingerprintTellsOfChanges(t *testing.T) {
	t.Parallel()
	origin := repository(t)
	dir := filepath.Join(t.TempDir(), "clone")
	command(t, "/", "clone", "-q", origin, dir)
	if err := os.MkdirAll(filepath.Join(dir, ".git/folder"), 0o700); err != nil { // git never takes it away
		t.Fatal(err)
	}
	last := fingerprint(t, dir)
	changes := func(what string, f func()) {
		t.Helper()
		f()
		now := fingerprint(t, dir)
		if now == last {
			t.Errorf("%s is not seen", what)
		}
		if again := fingerprint(t, filepath.Join(dir, ".git/folder")); again != now {
			t.Errorf("after %s two looks differ", what)
		}
		last = now
	}
	git := func(args ...string) func() { return func() { command(t, dir, args...) } }
	changes("a new file at the top", func() { write(t, filepath.Join(dir, "new"), "") })
	changes("what is staged", git("add", "."))
	changes("a stash", git("stash", "-q"))
	changes("a dropped stash", git("stash", "drop", "-q"))
	changes("a branch", git("switch", "-q", "-c", "a/b/c"))
	changes("a commit", git("commit", "-q", "--allow-empty", "-m", "two"))
	changes("a soft reset", git("reset", "-q", "--soft", "HEAD~"))
	changes("a push", git("push", "-q", "-u", "origin", "a/b/c"))
	changes("an amended commit", git("commit", "-q", "--amend", "--allow-empty", "-m", "other"))
	changes("a forced push", git("push", "-q", "-f"))
	command(t, origin, "commit", "-q", "--allow-empty", "-m", "theirs")
	changes("a fetch", git("fetch", "-q"))
	changes("packed references", git("pack-refs", "--all"))
	changes("a bisection", git("bisect", "start"))
	changes("its end", git("bisect", "reset"))
	changes("a setting", git("config", "branch.main.remote", "x"))
	if err := os.WriteFile(filepath.Join(dir, ".git/MERGE_HEAD"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	changes("a merge", func() {})
}

func TestFingerprintOfWhatIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if p := fingerprint(t, dir); p != (git.Print{}) {
		t.Errorf("%x", p)
	}
	_, err := git.Fingerprint(t.Context(), filepath.Join(dir, "gone"))
	if hitchpost.KindOf(err) != hitchpost.NotFoundError {
		t.Error(err)
	}
	other := repository(t)
	if fingerprint(t, other) == (git.Print{}) || fingerprint(t, other) == fingerprint(t, repository(t)) {
		t.Error("two repositories have one fingerprint")
	}
}

// BenchmarkFingerprint200 is one look at 200 trees in which nothing changed: what a background refresh costs each time.
func BenchmarkFingerprint200(b *testing.B) {
	dirs := make([]string, 200)
	for i := range dirs {
		dirs[i] = filepath.Join(b.TempDir(), "api")
		initialise(b, dirs[i])
	}
	b.ResetTimer()
	began := used(b)
	for b.Loop() {
		for _, dir := range dirs {
			if _, err := git.Fingerprint(b.Context(), dir); err != nil {
				b.Fatal(err)
			}
		}
	}
	tell(b, began)
}

// used is the time on a processor that this process and those that it waited for have had.
func used(b *testing.B) time.Duration {
	b.Helper()
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// tell reports time on a processor, which other programs on the machine change less than time on a clock, and what
// share of one core it is when it is used every ten seconds.
func tell(b *testing.B, began time.Duration) {
	b.Helper()
	each := (used(b) - began).Seconds() / float64(b.N)
	b.ReportMetric(each*1000, "cpu-ms/op")
	b.ReportMetric(each*100/10, "%core/10s")
}

func initialise(b *testing.B, dir string) {
	b.Helper()
	for _, args := range [][]string{{"init", "-q", dir}, {"-C", dir, "commit", "-q", "--allow-empty", "-m", "one"}} {
		if out, err := program("/", args...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
}

// BenchmarkLook is all facts of a tree, small and of 100,000 files.
func BenchmarkLook(b *testing.B) {
	for _, files := range []int{100, 100_000} {
		dir := filepath.Join(b.TempDir(), "api")
		initialise(b, dir)
		for i := range files {
			path := filepath.Join(dir, fmt.Sprintf("%d/%d", i/1000, i))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(path), 0o600)); err != nil {
				b.Fatal(err)
			}
		}
		for _, args := range [][]string{{"add", "."}, {"-c", "gc.auto=0", "commit", "-q", "-m", "two"}} {
			if out, err := program(dir, args...).CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
		}
		opened, err := git.Open(b.Context(), dir)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("facts/%d", files), func(b *testing.B) {
			began, late := used(b), 0
			for b.Loop() {
				if f := git.Look(b.Context(), dir, git.Question{}); !f.Status.Unknown.Known() || !f.Untracked.Unknown.Known() {
					late++ // on a busy machine
				}
			}
			tell(b, began)
			b.ReportMetric(float64(late)/float64(b.N), "late/op")
		})
		b.Run(fmt.Sprintf("checkpoint/%d", files), func(b *testing.B) {
			began := used(b)
			for b.Loop() {
				if _, err := opened.Checkpoint(b.Context(), git.Wish{Session: "s"}); err != nil {
					b.Fatal(err)
				}
			}
			tell(b, began)
		})
	}
}
