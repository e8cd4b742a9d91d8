package runtime

import (
	"context"
	"fmt"
	"slices"

	"github.com/hitchpost/hitchpost"
)

// restart plans what a Restart would run, as it does, and writes nothing.
func (g *cardGather) restart(ctx context.Context, found chan<- func(*cardGather)) {
	session := g.card.Session
	if !session.State.Ended() {
		found <- func(g *cardGather) {
			g.card.Advice.Restart = hitchpost.RestartPlan{Unknown: hitchpost.Unknown{Why: hitchpost.NotAsked}}
		}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, cardGit)
	defer cancel()
	plan, err := g.s.planRestart(ctx, session)
	switch kind := hitchpost.KindOf(err); {
	case err == nil:
	case ctx.Err() != nil, kind == hitchpost.TimeoutError, kind == hitchpost.UnavailableError, kind == hitchpost.FailedError:
		plan.Unknown = unknownBecause(err)
	default:
		plan.Refused = err.Error()
	}
	found <- func(g *cardGather) { g.card.Advice.Restart = plan }
}

func (s *Service) planRestart(ctx context.Context, session hitchpost.Session) (hitchpost.RestartPlan, error) {
	plan := hitchpost.RestartPlan{Dir: session.Cwd}
	var err error
	if session.Cwd, err = s.directory(ctx, session.Cwd); err != nil {
		return plan, err
	}
	extra, err := ask(ctx, s.disk, func() ([]string, error) { return readEnv(s.folder.env(session.ID)) })
	if err != nil {
		return plan, err
	}
	p, err := s.nextProgram(ctx, session, hitchpost.RestartRequest{}, extra)
	if err != nil {
		return plan, err
	}
	plan.Argv, plan.Path = p.argv, p.path
	return plan, nil
}

// standing is what the advice follows from. Other agents are in the way of an agent alone.
func standing(c hitchpost.Card, agent bool) hitchpost.Standing {
	s := hitchpost.Standing{
		Ref: c.Session.Handle, Cwd: c.Session.Cwd, State: c.Session.State, Reason: c.Session.StateReason,
		Closed: !c.Session.Open(), Database: c.Database.OK, Node: c.Process.Node.State, NodeName: c.Session.Node,
		Alive: c.Process.Alive, How: c.Process.How, Exit: c.Session.Exit(), Left: c.Process.Left,
		Refused: c.Advice.Restart.Refused, HasCheck: c.Session.Check != "", Last: c.Check.Last, Stale: c.Check.Stale,
	}
	if s.Closed {
		s.Ref = c.Session.ID // its handle may be another's by now
	}
	if c.Session.Agent != nil {
		s.Uncertain = c.Session.Agent.Uncertain
	}
	for _, o := range c.Process.Others {
		if o.Agent != "" && agent {
			s.Agents = append(s.Agents, o)
		}
	}
	s.Unseen = firstUnknown(c.Process.LeftWhy, c.Process.OthersWhy)
	if !c.Check.Unknown.Known() && s.HasCheck {
		s.Stale = hitchpost.StaleUnknown
	}
	r := c.Repo
	s.Tree = firstUnknown(r.Unknown, r.StatusWhy, r.Untracked.Unknown, r.HeadWhy, r.Since.Unknown, r.Unpushed.Unknown)
	s.Dirty, s.Conflict, s.Unended, s.Since = r.Dirty(), r.Conflicted.Count, r.Operation, r.Since.Count
	s.Kept = r.Checkpoint != nil && r.FromCheckpoint.Unknown.Known() && r.FromCheckpoint.Files == 0
	if !r.NoRemote {
		s.Unpushed = r.Unpushed.Count
	}
	return s
}

func firstUnknown(parts ...hitchpost.Unknown) hitchpost.Unknown {
	if i := slices.IndexFunc(parts, func(u hitchpost.Unknown) bool { return !u.Known() }); i >= 0 {
		return parts[i]
	}
	return hitchpost.Unknown{}
}

// check reads the last run of the session's check.
func (g *cardGather) check(ctx context.Context, found chan<- func(*cardGather)) {
	ctx, cancel := context.WithTimeout(ctx, cardStore)
	defer cancel()
	last, err := g.s.Store.LastCheck(ctx, g.card.Session.ID)
	if last != nil && last.State == hitchpost.TaskRunning {
		if t, err := g.s.Task(ctx, g.actor, last.TaskID); err == nil { // its end may not have come to the store
			last.State, last.Exit, last.EndedAt = t.State, t.Exit(), t.EndedAt
		}
	}
	found <- func(g *cardGather) { g.card.Check.Last, g.card.Check.Unknown = last, unknownBecause(err) }
}

// staleness holds what the last check saw against the files as they are.
func staleness(c hitchpost.Card) (hitchpost.Staleness, string) {
	last, r := c.Check.Last, c.Repo
	switch {
	case last == nil:
		return "", ""
	case last.Command != c.Session.Check:
		return hitchpost.Stale, "the check is another one now"
	case last.Tree == "":
		return hitchpost.StaleUnknown, "it is not known which files it saw: " + last.Saw
	case !r.Unknown.Known() || !r.TreeWhy.Known():
		return hitchpost.StaleUnknown, "it is not known which files there are now: " + firstUnknown(r.Unknown, r.TreeWhy).String()
	case last.Tree != r.Tree:
		return hitchpost.Stale, "files have changed since"
	case last.Commit != r.Head.Hash:
		return hitchpost.Fresh, fmt.Sprintf("it saw these files, at commit %.10s", last.Commit)
	default:
		return hitchpost.Fresh, "it saw these files"
	}
}
