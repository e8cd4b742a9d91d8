package runtime

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
)

// claims are the working trees in which an agent is being started, so that of many that come at the same moment each sees
// what the one before has made. They hold for this service: one that serves the same node beside it has its own.
type claims struct {
	mu sync.Mutex
	of map[string]chan struct{} // by tree; closed when it is free again
}

func newClaims() *claims { return &claims{of: map[string]chan struct{}{}} }

// take waits until nobody else has the tree, and gives it to the caller until release is called.
func (c *claims) take(ctx context.Context, tree string) (release func(), err error) {
	for {
		c.mu.Lock()
		held := c.of[tree]
		if held == nil {
			mine := make(chan struct{})
			c.of[tree] = mine
			c.mu.Unlock()
			return sync.OnceFunc(func() {
				c.mu.Lock()
				defer c.mu.Unlock()
				delete(c.of, tree)
				close(mine)
			}), nil
		}
		c.mu.Unlock()
		select {
		case <-held:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// claimTime is how long the start of an agent waits for others in the same tree, each of which takes a second at most
// while all goes well.
const claimTime = 20 * time.Second

// guardTime is how long a start waits for the look at who works in its tree. A look takes some ten milliseconds of a
// core; a machine on which it takes seconds is one that other agents keep busy.
const guardTime = 5 * time.Second

// claim is the right to start something in a working tree. That of what is no agent holds nobody back.
type claim struct {
	tree    string
	agent   bool
	release func() // to be called once it is up, or not to come up; again does no harm
}

// claimFor waits until the program of a session may be started in its directory.
func (s *Service) claimFor(ctx context.Context, session hitchpost.Session, p program) (claim, error) {
	if agentName(session.Kind, p.argv, p.extra) == "" {
		return claim{release: func() {}}, nil
	}
	tree, err := ask(ctx, s.disk, func() (string, error) { return treeTops{}.of(s.background, session.Cwd), nil })
	if err != nil {
		return claim{}, err
	}
	limited, cancel := context.WithTimeout(ctx, claimTime)
	defer cancel()
	release, err := s.claims.take(limited, tree)
	switch {
	case err == nil:
		return claim{tree, true, release}, nil
	case ctx.Err() != nil:
		return claim{}, context.Cause(ctx)
	default:
		return claim{}, hitchpost.Errorf(hitchpost.UnavailableError, "other starts in %q take too long", tree).Hinted("try again")
	}
}

// guard is nil where no other agent is at work in the claim's tree: two that edit the same files undo each other's work
// and are both surprised. With force it is nil in any case. It returns the others, and what an event says of them.
func (s *Service) guard(ctx context.Context, c claim, force bool) (others []hitchpost.OtherProcess, say string, err error) {
	if !c.agent {
		return nil, "", nil
	}
	others, err = askFor(ctx, s.procs, guardTime, func() ([]hitchpost.OtherProcess, error) {
		limited, cancel := context.WithTimeout(s.background, callLimit)
		defer cancel()
		all, err := s.workers(limited)
		var in []hitchpost.OtherProcess
		for _, w := range all {
			if w.tree == c.tree && c.tree != "" {
				in = append(in, w.OtherProcess)
			}
		}
		if len(in) > 0 {
			err = nil // there are these, at least
		}
		return in, err
	})
	switch {
	case err == nil && len(others) == 0:
		return nil, "", nil
	case err == nil && force:
		return others, "beside " + hitchpost.NameAgents(others), nil
	case force:
		return nil, "without a look at who works there", nil
	case err != nil:
		return nil, "", unlooked(err)
	}
	return nil, "", hitchpost.Errorf(hitchpost.ConflictError, "another agent is at work in %q: %s", c.tree,
		hitchpost.NameAgents(others)).For("force").
		Hinted("go on there or end it, work in a worktree of your own, or start beside it")
}

// unlooked makes err, which kept the processes from being looked at, one that force overrides.
func unlooked(err error) error {
	var e *hitchpost.Error
	if errors.As(err, &e) {
		return err
	}
	return hitchpost.Errorf(hitchpost.UnavailableError, "the processes of this machine could not be looked at: %w", err).
		For("force").Hinted("try again, or start without that look")
}
