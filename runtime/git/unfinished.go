package git

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Operation is something of several steps that git has begun and not ended.
type Operation string

// The operations. None is the zero value.
const (
	None       Operation = ""
	Merge      Operation = "merge"
	Rebase     Operation = "rebase"
	Am         Operation = "am" // patches from a mailbox
	CherryPick Operation = "cherry-pick"
	Revert     Operation = "revert"
	Bisect     Operation = "bisect"
)

// Unfinished is what git is in the middle of, read from files of its directory. In a repository whose references are in
// a table (reftable) a cherry-pick or revert of a single commit is not seen.
type Unfinished struct {
	Operation   Operation
	Step, Steps int    // of a rebase or am; zero where git does not tell
	Branch      string // that is being rebased, or from which bisect began; raw
	Bisecting   bool   // a bisect is under way, perhaps beneath another operation
}

func (t *Tree) unfinished() Unfinished {
	u := Unfinished{Bisecting: t.has("BISECT_LOG")}
	switch {
	case t.has("rebase-merge"):
		u.Operation, u.Branch = Rebase, t.branchIn("rebase-merge/head-name")
		u.Step, u.Steps = t.number("rebase-merge/msgnum"), t.number("rebase-merge/end")
	case t.has("rebase-apply"):
		u.Operation = Am
		if t.has("rebase-apply/rebasing") {
			u.Operation, u.Branch = Rebase, t.branchIn("rebase-apply/head-name")
		}
		u.Step, u.Steps = t.number("rebase-apply/next"), t.number("rebase-apply/last")
	case t.has("MERGE_HEAD"):
		u.Operation = Merge
	case t.has("CHERRY_PICK_HEAD"):
		u.Operation = CherryPick
	case t.has("REVERT_HEAD"):
		u.Operation = Revert
	case t.has("sequencer/todo"): // between two of several commits
		u.Operation = CherryPick
		if text, _ := regular(filepath.Join(t.GitDir, "sequencer/todo")); strings.HasPrefix(text, "revert") {
			u.Operation = Revert
		}
	case u.Bisecting:
		u.Operation, u.Branch = Bisect, t.branchIn("BISECT_START")
	}
	return u
}

func (t *Tree) has(name string) bool {
	_, err := os.Lstat(filepath.Join(t.GitDir, name))
	return err == nil
}

// number reads a small file that holds one. What is none, or cannot be right, is zero.
func (t *Tree) number(name string) int {
	text, _ := regular(filepath.Join(t.GitDir, name))
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n > 1e6 {
		return 0
	}
	return n
}

func (t *Tree) branchIn(name string) string {
	text, _ := regular(filepath.Join(t.GitDir, name))
	return strings.TrimPrefix(strings.TrimRight(text, "\r\n"), "refs/heads/")
}
