package runtime

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/git"
	"github.com/hitchpost/hitchpost/store"
)

const (
	// keepEvery is how often the files of a live session are kept while they change.
	keepEvery = 10 * time.Minute
	// keepAnyway is after how long that is tried although nothing tells of a change, for a file may change unseen, and after
	// how long again where it came to nothing.
	keepAnyway = time.Hour
	// keepTime is how long one checkpoint that nobody waits for may take.
	keepTime = time.Minute
	// keepBeforeRestart is the same where somebody waits for a Restart.
	keepBeforeRestart = 10 * time.Second
	// keepIdle is how many times as long as a checkpoint took the next one that nobody waits for is held back, so that all
	// of them take a tenth of a core at most.
	keepIdle = 9
	// keepLook is the least time between two looks at which sessions are due.
	keepLook = time.Second
)

// keptRegularly is why files are kept where nothing has happened but that time went by.
const keptRegularly = "every 10 minutes"

// checkpointer makes the checkpoints that nobody asks for, one after the other. It belongs to its loop.
type checkpointer struct {
	s    *Service
	seen map[string]*keptFiles // by session; nil: it has not looked yet
	slot chan struct{}         // holds a token while git is at work; one on a disk that hangs keeps it
}

// keptFiles is what is known of a session's files.
type keptFiles struct {
	state hitchpost.State // as last seen
	since time.Time       // since when it was so; a wait that ended and began anew between two looks is another one
	agent bool
	run   int

	looked time.Time // when it was last asked whether they have changed
	tried  time.Time // when a checkpoint was last tried
	print  git.Print // of the repository then
	output time.Time // the session's last output then
	fault  string    // why there was none
}

// checkpointLoop keeps the files of this node's sessions: of one whose agent has ended or begins to wait, and every so
// often of all whose files change.
func (s *Service) checkpointLoop(ctx context.Context) error {
	c := &checkpointer{s: s, slot: make(chan struct{}, 1)}
	t := time.NewTicker(keepEvery / 20)
	defer t.Stop()
	for {
		changed := s.board.next()
		sessions, _, _ := s.board.all()
		for id, why := range c.due(sessions, time.Now()) {
			c.keep(ctx, id, why)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(keepLook):
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-t.C:
		}
	}
}

// due are the sessions whose files should be kept now, and why.
func (c *checkpointer) due(sessions []hitchpost.Session, now time.Time) map[string]string {
	due, open := map[string]string{}, map[string]bool{}
	was := hitchpost.Starting // of a session or a run that is new
	if c.seen == nil {
		c.seen, was = map[string]*keptFiles{}, ""
	}
	for _, session := range sessions {
		if session.Node != c.s.Node.Name {
			continue
		}
		open[session.ID] = true
		k := c.seen[session.ID]
		if k == nil {
			k = &keptFiles{run: -1, looked: now, tried: now, output: session.LastOutputAt}
			c.seen[session.ID] = k
		}
		if k.run != session.Restarts {
			k.run, k.agent, k.state = session.Restarts, c.s.agentIn(session) != "", cmp.Or(was, session.State)
			k.since = time.Time{}
		}
		why := k.turned(session.State, session.StateSince)
		if why == "" && session.State.Live() && now.Sub(k.looked) >= keepEvery &&
			(k.fault == "" || now.Sub(k.tried) >= keepAnyway) {
			k.looked = now
			why = keptRegularly
		}
		if why != "" {
			due[session.ID] = why
		}
	}
	for id := range c.seen {
		if !open[id] {
			delete(c.seen, id)
		}
	}
	return due
}

// turned takes the state that a session has now, and tells why its files should be kept because of that.
func (k *keptFiles) turned(now hitchpost.State, since time.Time) (why string) {
	was, same := k.state, k.state == now && (k.since.IsZero() || k.since.Equal(since))
	k.state, k.since = now, since
	switch {
	case !k.agent || same:
		return ""
	case now == hitchpost.WaitingForInput:
		return "its agent waits"
	case now.Ended() && !was.Ended():
		return "its agent has ended"
	}
	return ""
}

// keep makes a checkpoint of a session where its files may have changed, and holds the next one back for a while.
func (c *checkpointer) keep(ctx context.Context, id, why string) {
	session, ok := c.s.board.get(id)
	k := c.seen[id]
	if !ok || k == nil {
		return
	}
	select {
	case c.slot <- struct{}{}:
	default:
		return
	}
	began, output, was := time.Now(), session.LastOutputAt, *k
	type kept struct {
		print git.Print
		err   error
	}
	done := make(chan kept, 1)
	limited, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	go func() { // not waited for where the disk hangs
		defer func() { <-c.slot }()
		print, err := git.Fingerprint(limited, session.Cwd)
		quiet := why == keptRegularly && print == was.print && !output.After(was.output) && began.Sub(was.tried) < keepAnyway
		if err == nil && print != (git.Print{}) && !quiet {
			_, err = keepFiles(limited, session, why)
		}
		done <- kept{print, err}
	}()
	k.tried, k.looked = began, began
	select {
	case got := <-done:
		k.print, k.output = got.print, output
		c.note(ctx, session, k, got.err)
	case <-limited.Done():
		c.note(ctx, session, k, context.Cause(limited))
	}
	select {
	case <-time.After(keepIdle * time.Since(began)):
	case <-ctx.Done():
	}
}

