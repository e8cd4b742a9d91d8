package runtime

import (
	"context"
	"os"
	"slices"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/host"
	"github.com/hitchpost/hitchpost/runtime/launch"
)

// worker is an agent at work in a working tree: that of a session, or one outside of any.
type worker struct {
	tree    string // top of it, see treeTops
	session string // id of its session; empty: none of this node's open ones
	hitchpost.OtherProcess
}

// workers finds the agents at work on this machine: those that sessions of this node run, and those in the table of
// processes, whoever started them. Of other accounts' processes root alone sees where they work. It reads the disk and
// the table, which may hang.
func (s *Service) workers(ctx context.Context) ([]worker, error) {
	var list []worker
	tops := treeTops{}
	sessions, _, _ := s.board.all()
	byID := make(map[string]hitchpost.Session, len(sessions))
	for _, session := range sessions {
		byID[session.ID] = session
		agent := ""
		if session.Node == s.Node.Name && !session.State.Ended() {
			agent = s.agentIn(session)
		}
		if agent != "" {
			list = append(list, worker{tops.of(ctx, session.Cwd), session.ID, hitchpost.OtherProcess{
				Program: agent, Dir: session.Cwd, Since: session.StartedAt, Agent: agent, Session: session.Handle,
			}})
		}
	}
	found, err := host.Agents(ctx, launch.Mark)
	for _, a := range found {
		under := slices.ContainsFunc(found, func(b host.Agent) bool { return b.Pid == a.Under })
		if a.Dir == "" || a.DirGone || under || ours(a) {
			continue
		}
		w := worker{tops.of(ctx, a.Dir), "", other(a.Resident)}
		w.Agent = a.Agent
		if of, ok := byID[a.Mark]; ok && a.Mark != "" {
			w.session, w.Session = of.ID, of.Handle
		}
		list = w.joined(list)
	}
	return list, err
}

// joined is list with w, which is that of a session's own agent where there is one in that tree: of several, as where one
// starts another, the first.
func (w worker) joined(list []worker) []worker {
	i := slices.IndexFunc(list, func(o worker) bool { return w.session != "" && o.session == w.session && o.tree == w.tree })
	switch {
	case i < 0:
		return append(list, w)
	case list[i].Pid == 0:
		list[i].OtherProcess = w.OtherProcess
	}
	return list
}

// ours reports whether a process was started by this service itself, as to ask a program for its version: what runs for
// somebody is below tmux. A service that is the first process of a machine is the parent of all that lost theirs.
func ours(a host.Agent) bool {
	self := os.Getpid()
	return self > 1 && slices.Contains(a.Chain, self)
}

// agentIn is the agent that a session runs, such as claude, or its preset's name; empty where it runs none that is known.
func (s *Service) agentIn(session hitchpost.Session) string {
	if session.Kind != hitchpost.Command {
		return agentName(session.Kind, nil, nil)
	}
	argv := session.Args
	if session.Restarts > 0 {
		argv = restartWords(session)
	}
	if name := agentName(session.Kind, argv, nil); name != "" {
		return name
	}
	extra, err := readEnv(s.folder.env(session.ID))
	if err != nil {
		return "" // a preset whose program is not known by its name either
	}
	return agentName(session.Kind, argv, extra)
}

// agentName is the agent that a session of that kind runs with these words and variables of its own.
func agentName(kind hitchpost.Kind, argv, extra []string) string {
	switch kind {
	case hitchpost.Claude:
		return "claude"
	case hitchpost.Command:
		if name := host.AgentIn(argv...); name != "" {
			return name
		}
		return lookup(extra, presetVariable)
	}
	return ""
}
