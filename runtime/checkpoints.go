package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/git"
	"github.com/hitchpost/hitchpost/store"
)

const (
	// messageLimit is the longest message of a checkpoint, in bytes.
	messageLimit = 1000
	// patchLimit is the longest diff that is handed out, in bytes.
	patchLimit = 4 << 20
)

// Checkpoint keeps the files of a session's working tree as they are, under a message that may be empty. Where nothing
// differs from the newest checkpoint, that is the answer and none is made.
func (s *Service) Checkpoint(ctx context.Context, a hitchpost.Actor, ref, message string) (hitchpost.MadeCheckpoint, error) {
	session, err := s.toDrive(ctx, a, ref)
	if err != nil {
		return hitchpost.MadeCheckpoint{}, err
	}
	if err := checkMessage(message); err != nil {
		return hitchpost.MadeCheckpoint{}, err
	}
	tree, err := s.openTree(ctx, session.Cwd)
	if err != nil {
		return hitchpost.MadeCheckpoint{}, err
	}
	got, err := tree.Checkpoint(ctx, git.Wish{Session: session.ID, Message: message})
	if err != nil {
		return hitchpost.MadeCheckpoint{}, err
	}
	made := hitchpost.MadeCheckpoint{Checkpoint: asCheckpoint(got.Checkpoint), New: got.New}
	for _, l := range got.Left {
		made.Left = append(made.Left, hitchpost.LeftOutFile(l))
	}
	if made.New {
		s.tell(ctx, session, store.EventCheckpoint, a, toldOf(got.Checkpoint))
	}
	return made, nil
}

// toldOf is what an event says of a checkpoint.
func toldOf(c git.Checkpoint) string {
	text := fmt.Sprintf("checkpoint %d, files: %d", c.N, c.Files)
	if c.LeftOut > 0 {
		text += fmt.Sprintf(", left out: %d", c.LeftOut)
	}
	return text
}

func checkMessage(text string) error {
	bad := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	if len(text) <= messageLimit && utf8.ValidString(text) && !strings.ContainsFunc(text, bad) {
		return nil
	}
	return hitchpost.Errorf(hitchpost.UsageError, "a message is UTF-8 text of up to %d bytes without control characters",
		messageLimit).For("message").Hinted("give a shorter or a plainer one")
}

func asCheckpoint(c git.Checkpoint) hitchpost.Checkpoint {
	return hitchpost.Checkpoint{N: c.N, At: c.At, Message: c.Message, Commit: c.Commit, Head: c.Head, Files: c.Files,
		LeftOut: c.LeftOut}
}

// Checkpoints lists those of a session, oldest first.
func (s *Service) Checkpoints(ctx context.Context, a hitchpost.Actor, ref string) ([]hitchpost.Checkpoint, error) {
	session, tree, err := s.toLookBack(ctx, a, ref)
	if err != nil {
		return nil, err
	}
	list, err := tree.Checkpoints(ctx, session.ID)
	if err != nil {
		return nil, err
	}
	out := make([]hitchpost.Checkpoint, 0, len(list))
	for _, c := range list {
		out = append(out, asCheckpoint(c))
	}
	return out, nil
}

// toLookBack finds a session and a tree of the repository that has its checkpoints. They outlive a worktree.
func (s *Service) toLookBack(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.Session, *git.Tree, error) {
	session, err := s.Show(ctx, a, ref)
	if err == nil {
		err = s.here(session)
	}
	if err != nil {
		return session, nil, err
	}
	tree, err := s.openTree(ctx, session.Cwd)
	if hitchpost.KindOf(err) == hitchpost.NotFoundError && session.WorktreeOf != "" {
		tree, err = s.openTree(ctx, session.WorktreeOf)
	}
	return session, tree, err
}

// CheckpointDiff is what has changed in a session's working tree since its checkpoint n, untracked files included. It
// changes nothing.
func (s *Service) CheckpointDiff(ctx context.Context, a hitchpost.Actor, ref string, n int) (hitchpost.CheckpointDiff, error) {
	session, err := s.Show(ctx, a, ref)
	if err == nil {
		err = s.here(session)
	}
	if err != nil {
		return hitchpost.CheckpointDiff{}, err
	}
	tree, err := s.openTree(ctx, session.Cwd)
	if err != nil {
		return hitchpost.CheckpointDiff{}, err
	}
	list, err := tree.Checkpoints(ctx, session.ID)
	if err != nil {
		return hitchpost.CheckpointDiff{}, err
	}
	i := slices.IndexFunc(list, func(c git.Checkpoint) bool { return c.N == n })
	if i < 0 {
		err := hitchpost.Errorf(hitchpost.NotFoundError, "%s has no checkpoint %d", session.Handle, n)
		return hitchpost.CheckpointDiff{}, err.For("checkpoint").Hinted("list them")
	}
	patch, err := tree.Compare(ctx, list[i].Commit, "", patchLimit)
	return hitchpost.CheckpointDiff{Checkpoint: asCheckpoint(list[i]), Stat: asDiff(patch.Stat), Patch: patch.Text,
		Cut: patch.Cut}, err
}

// RestoreCheckpoint makes a branch of a session's checkpoint n: files, index and what is checked out stay as they are. An
// empty branch stands for one that is named after session and checkpoint. A branch that there is already is a
// ConflictError.
func (s *Service) RestoreCheckpoint(
	ctx context.Context, a hitchpost.Actor, ref string, n int, branch string,
) (hitchpost.RestoredCheckpoint, error) {
	if err := a.Require(hitchpost.Drive); err != nil {
		return hitchpost.RestoredCheckpoint{}, err
	}
	session, tree, err := s.toLookBack(ctx, a, ref)
	if err != nil {
		return hitchpost.RestoredCheckpoint{}, err
	}
	if branch == "" {
		branch = fmt.Sprintf("%s-checkpoint-%d", session.Handle, n)
	}
	c, err := tree.Restore(ctx, session.ID, n, branch)
	switch hitchpost.KindOf(err) {
	case "":
	case hitchpost.NotFoundError:
		return hitchpost.RestoredCheckpoint{}, concerning("checkpoint", err)
	default:
		return hitchpost.RestoredCheckpoint{}, concerning("branch", err)
	}
	s.tell(ctx, session, store.EventRestoredTo, a, fmt.Sprintf("checkpoint %d is on branch %s", n, branch))
	return hitchpost.RestoredCheckpoint{Checkpoint: asCheckpoint(c), Branch: branch}, nil
}
