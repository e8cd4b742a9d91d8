package runtime

import (
	"context"
	"fmt"
	"strings"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/git"
	"github.com/hitchpost/hitchpost/runtime/host"
	"github.com/hitchpost/hitchpost/store"
)

// RemoveWorktree removes the worktree that was made for a session which has ended, and leaves its branch and its
// checkpoints. Where something would be lost, or somebody works there, it is a ConflictError that names it, and nothing
// is removed; see Error.InTheWay. Ignored files go, and are named.
func (s *Service) RemoveWorktree(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.RemovedWorktree, error) {
	session, err := s.toDrive(ctx, a, ref)
	if err != nil {
		return hitchpost.RemovedWorktree{}, err
	}
	switch {
	case session.Worktree == "":
		err := hitchpost.Errorf(hitchpost.NotFoundError, "no worktree was made for %s", session.Handle)
		return hitchpost.RemovedWorktree{}, err.For("worktree").Hinted("list the worktrees")
	case !session.State.Ended():
		return hitchpost.RemovedWorktree{}, hitchpost.Errorf(hitchpost.ConflictError, "%s is %s", session.Handle, session.State).
			Hinted("stop it first: it works in that worktree")
	}
	release, err := s.claims.take(ctx, session.Worktree)
	if err != nil {
		return hitchpost.RemovedWorktree{}, err
	}
	defer release()
	if err := s.deserted(ctx, session); err != nil {
		return hitchpost.RemovedWorktree{}, err
	}
	tree, err := s.treeBeside(ctx, session)
	if err != nil {
		return hitchpost.RemovedWorktree{}, err
	}
	removal, err := tree.RemoveWorktree(ctx, session.Worktree, false)
	switch {
	case err != nil:
		return hitchpost.RemovedWorktree{}, concerning("worktree", err)
	case len(removal.InTheWay) > 0:
		return hitchpost.RemovedWorktree{}, inTheWay(session, removal.InTheWay)
	}
	w := hitchpost.Worktree{Session: session, Path: session.Worktree, Of: session.WorktreeOf, Branch: removal.Worktree.Branch}
	gone := hitchpost.RemovedWorktree{Worktree: w, Ignored: asNames(removal.Ignored)}
	reason := "its branch is still there"
	if gone.Branch != "" {
		reason = "its branch " + gone.Branch + " is still there"
	}
	s.tell(ctx, session, store.EventWorktreeGone, a, reason)
	return gone, nil
}

// tell appends an event of what was done. It is done whether or not that can be written down.
func (s *Service) tell(ctx context.Context, session hitchpost.Session, kind string, a hitchpost.Actor, reason string) {
	_, err := s.Store.AppendEvent(ctx, hitchpost.Event{SessionID: session.ID, Kind: kind}, as(a, hitchpost.FromPerson, reason))
	if err != nil {
		s.Log.Warn("event not kept", "session", session.ID, "kind", kind, "err", err)
	}
}

// deserted is nil where nobody works in a session's worktree.
func (s *Service) deserted(ctx context.Context, session hitchpost.Session) error {
	sessions, _, _ := s.board.all()
	found, err := ask(ctx, s.procs, func() ([]host.Resident, error) {
		tops := treeTops{}
		tree := tops.of(s.background, session.Worktree)
		if tree == "" {
			return nil, nil // it is gone already
		}
		for _, other := range sessions {
			if other.Node == s.Node.Name && !other.State.Ended() && tops.of(s.background, other.Cwd) == tree {
				return nil, hitchpost.Errorf(hitchpost.ConflictError, "session %s works in the worktree of %s", other.Handle,
					session.Handle).Hinted("stop %s first", other.Handle)
			}
		}
		limited, cancel := context.WithTimeout(s.background, callLimit)
		defer cancel()
		there, _, err := host.InDir(limited, tree)
		return there, err
	})
	switch {
	case hitchpost.KindOf(err) == hitchpost.ConflictError:
		return err
	case err != nil:
		return hitchpost.Errorf(hitchpost.UnavailableError, "nobody knows what works in the worktree of %s: %w", session.Handle,
			err).Hinted("try again")
	case len(found) > 0:
		there := make([]hitchpost.OtherProcess, 0, len(found))
		for _, r := range found {
			there = append(there, other(r))
		}
		return hitchpost.Errorf(hitchpost.ConflictError, "the worktree of %s is in use: %s", session.Handle,
			hitchpost.NameProcesses(there)).Hinted("end what works there first")
	}
	return nil
}

// treeBeside is a tree of the repository that a session's worktree is of, and not that worktree: a worktree cannot be
// removed from within.
func (s *Service) treeBeside(ctx context.Context, session hitchpost.Session) (*git.Tree, error) {
	tree, first := s.openTree(ctx, session.WorktreeOf)
	if first == nil {
		return tree, nil
	}
	within, err := s.openTree(ctx, session.Worktree) // the tree that it was made from is gone; there may be another
	if err != nil {
		return nil, first
	}
	list, err := within.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range list {
		if w.Bare || w.Path == within.Top {
			continue
		}
		if tree, err := s.openTree(ctx, w.Path); err == nil {
			return tree, nil
		}
	}
	return nil, first
}

// inTheWay is the error for a worktree with which something would be lost.
func inTheWay(session hitchpost.Session, list []git.Obstacle) error {
	words := make([]string, 0, len(list))
	e := &hitchpost.Error{Kind: hitchpost.ConflictError}
	for _, o := range list {
		words = append(words, obstacle(o))
		e.InTheWay = append(e.InTheWay, hitchpost.Obstacle{What: string(o.What), Count: o.Count, First: o.First,
			Unknown: asUnknown(o.Unknown).String()})
	}
	e.Message = "the worktree of " + session.Handle + " holds what would be lost: " + strings.Join(words, ", ")
	return e.Hinted("commit and push what is of use, and remove the rest")
}

// obstacleNamed is how many names of an obstacle a message has.
const obstacleNamed = 3

// obstacle tells people of one.
func obstacle(o git.Obstacle) string {
	what := map[git.Blocks]string{
		git.BlockedConflicts: "in conflict", git.BlockedStaged: "staged", git.BlockedChanged: "changed",
		git.BlockedUntracked: "untracked", git.BlockedUnpushed: "on no remote and no other branch", git.BlockedStashed: "stashed",
		git.BlockedSubmodules: "submodules", git.BlockedLocked: "locked", git.BlockedUnfinished: "unfinished",
	}[o.What]
	if !o.Unknown.Known() {
		return fmt.Sprintf("nobody knows whether anything is %s (%s)", what, o.Unknown.Reason)
	}
	text := what
	if o.Count > 0 {
		text = fmt.Sprintf("%d %s", o.Count, what)
	}
	var names []string
	for i, name := range o.First {
		if i == obstacleNamed {
			names = append(names, "…")
			break
		}
		names = append(names, hitchpost.OneLine(strings.ToValidUTF8(name, "\uFFFD")))
	}
	if len(names) > 0 {
		text += " (" + strings.Join(names, ", ") + ")"
	}
	return text
}
