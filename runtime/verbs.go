package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/tmux"
	"github.com/hitchpost/hitchpost/store"
)

// resolve finds the session that ref names for this actor. A handle or full id of an open session is answered from
// memory.
func (s *Service) resolve(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.Session, error) {
	ref = s.spellOut(a, ref)
	if got, ok := s.board.named(ref); ok {
		return s.withClash(got), nil
	}
	return s.Store.Resolve(ctx, ref, a.Fingerprint)
}

// spellOut turns the word last into an id. Memory knows it before the store does.
func (s *Service) spellOut(a hitchpost.Actor, ref string) string {
	if id := s.keys.lastSession(a.Fingerprint); ref == "last" && id != "" {
		return id
	}
	return ref
}

// List returns the sessions that r chooses, from the store.
func (s *Service) List(ctx context.Context, a hitchpost.Actor, r hitchpost.ListRequest) ([]hitchpost.Session, error) {
	if err := a.Require(hitchpost.Look); err != nil {
		return nil, err
	}
	sessions, err := s.Store.Sessions(ctx, r)
	s.clashes.mark(sessions, s.board.live)
	return sessions, err
}

// Show returns one session, from the store.
func (s *Service) Show(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.Session, error) {
	if err := a.Require(hitchpost.Look); err != nil {
		return hitchpost.Session{}, err
	}
	session, err := s.Store.Resolve(ctx, s.spellOut(a, ref), a.Fingerprint)
	return s.withClash(session), err
}

// Restart makes a fresh process for an ended session: same id, handle, title and directory. Of several at the same
// time one does it and the others fail with kind ConflictError, as does one that would start beside a process that an
// earlier run left; see RestartRequest.
func (s *Service) Restart(
	ctx context.Context, a hitchpost.Actor, ref string, r hitchpost.RestartRequest,
) (hitchpost.StartResult, error) {
	patience := newPatience()
	session, p, err := s.nextRun(ctx, a, ref, r, patience)
	if err != nil {
		return hitchpost.StartResult{}, err
	}
	claim, err := s.claimFor(ctx, session, p)
	if err != nil {
		return hitchpost.StartResult{}, err
	}
	if now, ok := s.board.get(session.ID); ok && now.Revision > session.Revision && restartable(now) != nil {
		claim.release() // another was quicker
		return hitchpost.StartResult{}, restartable(now)
	}
	files, err := s.prepareRun(runKey{session.ID, session.Restarts + 1}, session.Cwd, p)
	if err != nil {
		claim.release()
		return hitchpost.StartResult{}, s.notWritten("a session", err)
	}
	others, reason, err := s.clearWay(ctx, a, session, claim, r.Force)
	end := s.underway.begin(session.ID)
	if err == nil {
		session, err = spend(ctx, patience, func(ctx context.Context) (hitchpost.Session, error) {
			return s.askRestart(ctx, a, session, p.agent, reason)
		})
	}
	if err != nil {
		claim.release()
		end()
		return hitchpost.StartResult{}, errors.Join(err, files.Discard())
	}
	if err := s.setAside(session.ID); err != nil {
		s.Log.Warn("last screen not set aside", "session", session.ID, "err", err)
	}
	through := func() { end(); claim.release() }
	res, err := s.begin(ctx, birth{a, session, files, r.Size, patience, through, nil}, r.Watch)
	res.Session.Clash = others
	return res, err
}

// nextRun finds the session that is to be restarted, and what it would run. Nothing is changed yet: all that can be
// refused is.
func (s *Service) nextRun(
	ctx context.Context, a hitchpost.Actor, ref string, r hitchpost.RestartRequest, patience *patience,
) (hitchpost.Session, program, error) {
	session, err := spend(ctx, patience, func(ctx context.Context) (hitchpost.Session, error) {
		session, err := s.toDrive(ctx, a, ref)
		if err != nil {
			return session, err
		}
		return s.settleAgent(ctx, session)
	})
	if err == nil {
		err = restartable(session)
	}
	if err == nil {
		session.Cwd, err = s.whereItWorked(ctx, session)
	}
	if err == nil {
		session.Cwd, err = s.place(ctx, session)
	}
	if err != nil {
		return session, program{}, err
	}
	extra, err := readEnv(s.folder.env(session.ID))
	if err != nil {
		return session, program{}, err
	}
	p, err := s.nextProgram(ctx, session, r, extra)
	return session, p, err
}

// clearWay sees to it that nothing is left of a session's old run, that no other agent works where its own will, and that
// the files are kept as they are. It returns those that work there where that is forced, and what the restart's event says.
func (s *Service) clearWay(
	ctx context.Context, a hitchpost.Actor, session hitchpost.Session, c claim, force bool,
) (others []hitchpost.OtherProcess, reason string, err error) {
	// What is left of the old run would be in the new one's place. It goes first: where tmux does not answer, nothing
	// has changed yet.
	if err := s.Tmux.KillRun(ctx, session.ID, session.Restarts); err != nil {
		return nil, "", err
	}
	if reason, err = s.survivorsCheck(ctx, session, force); err != nil {
		return nil, "", err
	}
	others, say, err := s.guard(ctx, c, force)
	if err != nil {
		return nil, "", err
	}
	for _, more := range []string{say, s.keepBefore(ctx, a, session)} {
		if more != "" {
			reason += ", " + more
		}
	}
	return others, reason, nil
}

