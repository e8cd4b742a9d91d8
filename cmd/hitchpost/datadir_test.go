package main

import (
	"os/exec"
	"testing"
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
