package git_test

import (
	"testing"

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
