package runtime

import (
	"context"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/git"
)

// checkLook is how long a check waits until it is known which files it will see. It runs without that too.
const checkLook = 6 * time.Second

// RunCheck starts the session's check command as a task in its directory, and returns once tmux runs it. Whatever becomes
// of ctx, the card has the end of it, with the commit and the files that it saw. While one runs, it is refused with kind
// ConflictError.
func (s *Service) RunCheck(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.Task, error) {
	session, err := s.toDrive(ctx, a, ref)
	if err != nil {
		return hitchpost.Task{}, err
	}
	if session.Check == "" {
		return hitchpost.Task{}, hitchpost.Errorf(hitchpost.ConflictError, "%s has no check", session.Handle).For("check").
			Hinted("give it one")
	}
	words, err := checkWords(session.Check)
	if err != nil {
		return hitchpost.Task{}, err
	}
	if _, err := s.directory(ctx, session.Cwd); err != nil { // it answers, so git can be asked
		return hitchpost.Task{}, err
	}
	check := seenBy(ctx, session)
	r := hitchpost.TaskRequest{Name: "check", Session: session.ID, Argv: words}
	return s.runTask(ctx, a, r, func(ctx context.Context, t hitchpost.Task) (hitchpost.Task, error) {
		return s.Store.StartCheck(ctx, t, check, as(a, hitchpost.FromPerson, ""))
	})
}

// seenBy is what a check that begins now will see.
func seenBy(ctx context.Context, session hitchpost.Session) hitchpost.Check {
	ctx, cancel := context.WithTimeout(ctx, checkLook)
	defer cancel()
	r := repoOf(git.Look(ctx, session.Cwd, git.Question{Files: true}))
	return hitchpost.Check{
		Command: session.Check, Commit: r.Head.Hash, Branch: r.Branch, Tree: r.Tree, Dirty: r.Dirty(),
		Saw: hitchpost.OneLine(firstUnknown(r.Unknown, r.HeadWhy, r.TreeWhy).String()),
	}
}

// checkWords are the words of a check command, split like a POSIX shell splits them. No shell sees them.
func checkWords(command string) ([]string, error) {
	words, err := shellquote.Split(command)
	if err != nil || len(words) == 0 {
		return nil, hitchpost.Errorf(hitchpost.UsageError, "the check has no words or an open quote").For("check").
			Hinted("quote it as a shell would; with pipes and the like in it, give it to one: sh -c '…'")
	}
	return words, nil
}

// SetCheck gives a session another check command, or none, and returns the session as it is then.
func (s *Service) SetCheck(ctx context.Context, a hitchpost.Actor, ref, command string) (hitchpost.Session, error) {
	if command != "" {
		if _, err := checkWords(command); err != nil {
			return hitchpost.Session{}, err
		}
	}
	session, err := s.toDrive(ctx, a, ref)
	if err != nil {
		return session, err
	}
	got, err := s.Store.SetCheck(ctx, session.ID, command, as(a, hitchpost.FromPerson, ""))
	if err != nil {
		return got, err
	}
	s.board.put(got)
	return got, nil
}
