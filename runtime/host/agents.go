package host

import (
	"context"
	"os"
	"slices"

	"github.com/shirou/gopsutil/v4/process"
)

// Agent is a process that runs a program which works on a tree by itself.
type Agent struct {
	Resident
	Agent string // which: one of KnownAgents
	// Mark is the value of the variable that was asked for in its environment; empty: it has none, or may not be read.
	Mark string
	// Under is the pid of the outermost process that it descends from and that runs the same agent, as where a launcher
	// starts the program proper; 0: it is that one itself.
	Under int
}

// Agents returns the processes of this account, and for root those of all accounts, that run a known agent, oldest
// first. mark is the variable whose value is to be told. Nothing is left out, so this process may descend from one of
// them. An agent whose directory may not be read is there, without it. An error means that the look is not whole: what
// was found until then is there.
func Agents(ctx context.Context, mark string) ([]Agent, error) {
	of, err := parents(ctx)
	if err != nil {
		return nil, err
	}
	everybody := os.Geteuid() == 0
	var found []Agent
	for pid := range of {
		if err = stopped(ctx); err != nil {
			break
		}
		p := &process.Process{Pid: pid}
		name := agentOf(ctx, p)
		if name == "" || !everybody && !ours(ctx, p) {
			continue
		}
		r, ok := resident(ctx, p, of)
		if !ok {
			continue
		}
		a := Agent{Resident: r, Agent: name}
		if env, err := p.EnvironWithContext(ctx); err == nil {
			a.Mark, _ = Mark{Name: mark}.in(env)
		}
		found = append(found, a)
	}
	slices.SortFunc(found, func(a, b Agent) int { return byAge(a.Process, b.Process) })
	for i, a := range found {
		for _, above := range a.Chain {
			if slices.ContainsFunc(found, func(b Agent) bool { return b.Pid == above && b.Agent == a.Agent }) {
				found[i].Under = above
			}
		}
	}
	return found, err
}

// agentOf is the agent that a process runs, empty for any other. Kernel threads and zombies have no words.
func agentOf(ctx context.Context, p *process.Process) string {
	words, err := p.CmdlineSliceWithContext(ctx)
	if err != nil || len(words) == 0 {
		return ""
	}
	if a := AgentIn(words...); a != "" {
		return a
	}
	// The words may be a shell and a script that is called like an agent, or what the program has made of them.
	name, err := p.NameWithContext(ctx)
	if err != nil || !slices.Contains(KnownAgents(), name) {
		return ""
	}
	return name
}
