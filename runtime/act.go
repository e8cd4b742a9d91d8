package runtime

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/launch"
	"github.com/hitchpost/hitchpost/runtime/tmux"
	"github.com/hitchpost/hitchpost/store"
)

// act does one step. Each write compares state and run with what the plan saw, so that a step that came too late
// changes nothing.
func (s *Service) act(ctx context.Context, st step) error {
	switch st.kind {
	case stepExit:
		s.oncePer(st.id, func() error {
			defer s.Wake() // a fresh process may have ended meanwhile
			return s.recordExit(s.background, st)
		})
		return nil
	case stepLost:
		_, err := s.change(ctx, st.session, store.Transition{
			Change: hitchpost.ChangeLost, By: store.By{Source: hitchpost.FromTmux, Reason: lostReason(st.session.State)},
		})
		return err
	case stepStarted:
		_, err := s.change(ctx, st.session, store.Transition{
			Change: hitchpost.ChangeStarted, By: store.By{Source: hitchpost.FromReconciler, Reason: "found running"},
		})
		return err
	case stepFound:
		return s.found(ctx, st)
	case stepAdopt:
		return s.adopt(ctx, st)
	case stepStopOver:
		s.oncePer(st.id, func() error { s.finishStop(st.session, st.pane); return nil })
		return nil
	case stepClear:
		return s.clear(ctx, st)
	}
	return fmt.Errorf("no such step: %s", st.kind)
}

// oncePer does the lengthy work of a step beside the passes, unless such work is under way for the session.
func (s *Service) oncePer(id string, work func() error) {
	if _, busy := s.busy.LoadOrStore(id, true); busy {
		return
	}
	s.goDo(func() {
		defer s.busy.Delete(id)
		if err := work(); err != nil && s.background.Err() == nil {
			s.Log.Warn("reconcile step failed", "session", id, "err", err)
		}
	})
}

// change makes a transition of a session as it was seen, and shows the result on the board at once. That people came
// or went meanwhile makes no difference: one live state is as good as another.
func (s *Service) change(ctx context.Context, seen hitchpost.Session, t store.Transition) (hitchpost.Session, error) {
	t.From, t.Run = []hitchpost.State{seen.State}, &seen.Restarts
	if seen.State.Live() {
		t.From = []hitchpost.State{hitchpost.Running, hitchpost.Detached, hitchpost.WaitingForInput}
	}
	got, err := s.Store.Change(ctx, seen.ID, t)
	if err != nil {
		return seen, err
	}
	s.board.put(got)
	s.clashes.look()
	return got, nil
}

func lostReason(from hitchpost.State) string {
	switch from {
	case hitchpost.Starting:
		return "its process never came up"
	case hitchpost.Stopping:
		return "its process is gone"
	default:
		return "tmux no longer runs it"
	}
}

// recordExit keeps what the terminal last showed, records how the process ended, and lets go of the pane.
func (s *Service) recordExit(ctx context.Context, st step) error {
	saveLater := false
	if st.pane.PaneID != "" {
		s.awaitDead(ctx, st.pane)
		saveLater = mayYetSave(ctx, s.keepEvidence(ctx, []tmux.Pane{st.pane}, atEnd()))
	}
	c := hitchpost.ChangeExitedBadly
	if st.exit.Well() {
		c = hitchpost.ChangeExitedWell
	}
	ended, err := s.change(ctx, st.session, store.Transition{
		Change: c, Exit: &st.exit,
		By: store.By{Source: hitchpost.FromExit, Reason: exitReason(st.exit, st.reason) + s.leftBehind(ctx, st.session)},
	})
	if err != nil {
		return err
	}
	s.Log.Info("session ended", "session", st.id, "state", string(ended.State), "reason", ended.StateReason)
	if st.pane.PaneID == "" {
		return s.folder.forget(runKey{st.id, ended.Restarts})
	}
	s.letGo(ended, st.pane, saveLater)
	return nil
}

// awaitDead gives tmux a moment to read the last output of a process that has ended: the record is written while the
// wrapper still holds the terminal. A background child may hold it for longer, and is not waited for.
func (s *Service) awaitDead(ctx context.Context, p tmux.Pane) {
	for range 20 {
		if p.Dead {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(15 * time.Millisecond):
		}
		panes, err := s.Tmux.Panes(ctx)
		i := slices.IndexFunc(panes, func(o tmux.Pane) bool { return o.PaneID == p.PaneID })
		if err != nil || i < 0 {
			return
		}
		p = panes[i]
	}
}

