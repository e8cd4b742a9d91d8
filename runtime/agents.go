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
	looking chan struct{} // holds a token while somebody looks at the agents, who does so alone
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
	heard  time.Time // when hook or register last told something of this run
	pid    int       // of the agent itself; 0: not known yet
	worked bool      // hooks told of work that no judgement has seen yet
	differ time.Time // since when the register names another conversation; zero: it does not
	read   factsRead
	tally  claude.Tally
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
	registers := newRegisters()
	defer registers.close()
	defer s.agents.openSpool(spool)()
	t := time.NewTicker(agentEvery)
	defer t.Stop()
	for {
		s.lookAtAgents(ctx, registers)
		select {
		case <-ctx.Done():
			return nil
		case <-spool.Wake():
		case <-registers.wake:
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

// lookAtAgents makes one round: first the hooks, then the register, then what follows from both.
func (s *Service) lookAtAgents(ctx context.Context, registers *registers) {
	if s.agents.lock(ctx) != nil {
		return
	}
	defer s.agents.unlock()
	s.heedHooks(ctx)
	running := s.board.agents(s.Node.Name)
	s.agents.forget(running)
	registers.keep(running)
	read := map[string][]claude.Entry{}
	for _, session := range running {
		if !session.State.Live() {
			continue
		}
		dir := session.Agent.ConfigDir
		entries, ok := read[dir]
		if !ok {
			var err error
			if entries, err = claude.ReadRegistry(dir); err != nil {
				s.agentTrouble("the register of "+dir, err)
				continue // unknown is not gone
			}
			s.agentTrouble("the register of "+dir, nil)
			read[dir] = entries
		}
		s.agentTrouble("what an agent does", s.judgeAgent(ctx, session, entries))
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

// registers are the watches on the registers of the config directories in use.
type registers struct {
	wake    chan struct{}
	watches map[string]*registerWatch
}

type registerWatch struct {
	watch *claude.Watch
	stop  chan struct{}
	done  chan struct{}
}

func newRegisters() *registers {
	return &registers{wake: make(chan struct{}, 1), watches: map[string]*registerWatch{}}
}

// keep watches the config directories of these sessions, and no others.
func (r *registers) keep(sessions []hitchpost.Session) {
	used := map[string]bool{}
	for _, session := range sessions {
		dir := session.Agent.ConfigDir
		used[dir] = true
		if r.watches[dir] == nil {
			r.watches[dir] = r.begin(dir)
		}
	}
	for dir, w := range r.watches {
		if !used[dir] {
			w.end()
			delete(r.watches, dir)
		}
	}
}

func (r *registers) begin(dir string) *registerWatch {
	w := &registerWatch{claude.WatchDir(claude.RegistryDir(dir)), make(chan struct{}), make(chan struct{})}
	go func() {
		defer close(w.done)
		for {
			select {
			case <-w.stop:
				return
			case <-w.watch.Wake():
				select {
				case r.wake <- struct{}{}:
				default:
				}
			}
		}
	}()
	return w
}

func (w *registerWatch) end() {
	close(w.stop)
	<-w.done
	w.watch.Close()
}

func (r *registers) close() {
	for _, w := range r.watches {
		w.end()
	}
}
