package command_test

import (
	"context"

	"github.com/hitchpost/hitchpost"
)

func someCheckpoint() hitchpost.Checkpoint {
	return hitchpost.Checkpoint{N: 3, At: now.Add(-5400e9), Message: "before " + evil, Commit: hash, Head: hash, Files: 12, LeftOut: 3}
}

func (f *fake) Checkpoint(_ context.Context, _ hitchpost.Actor, ref, message string) (hitchpost.MadeCheckpoint, error) {
	f.note(ref, "checkpoint "+message)
	if f.unseen { // nothing has changed
		return hitchpost.MadeCheckpoint{Checkpoint: someCheckpoint()}, f.err
	}
	return hitchpost.MadeCheckpoint{Checkpoint: someCheckpoint(), New: true,
		Left: []hitchpost.LeftOutFile{{Path: evil, Why: "too big", Size: 1 << 40}, {Path: "vendor/x", Why: "another repository"}}}, f.err
}

func (f *fake) Checkpoints(_ context.Context, _ hitchpost.Actor, ref string) ([]hitchpost.Checkpoint, error) {
	f.note(ref, "checkpoints")
	first := hitchpost.Checkpoint{N: 1, At: now.Add(-72 * 3600e9), Message: "checkpoint", Commit: hash}
	if ref == "nothing" {
		return nil, f.err
	}
	return []hitchpost.Checkpoint{first, someCheckpoint()}, f.err
}

const somePatch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+\x1b[31mtwo\u202e\xff\r\n\tthree\n"

func (f *fake) CheckpointDiff(_ context.Context, _ hitchpost.Actor, ref string, n int) (hitchpost.CheckpointDiff, error) {
	f.note(ref, n)
	return hitchpost.CheckpointDiff{Checkpoint: someCheckpoint(), Patch: somePatch, Cut: n == 4,
		Stat: hitchpost.DiffStat{Files: 1, Insertions: 2, Deletions: 1, First: []hitchpost.FileStat{{Path: evil, Insertions: 2, Deletions: 1}}}}, f.err
}

func (f *fake) RestoreCheckpoint(
	_ context.Context, _ hitchpost.Actor, ref string, n int, branch string,
) (hitchpost.RestoredCheckpoint, error) {
	f.note(ref, []any{n, branch})
	if branch == "" {
		branch = ref + "-checkpoint-3"
	}
	return hitchpost.RestoredCheckpoint{Checkpoint: someCheckpoint(), Branch: branch}, f.err
}

func someWorktree(s hitchpost.Session) hitchpost.Worktree {
	return hitchpost.Worktree{Session: s, Path: "/data/worktrees/api-fix", Of: "/home/dev/src/api", Branch: "fix\x1b[1m"}
}

func (f *fake) Worktrees(context.Context, hitchpost.Actor) ([]hitchpost.Worktree, error) {
	var list []hitchpost.Worktree
	for _, s := range f.sessions {
		list = append(list, someWorktree(s))
	}
	return list, f.err
}

func (f *fake) RemoveWorktree(_ context.Context, _ hitchpost.Actor, ref string) (hitchpost.RemovedWorktree, error) {
	f.note(ref, "rm")
	s, err := f.one(ref)
	gone := hitchpost.RemovedWorktree{Worktree: someWorktree(s)}
	if s.Handle == "api" {
		gone.Ignored = hitchpost.NameList{Count: 2, First: []string{"node_modules/", evil}}
	}
	return gone, err
}