// exitReason tells people how a process ended.
func exitReason(e hitchpost.Exit, why string) string {
	if why == "" {
		return e.String()
	}
	return e.String() + ": " + why
}

// found takes back a session that tmux runs although the store holds it as ended or is a run behind: tmux is the truth.
func (s *Service) found(ctx context.Context, st step) error {
	run := st.pane.Run
	_, err := s.change(ctx, st.session, store.Transition{
		Change: hitchpost.ChangeFound, SetRun: &run,
		By: store.By{Source: hitchpost.FromTmux, Reason: "found running"},
	})
	return err
}

// adopt takes in a session that tmux runs and the list of open sessions lacks: closed, of another node's name, just
// being made, or unknown because the store was restored from an older backup.
func (s *Service) adopt(ctx context.Context, st step) error {
	stored, err := s.Store.Session(ctx, st.id)
	switch {
	case err == nil && stored.Open():
		return nil // made, or moved, after the store was read: the next pass knows it
	case err == nil:
		again, ok := planOne(time.Now(), stored, s.lookAgain(st))
		if !ok {
			return nil
		}
		return s.act(ctx, again)
	case hitchpost.KindOf(err) != hitchpost.NotFoundError:
		return err
	}
	raw, err := s.Tmux.Record(ctx, st.id)
	if err != nil {
		return err
	}
	rec, err := decodeRecord(raw)
	if err != nil {
		return err
	}
	rec.ID, rec.Node, rec.Restarts = st.id, s.Node.Name, st.pane.Run
	got, err := s.Store.Adopt(ctx, rec, store.By{Source: hitchpost.FromTmux, Reason: "found running, unknown to the store"})
	if err != nil {
		return err
	}
	s.board.put(got)
	s.Log.Info("session adopted", "session", st.id)
	return nil
}

func (s *Service) lookAgain(st step) observation {
	seen := observation{panes: map[string]tmux.Pane{st.id: st.pane}, records: map[runKey]launch.Record{}}
	k := runKey{st.id, st.pane.Run}
	if rec, ok, _ := s.folder.readRecord(k); ok {
		seen.records[k] = rec
	}
	return seen
}

// clear removes the pane that an ended session still has, after keeping what it shows.
func (s *Service) clear(ctx context.Context, st step) error {
	if s.views.count(st.id) > 0 {
		return nil // letGo is at work
	}
	if st.pane.Run == st.session.Restarts {
		if mayYetSave(ctx, s.keepEvidence(ctx, []tmux.Pane{st.pane}, atEnd())) {
			return nil // the next pass tries again
		}
	}
	if err := s.Tmux.KillRun(ctx, st.id, st.pane.Run); err != nil {
		return err
	}
	return s.folder.forget(runKey{st.id, st.pane.Run})
}

// drainLimit is how long the views of an ended session have to take in its last output.
const drainLimit = time.Second

// mayYetSave reports whether a saving failed for a reason that will pass: a disk that is full, or a pass that was broken
// off. The pane must not go before.
func mayYetSave(ctx context.Context, err error) bool {
	return err != nil && (fullDisk(err) || ctx.Err() != nil)
}

// letGo ends the views of an ended session after its last output, then removes its dead pane and its spec. A pane that
// is still to be saved stays, and clear comes for it.
func (s *Service) letGo(session hitchpost.Session, pane tmux.Pane, saveLater bool) {
	ctx, cancel := context.WithTimeout(s.background, drainLimit)
	s.views.drain(ctx, session.ID, pane.Run)
	cancel()
	if saveLater {
		return
	}
	ctx, cancel = context.WithTimeout(s.background, callLimit)
	defer cancel()
	err := s.Tmux.KillRun(ctx, session.ID, pane.Run)
	if err == nil {
		// Not before: while a background child holds the pane the record is what tells that the run is over.
		err = s.folder.forget(runKey{session.ID, pane.Run})
	}
	if err != nil && s.background.Err() == nil {
		s.Log.Warn("ended session not cleared away", "session", session.ID, "err", err)
	}
}

// callLimit bounds work that no person waits for.
const callLimit = 10 * time.Second
