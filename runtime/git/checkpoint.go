package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hitchpost/hitchpost"
)

// Checkpoint is a hidden reference to a commit that holds the files of a working tree as they were.
type Checkpoint struct {
	Session string
	N       int // counts up within a session
	At      time.Time
	Message string // UTF-8, up to 1,000 bytes; not fit to be shown as it is
	Commit  string
	Tree    string
	Head    string // commit that was checked out; empty where there was none
	Files   int    // differ from the checkpoint before, or from Head where there was none before
	LeftOut int    // files that were left out
}

// Made is what came of a wish for a checkpoint.
type Made struct {
	Checkpoint
	New  bool   // false: the files are as in the newest checkpoint there was, which is returned
	Left []Left // the first of the files that were left out
	// Raw are changed files that pass through a filter, such as those of git-lfs, and were taken in as they are in the
	// tree: no filter is run.
	Raw Names
}

// Wish is what a checkpoint should be of.
type Wish struct {
	Session string // its id: lower case letters, digits and -
	Message string
	Now     time.Time // zero: now
	Limits  Limits
}

const (
	// refs is where checkpoints are kept.
	refs = "refs/hitchpost/"
	// messageLimit bounds a checkpoint's message, in bytes.
	messageLimit = 1000
	// tries is how often a number is taken anew that somebody else has taken first.
	tries = 8
	// checkpointLimit is how long a checkpoint may take in all.
	checkpointLimit = 3 * time.Minute
)

// Checkpoint keeps all files that are tracked or not ignored as they are now, as refs/hitchpost/SESSION/N. It touches
// neither files, index, HEAD, stash nor the reference log, and runs no hook and no filter. Where nothing differs from
// the session's newest checkpoint, none is made. Worktrees of a repository share their references; the session's id
// keeps them apart.
//
// A submodule is kept as the commit that is checked out in it; a repository that is none of the submodules is left out,
// and so is what Limits say. The error is a *hitchpost.Error; where there is one, there is no new checkpoint, though
// objects that nothing leads to may be left, which git gc takes away in time. Two at once make two numbers, or one
// where they find the same.
func (t *Tree) Checkpoint(ctx context.Context, w Wish) (Made, error) {
	if !sessionName(w.Session) {
		return Made{}, hitchpost.Errorf(hitchpost.UsageError, "%q is no id of a session", w.Session)
	}
	if w.Now.IsZero() {
		w.Now = time.Now()
	}
	ctx, cancel := context.WithTimeout(ctx, checkpointLimit)
	defer cancel()
	made, err := t.checkpoint(ctx, w)
	if err != nil {
		return Made{}, t.worded("make a checkpoint", err)
	}
	return made, nil
}

func (t *Tree) checkpoint(ctx context.Context, w Wish) (Made, error) {
	at, err := t.newScratch(false)
	if err != nil {
		return Made{}, err
	}
	defer at.remove()
	head, err := t.headCommit(ctx)
	if err != nil {
		return Made{}, err
	}
	now, err := t.snapshot(ctx, at, w.Limits)
	if err != nil {
		return Made{}, err
	}
	made := Made{Left: now.left, Raw: now.raw}
	for range tries {
		all, err := t.checkpoints(ctx, w.Session)
		if err != nil {
			return Made{}, err
		}
		made.Checkpoint = Checkpoint{Session: w.Session, N: 1, At: w.Now.UTC().Truncate(time.Second), Message: message(w.Message),
			Tree: now.tree, Head: head.Hash, LeftOut: now.count}
		before := head.Hash
		if len(all) > 0 {
			last := all[len(all)-1]
			if last.Tree == now.tree {
				made.Checkpoint = last
				return made, nil
			}
			made.N, before = last.N+1, last.Tree
		}
		if made.Files, err = t.countChanged(ctx, at, before, now.tree); err != nil {
			return Made{}, err
		}
		if made.Commit, err = t.commit(ctx, made.Checkpoint); err != nil {
			return Made{}, err
		}
		_, err = t.run(ctx, call{off: durably()}, "update-ref", made.ref(), made.Commit, "")
		if err == nil {
			made.New = true
			return made, nil
		}
		if !taken(err) {
			return Made{}, err
		}
	}
	return Made{}, hitchpost.Errorf(hitchpost.UnavailableError, "others keep making checkpoints of this session").
		Hinted("try again")
}

func (c Checkpoint) ref() string { return refs + c.Session + "/" + strconv.Itoa(c.N) }

// taken reports whether a reference was not made because there is one, or one is about to be made.
func taken(err error) bool {
	said := unknown(err).Detail
	return strings.Contains(said, "reference already exists") || strings.Contains(said, ".lock': File exists")
}

// sessionName reports whether an id can be part of a reference as it is.
func sessionName(id string) bool {
	return id != "" && len(id) <= 64 && id[0] != '-' && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// countChanged is how many files differ between two trees; before is empty for a tree without files.
func (t *Tree) countChanged(ctx context.Context, at *scratch, before, after string) (int, error) {
	if before == "" {
		before = t.emptyTree()
	}
	n := 0
	_, err := t.run(ctx, call{env: at.env, limit: makeLimit, each: func(string) { n++ }},
		append(append([]string{"diff-tree", "-r", "-z", "--name-only"}, plain()...), before, after, "--")...)
	return n, err
}

// message is what is kept of a message: git would read what is not UTF-8 as if it were Latin-1.
func message(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), messageLimit)], "")
	if text = strings.TrimSpace(strings.ReplaceAll(text, "\x00", "")); text == "" {
		return "checkpoint"
	}
	return text
}

// What is known of a checkpoint beside its files stands at the end of its message.
const (
	filesKey   = "Hitchpost-Files: "
	leftOutKey = "Hitchpost-Left-Out: "
)

// commit makes the commit of a checkpoint. Who and when are the checkpoint's own, whatever is configured.
func (t *Tree) commit(ctx context.Context, c Checkpoint) (string, error) {
	args := []string{"commit-tree", "--no-gpg-sign", c.Tree}
	if c.Head != "" {
		args = append(args, "-p", c.Head)
	}
	at := fmt.Sprintf("@%d +0000", c.At.Unix())
	env := []string{"GIT_AUTHOR_NAME=Hitchpost", "GIT_AUTHOR_EMAIL=hitchpost@localhost", "GIT_AUTHOR_DATE=" + at,
		"GIT_COMMITTER_NAME=Hitchpost", "GIT_COMMITTER_EMAIL=hitchpost@localhost", "GIT_COMMITTER_DATE=" + at}
	text := fmt.Sprintf("%s\n\n%s%d\n%s%d\n", c.Message, filesKey, c.Files, leftOutKey, c.LeftOut)
	out, err := t.run(ctx, call{env: env, off: durably(), stdin: strings.NewReader(text)}, args...)
	return strings.TrimSuffix(out.text, "\n"), err
}
