package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/tmux"
	"github.com/hitchpost/hitchpost/store"
)

// Send types into a live session, all of it or nothing: what others send comes before or after it. It then looks at the
// terminal for up to sightLimit, and tells whether it saw there what was typed. Errors say that nothing was typed, those
// of kind UnconfirmedError apart, where tmux did not say whether it typed.
func (s *Service) Send(
	ctx context.Context, a hitchpost.Actor, ref string, r hitchpost.SendRequest,
) (hitchpost.SendResult, error) {
	session, err := s.toDrive(ctx, a, ref)
	if err != nil {
		return hitchpost.SendResult{}, err
	}
	if err := checkSent(r); err != nil {
		return hitchpost.SendResult{}, err
	}
	if !session.State.Live() {
		return hitchpost.SendResult{}, notLive(session)
	}
	if err := s.Tmux.CheckKeys(ctx, r.Keys); err != nil {
		return hitchpost.SendResult{}, s.untyped(session, err)
	}
	// One after the other, or one would take what another typed for its own.
	release, err := s.typing.take(ctx, session.ID)
	if err != nil {
		return hitchpost.SendResult{}, err
	}
	defer release()
	before, err := s.Tmux.Look(ctx, session.ID, sightRows)
	if err == nil && before.Dead {
		err = tmux.ErrNoSession
	}
	if err != nil {
		return hitchpost.SendResult{}, s.untyped(session, err)
	}
	// A client that leaves meanwhile does not stop it half-way.
	err = s.typeInto(context.WithoutCancel(ctx), session, before, r)
	if err != nil && hitchpost.KindOf(err) != hitchpost.UnconfirmedError {
		return hitchpost.SendResult{}, s.untyped(session, err)
	}
	s.noteSent(a, session, r)
	if err != nil {
		return hitchpost.SendResult{}, err
	}
	seen := s.watchSent(ctx, session, sight{before: before, tail: tailOf(r.Text)})
	s.awaitAnswered(ctx, session, r)
	return hitchpost.SendResult{Session: session, Seen: seen}, nil
}

// checkSent is nil for what can be typed. Control characters are keys, which have names: in a text they could end the
// brackets of a paste (ESC [ 2 0 1 ~) and have the rest of it taken for what a person typed.
func checkSent(r hitchpost.SendRequest) error {
	bad := func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\r' && c != '\t' }
	switch {
	case r.Text == "" && len(r.Keys) == 0:
		return hitchpost.Errorf(hitchpost.UsageError, "there is nothing to send").Hinted("give a text or keys")
	case len(r.Text) > hitchpost.MaxSent:
		return hitchpost.Errorf(hitchpost.UsageError, "the text is longer than %d bytes", hitchpost.MaxSent).
			Hinted("send it in parts, or put it into a file")
	case !utf8.ValidString(r.Text):
		return hitchpost.Errorf(hitchpost.UsageError, "the text is not UTF-8").Hinted("send text")
	case strings.ContainsFunc(r.Text, bad):
		return hitchpost.Errorf(hitchpost.UsageError, "the text holds control characters other than line ends and tabs").
			Hinted("send keys by their names, such as Escape or C-c")
	}
	return nil
}

// notLive tells that a session has no process to type into.
func notLive(session hitchpost.Session) error {
	e := hitchpost.Errorf(hitchpost.ConflictError, "%s is %s, there is nothing to type into", session.Handle, session.State)
	if session.State == hitchpost.Starting {
		return e.Hinted("try again in a moment")
	}
	return e.Hinted("restart it for a fresh process")
}

// untyped is why nothing was typed. That tmux does not know the session any more, the store is about to know too.
func (s *Service) untyped(session hitchpost.Session, err error) error {
	if errors.Is(err, tmux.ErrNoSession) || errors.Is(err, tmux.ErrNoServer) {
		s.Wake()
		return gone(session)
	}
	return err
}

// noteSent has the ledger write down that the actor typed, but not what: it may be a secret.
func (s *Service) noteSent(a hitchpost.Actor, session hitchpost.Session, r hitchpost.SendRequest) {
	event := hitchpost.Event{
		SessionID: session.ID, At: time.Now(), Kind: store.EventSent,
		Reason: fmt.Sprintf("bytes: %d, keys: %d", len(r.Text), len(r.Keys)),
	}
	s.ledger.add("send", func(ctx context.Context) error {
		_, err := s.Store.AppendEvent(ctx, event, as(a, hitchpost.FromPerson, ""))
		return err
	})
}

const (
	sightLimit = 2 * time.Second
	// sightPause is the first pause between two looks; each further one is twice as long.
	sightPause = 4 * time.Millisecond
)

// watchSent looks at the terminal until what was typed is seen there, in vain after sightLimit.
func (s *Service) watchSent(ctx context.Context, session hitchpost.Session, look sight) bool {
	until := time.Now().Add(sightLimit)
	for pause := sightPause; ; pause *= 2 {
		now, err := s.Tmux.Look(ctx, session.ID, sightRows)
		switch {
		case errors.Is(err, tmux.ErrNoSession):
			s.Wake()
			return s.seenAtTheEnd(ctx, session, look, until)
		case err != nil:
			return false
		case look.seen(now):
			return true
		case now.Dead || time.Now().After(until): // the dead show nothing new
			return false
		}
		select {
		case <-time.After(min(pause, time.Until(until))):
		case <-ctx.Done():
			return false
		}
	}
}

// seenAtTheEnd looks for what was typed in the last screen of a session that has ended since, as after "exit".
func (s *Service) seenAtTheEnd(ctx context.Context, session hitchpost.Session, look sight, until time.Time) bool {
	if look.tail == "" {
		return true
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if _, err := s.await(ctx, session, ended); err != nil {
		return false
	}
	last, err := readEvidence(s.folder.evidence(session.ID))
	if err != nil || last.Run != session.Restarts {
		return false
	}
	return look.countIn(ansi.Strip(string(last.Screen))) > look.count(look.before)
}
