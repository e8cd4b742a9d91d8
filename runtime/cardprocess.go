package runtime

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/git"
	"github.com/hitchpost/hitchpost/runtime/host"
	"github.com/hitchpost/hitchpost/runtime/tmux"
)

// cardOthers is how many other processes a card names.
const cardOthers = 20

// process asks tmux whether the session's process is there, and looks at its tree.
func (g *cardGather) process(ctx context.Context, found chan<- func(*cardGather)) {
	defer close(g.trees)
	ctx, cancel := context.WithTimeout(ctx, cardProcesses)
	defer cancel()
	session := g.card.Session
	panes, err := g.s.Tmux.Panes(ctx)
	at := slices.IndexFunc(panes, func(p tmux.Pane) bool { return p.Session == session.ID && p.Run == session.Restarts })
	pid := 0
	alive, how := hitchpost.IsGone, "tmux answers and does not know it"
	switch {
	case err != nil:
		alive, how = hitchpost.NotCertain, "tmux does not answer: "+unknownBecause(err).String()
	case at >= 0 && !panes[at].Dead:
		pid = panes[at].Pid
		alive, how = hitchpost.IsAlive, "tmux runs it"
	case at >= 0:
		how = "tmux shows it as ended"
	case session.Exit() != nil:
		how = session.Exit().String() + ", and tmux does not know it any more"
	}
	found <- func(g *cardGather) {
		g.card.Process.Alive, g.card.Process.How = alive, how
		if pid == 0 {
			g.card.Process.Unknown = hitchpost.Unknown{Why: hitchpost.NotAsked}
		}
	}
	if pid == 0 {
		return
	}
	tree, err := ask(ctx, g.s.procs, func() (host.Tree, error) { return host.TreeOf(ctx, pid) })
	g.own = map[int]bool{}
	for _, n := range tree.Nodes {
		g.own[n.Pid] = true
	}
	found <- func(g *cardGather) { g.takeTree(tree, err) }
}

// takeTree puts the processes of a pane on the card, but for the first: that is our wrapper.
func (g *cardGather) takeTree(tree host.Tree, err error) {
	p := &g.card.Process
	p.Unknown = unknownBecause(err)
	if len(tree.Nodes) > 0 {
		tree.Nodes = tree.Nodes[1:]
	}
	p.CPU, p.Share, p.RSS = tree.Sum()
	p.More = tree.More
	p.Tree = make([]hitchpost.LiveProcess, 0, len(tree.Nodes))
	for _, n := range tree.Nodes {
		p.Tree = append(p.Tree, hitchpost.LiveProcess{
			Pid: n.Pid, Parent: n.Parent, Depth: n.Depth - 1, Program: n.Program, Command: n.Command, State: n.State,
			CPU: n.CPU, Share: n.Share, RSS: n.RSS, Runs: n.Runs,
		})
	}
	if len(p.Tree) > 0 && err == nil {
		p.How = fmt.Sprintf("tmux runs it as process %d", p.Tree[0].Pid)
	}
}

// neighbours looks for what the session has left outside of its terminal, and for what else works in its tree.
func (g *cardGather) neighbours(ctx context.Context, found chan<- func(*cardGather)) {
	ctx, cancel := context.WithTimeout(ctx, cardProcesses)
	defer cancel()
	type neighbours struct {
		left, others    []hitchpost.OtherProcess
		leftErr, dirErr error
		hidden          int
		agent           bool
	}
	<-g.trees // without a slot in hand: the tree needs one too
	got, err := ask(ctx, g.s.procs, func() (neighbours, error) {
		var n neighbours
		var left []host.Process
		if left, n.leftErr = g.s.marked(g.card.Session.ID); n.leftErr == nil {
			left = slices.DeleteFunc(left, func(p host.Process) bool { return g.own[p.Pid] })
		}
		for _, p := range left {
			n.left = append(n.left, hitchpost.OtherProcess{Pid: p.Pid, Program: p.Program, Since: p.Since})
		}
		n.others, n.hidden, n.dirErr = g.inTree(ctx, left)
		n.agent = g.s.agentIn(g.card.Session) != ""
		return n, nil
	})
	found <- func(g *cardGather) {
		p := &g.card.Process
		if err != nil {
			p.LeftWhy, p.OthersWhy = unknownBecause(err), unknownBecause(err)
			return
		}
		p.Left, p.LeftWhy = got.left, unknownBecause(got.leftErr)
		p.Others, p.OthersWhy, p.Hidden = got.others, unknownBecause(got.dirErr), got.hidden
		g.agent = got.agent
	}
}

// inTree finds the processes that work in the session's tree and are none of its own, agents first. Other trees below,
// such as worktrees, are not meant.
func (g *cardGather) inTree(ctx context.Context, left []host.Process) ([]hitchpost.OtherProcess, int, error) {
	tops := treeTops{}
	top := tops.of(ctx, g.card.Session.Cwd)
	if top == "" {
		return nil, 0, nil // it is gone; the repository's part says so
	}
	server, err := g.s.Tmux.Pid(ctx)
	if err != nil {
		server = -1 // nobody's parent
	}
	theirs := func(r host.Resident) bool {
		return !g.own[r.Pid] && r.Pid != server && r.Parent != server && r.Dir != "" && !r.DirGone &&
			!slices.ContainsFunc(left, func(p host.Process) bool { return p.Pid == r.Pid }) && tops.of(ctx, r.Dir) == top
	}
	agents, err := g.s.workers(ctx) // as the guard of a start sees them
	if err != nil {
		return nil, 0, err
	}
	var list []hitchpost.OtherProcess
	seen := map[int]bool{}
	for _, w := range agents {
		if w.tree == top && w.session != g.card.Session.ID && !g.own[w.Pid] {
			list, seen[w.Pid] = append(list, w.OtherProcess), true
		}
	}
	residents, hidden, err := host.InDir(ctx, top)
	for _, r := range residents {
		if !seen[r.Pid] && theirs(r) && len(list) < cardOthers {
			list = append(list, other(r))
		}
	}
	return list, hidden, err
}

func other(r host.Resident) hitchpost.OtherProcess {
	return hitchpost.OtherProcess{Pid: r.Pid, Program: r.Program, Command: r.Command, Dir: r.Dir, Account: r.Account,
		Since: r.Since}
}

// treeTops remembers which working tree directories lie in: processes share a few.
type treeTops map[string]string

// of is the top of the working tree that holds dir, or dir itself where it is in none; empty where it is gone.
func (t treeTops) of(ctx context.Context, dir string) string {
	if top, ok := t[dir]; ok {
		return top
	}
	top, err := git.Top(ctx, dir)
	if err != nil {
		if top, err = filepath.EvalSymlinks(dir); err != nil {
			top = ""
		}
	}
	t[dir] = top
	return top
}
