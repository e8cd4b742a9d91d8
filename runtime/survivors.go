package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/host"
	"github.com/hitchpost/hitchpost/runtime/launch"
	"github.com/hitchpost/hitchpost/runtime/tmux"
)

const (
	// dyingTime is how long a Restart waits for processes of an earlier run that are about to end, as those are whose
	// terminal has just been taken away.
	dyingTime = time.Second
	// dyingLook is the pause between two looks at them.
	dyingLook = 100 * time.Millisecond
	// survivorsNamed is how many processes a message names.
	survivorsNamed = 3
)

// survivorsCheck is nil where no process of an earlier run lives on: one that left its terminal (setsid, nohup, a
// daemon) and so outlived tmux and wrapper. Two processes at one conversation, port or lock file do harm that nobody
// sees coming. With force it is nil in any case. It is nil too for a shell that a person left: what they had running on
// behind it was put there on purpose. reason is what the restart's event says.
func (s *Service) survivorsCheck(ctx context.Context, session hitchpost.Session, force bool) (reason string, err error) {
	if session.Kind == hitchpost.Shell && session.Exit() != nil {
		return "restart asked", nil
	}
	left, err := s.survivors(ctx, session.ID, force)
	switch {
	case err == nil && len(left) == 0:
		return "restart asked", nil
	case err == nil && force:
		return "restart forced beside " + named(left), nil
	case force:
		return "restart forced, without a look at what was left", nil
	case err != nil:
		return "", err
	case len(left) == 1:
		return "", hitchpost.Errorf(hitchpost.ConflictError, "%s left a process behind: %s", session.Handle, named(left)).
			For("force").Hinted("end it, or start beside it")
	default:
		return "", hitchpost.Errorf(hitchpost.ConflictError, "%s left %d processes behind: %s", session.Handle, len(left),
			named(left)).For("force").Hinted("end them, or start beside them")
	}
}

// leftBehind names, as the end of a reason, what the agent of a session that has just ended left running: the tools of
// one that was killed run on, each in a session of its own. It is empty where that is nothing, or not known.
func (s *Service) leftBehind(ctx context.Context, session hitchpost.Session) string {
	if session.Agent == nil {
		return ""
	}
	left, err := s.survivors(ctx, session.ID, false)
	if err != nil || len(left) == 0 {
		return ""
	}
	return "; left behind: " + named(left)
}

// survivors are the processes that carry the mark of a session without a process: of its own that is, so every one is
// of an earlier run. Those about to end are waited for, unless once says not to. It runs beside the caller, who waits
// for a short time at most.
func (s *Service) survivors(ctx context.Context, id string, once bool) ([]host.Process, error) {
	for end := time.Now().Add(dyingTime); ; {
		left, err := ask(ctx, s.procs, func() ([]host.Process, error) { return s.marked(id) })
		if err != nil || len(left) == 0 || once || time.Now().After(end) {
			return left, err
		}
		select {
		case <-time.After(dyingLook):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// marked is one look at the processes with a session's mark. Those of tasks that were started for the session carry it
// too, and are not the session's run. Neither are the tmux server and the first process of each pane, our wrappers;
// none is given a mark, but they would live as long as the server.
func (s *Service) marked(id string) ([]host.Process, error) {
	ctx, cancel := context.WithTimeout(s.background, callLimit)
	defer cancel()
	found, err := host.Marked(ctx, host.Mark{Name: launch.Mark, Unless: launch.TaskMark}, []string{id})
	if err != nil || len(found[id]) == 0 {
		return nil, err
	}
	server, err := s.Tmux.Pid(ctx)
	switch {
	case errors.Is(err, tmux.ErrNoServer):
		return found[id], nil
	case err != nil:
		return nil, err
	}
	return slices.DeleteFunc(found[id], func(p host.Process) bool { return p.Pid == server || p.Parent == server }), nil
}

// named lists processes for people.
func named(left []host.Process) string {
	var words []string
	for i, p := range left {
		if i == survivorsNamed {
			words = append(words, fmt.Sprintf("%d more", len(left)-i))
			break
		}
		since := ""
		if !p.Since.IsZero() {
			since = ", since " + p.Since.Format("2006-01-02 15:04:05Z")
		}
		words = append(words, fmt.Sprintf("%s (process %d%s)", hitchpost.OneLine(p.Program), p.Pid, since))
	}
	return strings.Join(words, ", ")
}

func errProcesses() error {
	return hitchpost.Errorf(hitchpost.UnavailableError, "the processes of this machine could not be looked at in time").
		For("force").Hinted("try again, or start without that look")
}
