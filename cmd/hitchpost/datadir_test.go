package main

import (
	"os/exec"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// The umask of root is often one that keeps others out of what root makes. PostgreSQL, which does not run as root, must
// reach its files all the same when the directories on the way to them are ours.
func TestStrictUmaskKeepsPostgreSQLIn(t *testing.T) {
	t.Parallel()
	s := prepare(t)
	cmd := exec.Command("sh", "-c", `umask 077; exec "$@"`, "sh", built, "migrate", "--data-dir", s.path("new/deep/data"))
	cmd.Env = s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// One that was killed may leave the lock for a moment to a child that it was about to start, and doctor takes it to look.
func TestLockThatIsAboutToBeFreeIsWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := lockDataDir(t.Context(), dir)
	must(t, err)
	time.AfterFunc(100*time.Millisecond, func() { _ = first.Close() })
	second, err := lockDataDir(t.Context(), dir)
	must(t, err)
	defer second.Close()
	if _, err := lockDataDir(t.Context(), dir); hitchpost.KindOf(err) != hitchpost.ConflictError {
		t.Errorf("a third: %v", err)
	}
}