// note logs once what keeps the files of a session from being kept.
func (c *checkpointer) note(ctx context.Context, session hitchpost.Session, k *keptFiles, err error) {
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	if fault != "" && fault != k.fault && ctx.Err() == nil {
		c.s.Log.Warn("files of a session not kept", "session", session.ID, "err", err)
	}
	k.fault = fault
}

func keepFiles(ctx context.Context, session hitchpost.Session, why string) (git.Made, error) {
	tree, err := git.Open(ctx, session.Cwd)
	if err != nil {
		return git.Made{}, err
	}
	return tree.Checkpoint(ctx, git.Wish{Session: session.ID, Message: why})
}

// keepBefore keeps the files of a session that is about to be restarted, where they are in a repository, and tells of it
// in an event. Where they cannot be kept the Restart goes on, and its event says what say is.
func (s *Service) keepBefore(ctx context.Context, a hitchpost.Actor, session hitchpost.Session) (say string) {
	limited, cancel := context.WithTimeout(ctx, keepBeforeRestart)
	defer cancel()
	type kept struct {
		made git.Made
		err  error
	}
	done := make(chan kept, 1)
	go func() { // not waited for where the disk hangs
		var got kept
		if _, got.err = git.Top(limited, session.Cwd); hitchpost.KindOf(got.err) == hitchpost.ConflictError {
			got.err = nil // in no repository
		} else if got.err == nil {
			got.made, got.err = keepFiles(limited, session, "before a restart")
		}
		done <- got
	}()
	got := kept{err: errKeepSlow()}
	select {
	case got = <-done:
	case <-limited.Done():
	}
	switch {
	case got.err != nil:
		s.Log.Warn("no checkpoint before a restart", "session", session.ID, "err", got.err)
		return "no checkpoint: " + plainWords(got.err)
	case got.made.New:
		s.tell(ctx, session, store.EventCheckpoint, a, toldOf(got.made.Checkpoint)+", before a restart")
	}
	return ""
}

func errKeepSlow() error {
	return hitchpost.Errorf(hitchpost.UnavailableError, "it took longer than %v", keepBeforeRestart)
}

// plainWords is what an error says without what to do next.
func plainWords(err error) string {
	var e *hitchpost.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

const (
	// keptSince is for how long after its end a session is looked at for checkpoints that are too old.
	keptSince = 90 * 24 * time.Hour
	// pruneTime is how long that may take in one repository.
	pruneTime = time.Minute
)

// pruneCheckpoints takes away the checkpoints that need not be kept, in every repository that this node's sessions worked
// in: all but the newest 50 of a session, and those that are 30 days old.
func (s *Service) pruneCheckpoints(ctx context.Context, now time.Time) {
	sessions, err := s.Store.Sessions(ctx, hitchpost.ListRequest{Node: s.Node.Name, All: true})
	if err != nil {
		return // the store is away; there will be another time
	}
	seen := map[string]bool{}
	for _, session := range sessions {
		if !session.Open() && now.Sub(session.ClosedAt) > keptSince {
			continue
		}
		for _, dir := range []string{session.Cwd, session.WorktreeOf} {
			if dir == "" || seen[dir] || ctx.Err() != nil {
				continue
			}
			seen[dir] = true
			s.pruneIn(ctx, dir, seen, now)
		}
	}
}

// pruneIn prunes in the repository that holds a directory, unless that was seen before.
func (s *Service) pruneIn(ctx context.Context, dir string, seen map[string]bool, now time.Time) {
	top, err := ask(ctx, s.disk, func() (string, error) { return git.Top(s.background, dir) })
	if err != nil || seen["tree "+top] {
		return // in no repository
	}
	seen["tree "+top] = true
	tree, err := s.openTree(ctx, top)
	if err != nil || seen["repository "+tree.CommonDir] {
		return
	}
	seen["repository "+tree.CommonDir] = true
	ctx, cancel := context.WithTimeout(ctx, pruneTime)
	defer cancel()
	n, err := tree.Prune(ctx, git.Keep{Now: now})
	switch {
	case err != nil:
		s.Log.Warn("old checkpoints not removed", "err", err)
	case n > 0:
		s.Log.Info("old checkpoints removed", "count", n)
	}
}
