package runtime

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/git"
)

// worktrees holds the worktrees that were made for sessions. They stay until somebody asks for their removal.
func (f folder) worktrees() string { return filepath.Join(f.root, "worktrees") }

// undoTime is how long it may take to take back a worktree.
const undoTime = time.Minute

// toWorktree moves a new session to a worktree of its own, where r asks for one, made from the repository of its
// directory; env is what its program is given. undo takes the worktree back, though not its branch, and does nothing
// where there is none.
func (s *Service) toWorktree(
	ctx context.Context, r hitchpost.StartRequest, session *hitchpost.Session, env []string,
) (undo func(), err error) {
	if !r.Worktree {
		if r.Branch != "" {
			return nil, hitchpost.Errorf(hitchpost.UsageError, "a branch is for a worktree").For("branch").
				Hinted("ask for a worktree too, or leave the branch out")
		}
		return func() {}, nil
	}
	tree, err := s.openTree(ctx, session.Cwd)
	if err != nil {
		return nil, concerning("cwd", err)
	}
	inside, err := ask(ctx, s.disk, func() (string, error) {
		real, err := filepath.EvalSymlinks(session.Cwd)
		if err != nil {
			return "", err
		}
		return filepath.Rel(tree.Top, real)
	})
	if err != nil {
		return nil, err
	}
	if err := s.beforeWorktree(ctx, *session, env); err != nil {
		return nil, err
	}
	branch := r.Branch
	if branch == "" { // the end of an id is random
		branch = hitchpost.Handle(session.Title) + "-" + session.ID[len(session.ID)-8:]
	}
	if err := os.MkdirAll(s.folder.worktrees(), 0o700); err != nil {
		return nil, s.notWritten("a worktree", err)
	}
	added, err := tree.AddWorktree(ctx, s.folder.worktrees(), branch)
	if err != nil {
		return nil, concerning("worktree", err)
	}
	undo = func() { s.dropWorktree(tree.Top, added.Path) }
	cwd, err := s.directory(ctx, filepath.Join(added.Path, inside))
	if err != nil {
		undo()
		return nil, hitchpost.Errorf(hitchpost.ConflictError, "directory %q is not on branch %s: %w", inside, branch, err).
			For("cwd").Hinted("commit it first, or name one above it")
	}
	session.Cwd, session.Worktree, session.WorktreeOf = cwd, added.Path, tree.Top
	return undo, nil
}

// beforeWorktree refuses what can be refused before a worktree is made: a tmux that does not answer, and a program that is
// not there, unless it may be there in the worktree.
func (s *Service) beforeWorktree(ctx context.Context, session hitchpost.Session, env []string) error {
	if session.Kind != hitchpost.Command || !strings.Contains(session.Args[0], "/") {
		if _, err := s.firstProgram(ctx, &session, env); err != nil {
			return err
		}
	}
	return s.Tmux.Ping(ctx)
}

// openTree is the working tree that holds a directory.
func (s *Service) openTree(ctx context.Context, dir string) (*git.Tree, error) {
	return ask(ctx, s.disk, func() (*git.Tree, error) { return git.Open(s.background, dir) })
}

// concerning names what of a request an error of git is about.
func concerning(field string, err error) error {
	var e *hitchpost.Error
	if errors.As(err, &e) && e.Field == "" {
		return e.For(field)
	}
	return err
}

// dropWorktree takes back a worktree in which nothing has run.
func (s *Service) dropWorktree(of, path string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.background), undoTime)
	defer cancel()
	err := os.RemoveAll(path)
	if err == nil {
		var tree *git.Tree
		if tree, err = git.Open(ctx, of); err == nil {
			_, err = tree.RemoveWorktree(ctx, path, false) // forgets one whose directory is gone
		}
	}
	if err != nil {
		s.Log.Warn("worktree of a session that did not come up not removed", "path", path, "err", err)
	}
}

// place is the directory of a session, checked for a fresh process.
func (s *Service) place(ctx context.Context, session hitchpost.Session) (string, error) {
	if session.Worktree != "" {
		gone, err := ask(ctx, s.disk, func() (bool, error) {
			_, err := os.Lstat(session.Worktree)
			return errors.Is(err, fs.ErrNotExist), nil
		})
		if err != nil {
			return "", err
		}
		if gone {
			return "", hitchpost.Errorf(hitchpost.ConflictError, "the worktree of %s was removed", session.Handle).
				Hinted("start a new session in %s, where its branch %s still is", session.WorktreeOf, session.Branch)
		}
	}
	return s.directory(ctx, session.Cwd)
}

// Worktrees lists the worktrees that were made for sessions of this node and that are there, in the order they were made.
func (s *Service) Worktrees(ctx context.Context, a hitchpost.Actor) ([]hitchpost.Worktree, error) {
	if err := a.Require(hitchpost.Look); err != nil {
		return nil, err
	}
	sessions, err := s.Store.Sessions(ctx, hitchpost.ListRequest{Node: s.Node.Name, All: true})
	if err != nil {
		return nil, err
	}
	s.clashes.mark(sessions, s.board.live)
	return ask(ctx, s.disk, func() ([]hitchpost.Worktree, error) {
		var list []hitchpost.Worktree
		for _, session := range sessions {
			if session.Worktree == "" {
				continue
			}
			if _, err := os.Lstat(session.Worktree); err != nil {
				continue
			}
			list = append(list, worktreeOf(s.background, session))
		}
		return list, nil
	})
}

func worktreeOf(ctx context.Context, session hitchpost.Session) hitchpost.Worktree {
	w := hitchpost.Worktree{Session: session, Path: session.Worktree, Of: session.WorktreeOf}
	if head, err := git.Find(ctx, session.Worktree); err == nil {
		w.Branch = head.Branch
	}
	return w
}
