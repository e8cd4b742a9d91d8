package runtime

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
)

const (
	// cardTime is how long a card waits for its parts in all; each has a limit of its own.
	cardTime = 4 * time.Second
	// cardProcesses is how long the look at the processes of the machine may take.
	cardProcesses = 2 * time.Second
	// cardGit is how long git may take. It is a little less than what is waited for it, so that what it found until then
	// is told.
	cardGit = 1800 * time.Millisecond
	// cardStore is how long the store may take for one part.
	cardStore = time.Second
)

// Card tells of a session what somebody needs to know who comes back to it. It changes nothing. show is called with the
// card as far as it is known, from this call's goroutine: at once, and each time when a part has come; it may be nil.
// The last card is returned, and is Whole: a part that was not known in time says so, and keeps no other from being
// known. The error is that of the REF or the role alone.
func (s *Service) Card(
	ctx context.Context, a hitchpost.Actor, ref string, show func(hitchpost.Card),
) (hitchpost.Card, error) {
	if err := a.Require(hitchpost.Look); err != nil {
		return hitchpost.Card{}, err
	}
	session, err := s.resolve(ctx, a, ref)
	if err != nil {
		return hitchpost.Card{}, err
	}
	if show == nil {
		show = func(hitchpost.Card) {}
	}
	g := s.gatherCard(a, session)
	show(g.card)
	limited, cancel := context.WithTimeout(ctx, cardTime)
	defer cancel()
	parts := make(chan func(*cardGather))
	var wait sync.WaitGroup
	for _, part := range g.parts() {
		wait.Go(func() { part(limited, parts) })
	}
	go func() {
		wait.Wait()
		close(parts)
	}()
	for found := range parts {
		found(g)
		g.conclude()
		show(g.card)
	}
	if err := ctx.Err(); err != nil {
		return g.card, context.Cause(ctx)
	}
	g.card.Whole = true
	show(g.card)
	return g.card, nil
}

// cardGather is a card on its way.
type cardGather struct {
	s     *Service
	actor hitchpost.Actor
	card  hitchpost.Card

	agent bool          // the session runs an agent, beside which no other should work
	own   map[int]bool  // the processes of the tree
	trees chan struct{} // closed when own is known
}

// cardPart finds a part of a card, and hands on what puts it there.
type cardPart func(ctx context.Context, found chan<- func(*cardGather))

// gatherCard is a card of which nothing is known but what memory has.
func (s *Service) gatherCard(a hitchpost.Actor, session hitchpost.Session) *cardGather {
	notYet := hitchpost.Unknown{Why: hitchpost.NotYet}
	g := &cardGather{s: s, actor: a, trees: make(chan struct{})}
	c := &g.card
	c.At, c.Session = time.Now(), session
	_, database, nodes := s.board.all()
	c.Database = database
	c.Process.Node = hitchpost.Node{Name: session.Node}
	for _, n := range nodes {
		if n.Name == session.Node {
			c.Process.Node = n
		}
	}
	c.Process.Alive, c.Process.How = hitchpost.NotCertain, hitchpost.NotYet
	c.Process.Unknown, c.Process.LeftWhy, c.Process.OthersWhy = notYet, notYet, notYet
	c.Repo.Unknown = notYet
	c.Evidence.ScreenWhy, c.Evidence.EventsWhy, c.Evidence.TasksWhy = notYet, notYet, notYet
	c.Check.Unknown = notYet
	c.Advice.Restart.Unknown = notYet
	g.conclude()
	return g
}

// parts are what is looked for beside each other. What is on another machine is not looked for here.
func (g *cardGather) parts() []cardPart {
	stored := []cardPart{g.events, g.tasks, g.check}
	if g.s.here(g.card.Session) != nil {
		return append(stored, g.elsewhere)
	}
	return append(stored, g.process, g.neighbours, g.repository, g.screen, g.restart)
}

// elsewhere tells of a session whose machine this is not.
func (g *cardGather) elsewhere(_ context.Context, found chan<- func(*cardGather)) {
	found <- func(g *cardGather) {
		c, not := &g.card, hitchpost.Unknown{Why: hitchpost.NotHere}
		c.Process.How = "it runs on node " + c.Session.Node
		c.Process.Unknown, c.Process.LeftWhy, c.Process.OthersWhy, c.Repo.Unknown = not, not, not, not
		c.Evidence.ScreenWhy, c.Advice.Restart.Unknown = not, not
	}
}

// conclude puts together what follows from several parts.
func (g *cardGather) conclude() {
	g.card.Check.Stale, g.card.Check.Why = staleness(g.card)
	plan := g.card.Advice.Restart
	g.card.Advice = hitchpost.Advise(standing(g.card, g.agent))
	g.card.Advice.Restart = plan
}

// unknownBecause is err as what a card says of a part.
func unknownBecause(err error) hitchpost.Unknown {
	var e *hitchpost.Error
	switch {
	case err == nil:
		return hitchpost.Unknown{}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return hitchpost.Unknown{Why: hitchpost.TookTooLong}
	case errors.As(err, &e):
		return hitchpost.Unknown{Why: e.Message}
	default:
		return hitchpost.Unknown{Why: "not readable", Detail: err.Error()}
	}
}
