package runtime

import (
	"context"
	"fmt"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/launch"
	"github.com/hitchpost/hitchpost/runtime/tmux"
	"github.com/hitchpost/hitchpost/store"
)

// settle is how long a pass waits after a wake-up for others to join it: a burst of events costs one look at tmux.
const settle = 20 * time.Millisecond

// reconcileLoop holds the store against the machine: every ReconcileEvery, and at once when woken. Only the holder of
// this node's lease does so, should several services run with one node's data.
func (s *Service) reconcileLoop(ctx context.Context) error {
	t := time.NewTicker(s.ReconcileEvery)
	defer t.Stop()
	var lease *store.Lease
	defer func() {
		if lease != nil {
			lease.Release()
		}
	}()
	for first := true; ; first = false {
		if lease = s.holdLease(ctx, lease); lease != nil {
			s.reconcileUnder(ctx, lease)
		}
		if first {
			close(s.ready)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		case <-s.wake:
			select {
			case <-time.After(settle):
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// reconcileUnder makes a pass that ends at once when the lease is lost.
func (s *Service) reconcileUnder(ctx context.Context, lease *store.Lease) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	s.goDo(func() {
		select {
		case <-lease.Lost():
			cancel()
		case <-stop:
		}
	})
	if err := s.reconcile(ctx); err != nil && ctx.Err() == nil {
		s.Log.Warn("reconcile pass gave nothing", "node", s.Node.Name, "err", err)
	}
}

// holdLease returns the lease if it is still good, a new one if it can be had, and nil otherwise.
func (s *Service) holdLease(ctx context.Context, l *store.Lease) *store.Lease {
	if l != nil {
		select {
		case <-l.Lost():
			l.Release()
		default:
			return l
		}
	}
	l, err := s.Store.Lease(ctx, "reconcile:"+s.Node.ID)
	if err != nil {
		if ctx.Err() == nil {
			s.Log.Warn("no lease to reconcile", "node", s.Node.Name, "err", err)
		}
		return nil
	}
	return l
}

// reconcile makes one pass: read the store, look at the machine, plan, act. The order matters, see plan. An error
// means that a part was away and that nothing was concluded from it.
func (s *Service) reconcile(ctx context.Context) error {
	stored, err := s.Store.Sessions(ctx, hitchpost.ListRequest{Node: s.Node.Name})
	if err != nil {
		return err
	}
	tasks, err := s.Store.Tasks(ctx, hitchpost.TaskListRequest{
		Node: s.Node.Name, States: []hitchpost.TaskState{hitchpost.TaskRunning},
	})
	if err != nil {
		return err
	}
	now, err := s.Store.Now(ctx)
	if err != nil {
		return err
	}
	seen, err := s.observe(ctx, stored)
	s.noteNode(ctx, err)
	if err != nil {
		return err
	}
	s.agents.observed(seen.panes)
	defer s.reconcileTasks(ctx, tasks, seen.tasks) // after the sessions: of tasks there may be thousands
	var outputs []store.Output
	for _, st := range plan(now, stored, seen) {
		if st.kind == stepOutput {
			outputs = append(outputs, store.Output{ID: st.id, At: st.pane.LastOutput})
			continue
		}
		if err := s.act(ctx, st); err != nil && ctx.Err() == nil {
			s.Log.Warn("reconcile step failed", "step", string(st.kind), "session", st.id, "err", err)
		}
	}
	if len(outputs) == 0 {
		return nil
	}
	s.board.printed(outputs)
	return s.Store.Touch(ctx, outputs)
}

// observe looks at tmux with one call, and then at the exit records of every run the plan may ask about.
func (s *Service) observe(ctx context.Context, stored []hitchpost.Session) (observation, error) {
	all, err := s.Tmux.List(ctx)
	if err != nil {
		return observation{}, err
	}
	seen := observation{
		panes: make(map[string]tmux.Pane, len(all.Sessions)), tasks: all.Tasks, records: map[runKey]launch.Record{},
		underway: map[string]bool{},
	}
	asked := map[runKey]bool{}
	for _, p := range all.Sessions {
		seen.panes[p.Session] = p
		asked[runKey{p.Session, p.Run}] = true
	}
	for _, st := range stored {
		// After tmux was asked: what ends meanwhile has moved on in the store, and the plan's step comes too late.
		seen.underway[st.ID] = s.underway.has(st.ID)
		if !st.State.Ended() {
			asked[runKey{st.ID, st.Restarts}] = true
		}
	}
	for k := range asked {
		rec, ok, err := s.folder.readRecord(k)
		if err != nil {
			s.Log.Warn("exit record not used", "session", k.session, "err", err)
		}
		if ok {
			seen.records[k] = rec
		}
	}
	return seen, nil
}

// noteNode records whether this node gave a healthy answer; only news is written.
func (s *Service) noteNode(ctx context.Context, err error) {
	n := s.Node
	n.State, n.Since = hitchpost.Online, time.Now()
	if err != nil {
		n.State, n.Reason = hitchpost.Offline, err.Error()
	}
	if ctx.Err() != nil || !s.board.setNode(n) {
		return
	}
	s.Log.Info("node state", "node", n.Name, "state", string(n.State), "reason", n.Reason)
	if err := s.Store.SetNodeState(ctx, n.ID, n.State, n.Reason); err != nil {
		s.Log.Warn("node state not written", "node", n.Name, "err", err)
	}
}

// watchExits wakes the reconciler when a wrapper has written an exit record.
func (s *Service) watchExits(ctx context.Context) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch exit records: %w", err)
	}
	defer func() { _ = w.Close() }() // nothing is lost by it
	if err := w.Add(s.folder.exits()); err != nil {
		return fmt.Errorf("watch exit records: %w", err)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-w.Events:
			if e.Has(fsnotify.Create) {
				s.Wake()
			}
		case err := <-w.Errors:
			s.Log.Warn("watch of exit records", "err", err)
			s.Wake()
		}
	}
}

// watchTmux wakes the reconciler when tmux tells of a change.
func (s *Service) watchTmux(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.Tmux.Events():
			s.Wake()
		}
	}
}
