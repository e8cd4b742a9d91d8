package runtime

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/launch"
	"github.com/hitchpost/hitchpost/runtime/tmux"
	"github.com/hitchpost/hitchpost/store"
)

// birth is a process about to be made, of a session that is STARTING.
type birth struct {
	by       hitchpost.Actor
	session  hitchpost.Session
	files    *launch.Prepared
	size     hitchpost.Size
	patience *patience
	end      func() // of being under way, and of the claim
	undo     func() // takes back what was made for it alone, unless it came up; may be nil
}

// startIn starts a new session in a directory that it has, and calls undo unless it comes up.
func (s *Service) startIn(
	ctx context.Context, a hitchpost.Actor, r hitchpost.StartRequest, session hitchpost.Session, p program, undo func(),
) (res hitchpost.StartResult, err error) {
	claim, err := s.claimFor(ctx, session, p)
	if err != nil {
		undo()
		return res, err
	}
	var files *launch.Prepared
	end := func() {}
	refused := func(err error) (hitchpost.StartResult, error) {
		end()
		claim.release()
		if files != nil {
			err = errors.Join(err, files.Discard(), s.folder.remove(session.ID, 0))
		}
		undo()
		return res, err
	}
	if there, ok := s.board.named(hitchpost.Handle(session.Title)); ok && r.IfAbsent {
		res.Session = there
		return refused(nil)
	}
	if err := s.Tmux.Ping(ctx); err != nil {
		return refused(err)
	}
	others, say, err := s.guard(ctx, claim, r.Force)
	if err != nil {
		return refused(err)
	}
	if files, err = s.prepareNew(session, p); err != nil {
		return refused(err)
	}
	patience := newPatience()
	end = s.underway.begin(session.ID)
	made, err := spend(ctx, patience, func(ctx context.Context) (hitchpost.Session, error) {
		return s.create(ctx, a, session, r.IfAbsent, newReason(session, say))
	})
	if res.Session = made; err != nil || made.ID != session.ID {
		return refused(err)
	}
	through := func() { end(); claim.release() }
	res, err = s.begin(ctx, birth{a, made, files, r.Size, patience, through, undo}, r.Watch)
	res.Session.Clash = others
	return res, err
}

// newReason is what the event of a new session says; beside is what the guard had to say.
func newReason(session hitchpost.Session, beside string) string {
	reason := "new"
	if session.Worktree != "" {
		reason += ", in a worktree of its own"
	}
	if beside != "" {
		reason += ", " + beside
	}
	return reason
}

// begin makes the process of a STARTING session. It is finished even when ctx ends meanwhile: a wish once recorded is
// carried out or recorded as failed.
func (s *Service) begin(ctx context.Context, b birth, watch time.Duration) (hitchpost.StartResult, error) {
	type answer struct {
		session hitchpost.Session
		err     error
	}
	done := make(chan answer, 1)
	s.goDo(func() {
		defer b.end()
		got, err := s.makeProcess(s.background, b)
		done <- answer{got, err}
	})
	select {
	case <-ctx.Done():
		return hitchpost.StartResult{Session: b.session}, context.Cause(ctx)
	case got := <-done:
		if got.err != nil || watch <= 0 {
			return hitchpost.StartResult{Session: got.session}, got.err
		}
		return s.watchEarly(ctx, got.session, watch)
	}
}

// makeProcess hands the program to tmux and records that it is up, or why it is not. What cannot be recorded in time is
// left to the ledger.
func (s *Service) makeProcess(ctx context.Context, b birth) (hitchpost.Session, error) {
	if why := s.handOver(ctx, b.session, b.files, b.size); why != nil {
		s.takeBack(ctx, b)
		failed, err := spend(ctx, b.patience, func(ctx context.Context) (hitchpost.Session, error) {
			return s.recordNotMade(ctx, b, why)
		})
		if hitchpost.KindOf(err) == hitchpost.UnavailableError {
			s.ledger.add("failed start", func(ctx context.Context) error {
				_, err := s.recordNotMade(ctx, b, why)
				return err
			})
		}
		return failed, errors.Join(why, err)
	}
	s.places.add(b.session.ID)
	up, err := spend(ctx, b.patience, func(ctx context.Context) (hitchpost.Session, error) { return s.recordMade(ctx, b) })
	if hitchpost.KindOf(err) == hitchpost.UnavailableError {
		s.ledger.add("start", func(ctx context.Context) error {
			_, err := s.recordMade(ctx, b)
			return err
		})
		return b.session, nil // it runs and is on the list: whoever tried again would make another
	}
	return up, err
}

// takeBack takes back what was made for a session that did not come up. A tmux that took too long may run it all the same:
// then it is kept.
func (s *Service) takeBack(ctx context.Context, b birth) {
	if b.undo == nil {
		return
	}
	_, err := s.pane(ctx, b.session.ID)
	if errors.Is(err, tmux.ErrNoSession) || errors.Is(err, tmux.ErrNoServer) {
		b.undo()
		return
	}
	s.Log.Warn("not taken back what was made for a session", "session", b.session.ID, "err", err)
}

// recordMade records that a process is up.
func (s *Service) recordMade(ctx context.Context, b birth) (hitchpost.Session, error) {
	up, err := s.change(ctx, b.session, store.Transition{
		Change: hitchpost.ChangeStarted, By: as(b.by, hitchpost.FromTmux, "its process is up"),
	})
	if hitchpost.KindOf(err) == hitchpost.ConflictError {
		// It ended so soon that the reconciler recorded the end first.
		return s.Store.Session(ctx, b.session.ID)
	}
	return up, err
}

// recordNotMade records that a run could not be made. A session that never had a process leaves the list with it: whoever
// asked for it is told, and may ask again. Should tmux have made it all the same, after a call that took too long, the
// reconciler finds it and takes it back.
func (s *Service) recordNotMade(ctx context.Context, b birth, why error) (hitchpost.Session, error) {
	failed, err := s.change(ctx, b.session, store.Transition{
		Change: hitchpost.ChangeStartFailed, By: as(b.by, hitchpost.FromTmux, why.Error()),
	})
	if err != nil || b.session.Restarts > 0 {
		return failed, err
	}
	failed, err = s.change(ctx, failed, store.Transition{
		Change: hitchpost.ChangeClosed, By: as(b.by, hitchpost.FromReconciler, "never started"),
	})
	return failed, errors.Join(err, s.folder.remove(b.session.ID, 0))
}

// handOver opens a run and has tmux start the wrapper with its spec.
func (s *Service) handOver(
	ctx context.Context, session hitchpost.Session, files *launch.Prepared, size hitchpost.Size,
) error {
	if err := files.Commit(); err != nil {
		return s.notWritten("a session", err)
	}
	record, err := encodeRecord(session)
	if err != nil {
		return err
	}
	pane, err := s.Tmux.Start(ctx, tmux.Start{
		Session: session.ID, Run: session.Restarts, Title: terminalTitle(session), Size: size.Clamp(), Record: record,
		Command: append(slices.Clone(s.Wrapper), s.folder.spec(runKey{session.ID, session.Restarts})),
	})
	if err == nil {
		s.agents.made(runKey{session.ID, session.Restarts}, pane)
	}
	return err
}
