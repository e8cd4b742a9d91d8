package tmux

import (
	"context"
	"errors"
	"strings"

	"github.com/hitchpost/hitchpost"
)

// ErrNoSession is returned where tmux answered healthily that it has no such session.
var ErrNoSession = hitchpost.Errorf(hitchpost.NotFoundError, "tmux has no such session")

// ErrNoServer is returned where it is certain that no tmux server runs.
var ErrNoServer = hitchpost.Errorf(hitchpost.UnavailableError, "no tmux server runs")

// errLost says that the connection to the server ended before the whole answer was in.
var errLost = errors.New("the connection to tmux was lost")

// errEnded says that a client on a PTY ended, or never was attached.
var errEnded = errors.New("the tmux client ended")

// refusal is an error that tmux itself gave, in its words.
type refusal string

func (r refusal) Error() string { return string(r) }

func (r refusal) noTarget() bool {
	return strings.Contains(string(r), "can't find") || strings.Contains(string(r), "no such session")
}

// told turns what went wrong with op into an error of the kinds that callers know.
func told(op string, err error) error {
	var known *hitchpost.Error
	var r refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.As(err, &r) && r.noTarget():
		return ErrNoSession
	case errors.As(err, &r) && strings.Contains(string(r), "duplicate session"):
		return hitchpost.Errorf(hitchpost.ConflictError, "tmux runs this session already")
	case errors.Is(err, context.DeadlineExceeded):
		return &hitchpost.Error{Kind: hitchpost.UnavailableError, Message: "tmux does not answer (" + op + ")",
			Hint: "it may be stopped or overloaded; its sessions are kept", Cause: err}
	case errors.Is(err, context.Canceled):
		return err
	default:
		return &hitchpost.Error{Kind: hitchpost.UnavailableError, Message: "tmux: " + op + ": " + err.Error(), Cause: err}
	}
}
