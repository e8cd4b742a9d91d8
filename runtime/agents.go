package runtime

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
	"github.com/hitchpost/hitchpost/runtime/tmux"
)

// agentEvery is how often agents are looked at although neither hook nor register told of a change: some states follow
// from silence alone.
const agentEvery = time.Second

// agentBook is what the service knows of the agents of this node's sessions beside the store.
type agentBook struct {
	// looking holds a token while somebody looks at the agents, who does so alone. It is held over calls of the store and
	// the data directory, which have their limits, and over no other directory: a disk that hangs has none.
	looking chan struct{}
	wake    chan struct{} // asks for a look; holds one
	spool   *claude.Spool // nil where Run is not at work; read under looking, as all below but panes
	seen    map[string]*agentSeen
	warned  map[string]string // what was logged last of a part that fails, by the part
	finder  claude.Finder

	mu    sync.Mutex
	panes map[string]tmux.Pane // by session; of the newest run that is known
}

// agentSeen is what was seen of the agent of one run of a session.
type agentSeen struct {
	run    int
	hooks  claude.Hooks
	noted  time.Time // when the register had an entry of it last
	pid    int       // of the agent itself; 0: not known yet
	worked bool      // hooks told of work that no judgement has seen yet
	differ time.Time // since when the register names another conversation; zero: it does not
	asked  time.Time // when the transcript was asked for facts last
	due    time.Time // until when it is asked again and again: something ended that it is about to tell of
	answer string    // the last answer by a hook, which is sooner than the transcript
	said   time.Time // when that was heard
}

func newAgentBook() *agentBook {
	return &agentBook{
		looking: make(chan struct{}, 1), wake: make(chan struct{}, 1), seen: map[string]*agentSeen{},
		warned: map[string]string{}, panes: map[string]tmux.Pane{},
	}
}

// lock keeps others from looking at the agents, until unlock. It fails with the cause of ctx's end.
func (b *agentBook) lock(ctx context.Context) error {
	select {
	case b.looking <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *agentBook) unlock() { <-b.looking }

// look asks for a look at the agents soon. It never blocks.
func (b *agentBook) look() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// observed takes the panes that tmux had a moment ago. One that was made since is newer.
func (b *agentBook) observed(panes map[string]tmux.Pane) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, p := range panes {
		if p.Run >= b.panes[id].Run {
			b.panes[id] = p
		}
	}
}

// made takes the pane that was just made for a run of a session.
func (b *agentBook) made(k runKey, p tmux.Pane) {
	p.Run = k.run
	b.observed(map[string]tmux.Pane{k.session: p})
	b.look()
}

// pane is the pid of the first process in the pane of a run, 0 where that is not known.
func (b *agentBook) pane(session hitchpost.Session) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.panes[session.ID]; p.Run == session.Restarts {
		return p.Pid
	}
	return 0
}

// agents are the sessions of a node that run a Claude Code which has not ended.
func (b *board) agents(node string) []hitchpost.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []hitchpost.Session
	for _, s := range b.sessions {
		if s.Kind == hitchpost.Claude && s.Agent != nil && s.Node == node && !s.State.Ended() {
			out = append(out, s)
		}
	}
	return out
}

// agentLoop keeps state and conversation of the agents true: at once when a hook has called or the register has changed.
func (s *Service) agentLoop(ctx context.Context) error {
	spool, err := claude.OpenSpool(s.folder.hooks())
	if err != nil {
		return err
	}
	defer spool.Close()
	dirs := newConfigDirs(s.agents.look)
	defer dirs.close()
	defer s.agents.openSpool(spool)()
	select {
	case <-s.ready: // events of a session that is still to be adopted would be those of a stranger
	case <-ctx.Done():
		return nil
	}
	t := time.NewTicker(agentEvery)
	defer t.Stop()
	for {
		s.lookAtAgents(ctx, dirs)
		select {
		case <-ctx.Done():
			return nil
		case <-spool.Wake():
		case <-s.agents.wake:
		case <-t.C:
		}
	}
}

// openSpool lets those who look at agents read the spool, until the returned function is called.
func (b *agentBook) openSpool(spool *claude.Spool) (closed func()) {
	set := func(spool *claude.Spool) {
		b.looking <- struct{}{}
		b.spool = spool
		b.unlock()
	}
	set(spool)
	return func() { set(nil) }
}

// lookAtAgents makes one round: what the registers had a moment ago, then the hooks, then what follows from both. It ends
// early where the store is away: nothing of it can be recorded then.
func (s *Service) lookAtAgents(ctx context.Context, dirs *configDirs) {
	if s.agents.lock(ctx) != nil {
		return
	}
	defer s.agents.unlock()
	readings := dirs.readings()
	s.heedHooks(ctx)
	running := s.board.agents(s.Node.Name)
	s.agents.forget(running)
	dirs.keep(running)
	now := time.Now()
	for dir, r := range readings {
		s.agentTrouble("the register of "+dir, r.trouble(now))
	}
	for _, session := range running {
		r, ok := readings[session.Agent.ConfigDir]
		if !ok || !session.State.Live() || r.none && r.trouble(now) == nil {
			continue
		}
		err := s.judgeAgent(ctx, session, r, dirs.of(session))
		s.agentTrouble("the agent of "+session.ID, err)
		if hitchpost.KindOf(err) == hitchpost.UnavailableError {
			return
		}
	}
}

// forget drops what was seen of agents that no longer run.
func (b *agentBook) forget(running []hitchpost.Session) {
	runs := make(map[string]bool, len(running))
	for _, session := range running {
		runs[session.ID] = true
	}
	maps.DeleteFunc(b.seen, func(id string, _ *agentSeen) bool { return !runs[id] })
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.panes, func(id string, _ tmux.Pane) bool { return !runs[id] })
}

// agentTrouble logs what fails again and again once, and when it is over.
func (s *Service) agentTrouble(part string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if s.agents.warned[part] == text {
		return
	}
	s.agents.warned[part] = text
	if err != nil {
		s.Log.Warn("agents not followed", "part", part, "err", err)
		return
	}
	delete(s.agents.warned, part)
	s.Log.Info("agents followed again", "part", part)
}