// askRestart records the wish for a fresh process of an ended session.
func (s *Service) askRestart(
	ctx context.Context, a hitchpost.Actor, session hitchpost.Session, agent *agentRun, reason string,
) (hitchpost.Session, error) {
	t := store.Transition{
		Change: hitchpost.ChangeRestartAsked, By: as(a, hitchpost.FromPerson, reason),
		Lease: startLease,
	}
	if agent != nil {
		t.Agent, t.Conversation = &agent.agent, agent.conversation
	}
	return s.change(ctx, session, t)
}

// nextProgram finds what the next run of a session executes.
func (s *Service) nextProgram(
	ctx context.Context, session hitchpost.Session, r hitchpost.RestartRequest, extra []string,
) (program, error) {
	if err := hitchpost.CheckPrompt(session, r.Prompt); err != nil {
		return program{}, err
	}
	switch {
	case session.Kind == hitchpost.Claude:
		return s.agentProgram(ctx, session, session.Restarts+1, extra, s.nextConversation(ctx, session, r))
	case r.Fresh || r.Conversation != "":
		return program{}, hitchpost.Errorf(hitchpost.UsageError, "%s has no conversation: it is of kind %s",
			session.Handle, session.Kind).Hinted("restart it without --fresh and --conversation")
	}
	return s.program(ctx, session, extra)
}

// restartable is nil for a session that a Restart may give a fresh process. The store decides again.
func restartable(session hitchpost.Session) error {
	if session.State.Ended() {
		return nil
	}
	e := hitchpost.Errorf(hitchpost.ConflictError, "%s is %s", session.Handle, session.State)
	if session.State.Live() {
		return e.Hinted("stop it first: only an ended session can be restarted")
	}
	return e.Hinted("wait until it is through")
}

// CloseSession takes an ended session off the list. Its files are not touched.
func (s *Service) CloseSession(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	session, err := s.toDrive(ctx, a, ref)
	if err != nil {
		return hitchpost.Session{}, err
	}
	return s.change(ctx, session, store.Transition{
		Change: hitchpost.ChangeClosed, By: as(a, hitchpost.FromPerson, "closed"),
	})
}

// Rename gives a session a new title, and a handle made from it.
func (s *Service) Rename(ctx context.Context, a hitchpost.Actor, ref, title string) (hitchpost.Session, error) {
	if err := hitchpost.CheckTitle(title); err != nil {
		return hitchpost.Session{}, err
	}
	patience := newPatience()
	session, err := spend(ctx, patience, func(ctx context.Context) (hitchpost.Session, error) {
		return s.toDrive(ctx, a, ref)
	})
	if err != nil {
		return hitchpost.Session{}, err
	}
	got, err := spend(ctx, patience, func(ctx context.Context) (hitchpost.Session, error) {
		return s.Store.Rename(ctx, session.ID, title, as(a, hitchpost.FromPerson, "renamed"))
	})
	if err != nil {
		return got, err
	}
	s.board.put(got)
	if got.State.Live() {
		s.retitle(ctx, got)
	}
	return got, nil
}

// toDrive resolves ref for an act that needs the permission to drive, afresh from the store.
func (s *Service) toDrive(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.Session, error) {
	if err := a.Require(hitchpost.Drive); err != nil {
		return hitchpost.Session{}, err
	}
	session, err := s.Show(ctx, a, ref)
	if err != nil {
		return session, err
	}
	return session, s.here(session)
}

// Capture returns text of a session's terminal: live from tmux, of an ended one from what was kept.
func (s *Service) Capture(
	ctx context.Context, a hitchpost.Actor, ref string, r hitchpost.CaptureRequest,
) (hitchpost.Captured, error) {
	if err := a.Require(hitchpost.Look); err != nil {
		return hitchpost.Captured{}, err
	}
	session, err := s.resolve(ctx, a, ref)
	if err != nil {
		return hitchpost.Captured{}, err
	}
	if err := s.here(session); err != nil {
		return hitchpost.Captured{}, err
	}
	if text := s.told(ctx, session, r); text != nil {
		return hitchpost.Captured{Text: text}, nil
	}
	if !session.State.Ended() {
		text, err := s.captureLive(ctx, session.ID, r)
		if !errors.Is(err, tmux.ErrNoSession) && !errors.Is(err, tmux.ErrNoServer) {
			return hitchpost.Captured{Text: text}, err
		}
		s.Wake()
	}
	e, err := readEvidence(s.folder.evidence(session.ID))
	if errors.Is(err, os.ErrNotExist) {
		e, err = readEvidence(s.folder.before(session.ID)) // a restart that failed
	}
	if errors.Is(err, os.ErrNotExist) {
		err := hitchpost.Errorf(hitchpost.NotFoundError, "nothing was kept of what %s showed", session.Handle)
		return hitchpost.Captured{}, err.Hinted("a screen is kept once a session has printed something")
	}
	if err != nil {
		return hitchpost.Captured{}, fmt.Errorf("capture %s: %w", session.Handle, err)
	}
	text := e.text(r)
	if !r.ANSI {
		text = []byte(ansi.Strip(string(text)))
	}
	return hitchpost.Captured{Text: text, At: e.At}, nil
}

func (s *Service) captureLive(ctx context.Context, id string, r hitchpost.CaptureRequest) ([]byte, error) {
	history := r.History || r.Lines > 0
	text, err := s.Tmux.Capture(ctx, id, tmux.Capture{History: history, ANSI: r.ANSI})
	if err != nil || r.Lines <= 0 {
		return text, err
	}
	return lastLines(text, r.Lines), nil
}
