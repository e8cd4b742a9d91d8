package sshd

import (
	"context"
	"errors"
	"slices"

	charm "charm.land/ssh"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd/command"
)

// route is the innermost handler: it decides by what the client asked for which stage a session goes to.
func route(cs charm.Session) {
	// Middleware may have wrapped the session; the context still knows ours.
	if s, ok := cs.Context().Value(charm.ContextKeySession).(*session); ok {
		_ = cs.Exit(s.route())
	}
}

// eraseLine empties the line that the cursor is on: ECMA-48, EL.
const eraseLine = "\r\x1b[K"

// route runs the session's stage and returns the exit status.
func (s *session) route() int {
	if s.terminal && s.reconnects() {
		_, _ = s.Write([]byte(eraseLine)) // hitchpost connect has one that tells what it waits for
	}
	if s.id.refusal != nil {
		return s.fail(s.id.refusal)
	}
	words, err := command.Split(s.command)
	switch {
	case err != nil && !s.terminal:
		return command.Refuse(s.words(s.ctx), s.command, err)
	case err != nil:
		return command.Refuse(&cooked{w: s.words(s.ctx)}, s.command, err)
	case !s.terminal:
		// Without words too: a script that is piped in is not run, since what is on stdin is nobody's command.
		return s.runPlain(words)
	case len(words) == 0:
		return s.shell(s.ctx)
	case len(words) == 1 && words[0] != "" && words[0][0] != '-' && !slices.Contains(command.Verbs(), words[0]):
		return s.direct(s.ctx, hitchpost.AttachRequest{Ref: words[0]})
	default:
		return s.runTyped(words)
	}
}

// shell is a terminal without a command: the session that the login name or the client's past means, else the picker.
func (s *session) shell(ctx context.Context) int {
	if err := s.terminalNow().CheckDrawing(); err != nil {
		return s.fail(err)
	}
	if id := s.named(s.User()); id != "" {
		return s.direct(ctx, hitchpost.AttachRequest{Ref: id})
	}
	if s.reconnects() {
		return s.resume(ctx)
	}
	return s.pick(ctx, "")
}

// named is the id of the open session whose handle is the login name, or empty: phone apps have a field for a user
// name where they have none for a command.
func (s *session) named(login string) string {
	sessions, _ := s.conn.srv.cfg.Service.Snapshot()
	for _, known := range sessions {
		if login != "" && known.Handle == login {
			return known.ID
		}
	}
	return ""
}

// fail tells the person what is wrong and returns the exit status for it.
func (s *session) fail(err error) int {
	s.farewell(errorLine(err))
	return hitchpost.KindOf(err).ExitStatus()
}

// ended is fail for a stage that ended because ctx did: it says why where there is somebody to say it to.
func (s *session) ended(ctx context.Context) int {
	if why := reason(ctx); why != nil {
		return s.fail(why)
	}
	return hitchpost.UnavailableError.ExitStatus()
}

// reason is why the server ended ctx, or nil where it did not: then the client is gone.
func reason(ctx context.Context) *hitchpost.Error {
	var why *hitchpost.Error
	if errors.As(context.Cause(ctx), &why) {
		return why
	}
	return nil
}

// terminalNow is the client's terminal with its size as it is now.
func (s *session) terminalNow() hitchpost.Terminal {
	return terminalOf(s.term, s.sizes.latest(), &s.env)
}
