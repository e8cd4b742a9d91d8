package runtime

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

// What is written down of those who come, for each minute. A script that runs one command after another is told of in
// two events a minute, the first login and how many followed; strangers who try keys fill no more than a hundred lines.
const (
	loginsEach, loginsAll     = 1, 600  // of one key from one address
	refusalsEach, refusalsAll = 10, 100 // of one network
	denialsEach, denialsAll   = 1, 100  // of one key and one verb
)

// The most that is written down of what a stranger chose.
const (
	shownName   = 64 // characters
	shownReason = 200
	shownKeys   = 4
)

// NoteLogin has the ledger write down that the actor came in. It never blocks. Of those that follow within a minute, by
// the same key and from the same address, it writes down how many they were.
func (s *Service) NoteLogin(a hitchpost.Actor) {
	host := hostOf(a.Remote)
	e := hitchpost.Event{
		Kind: store.EventLogin, At: time.Now(), Actor: a.Name, Fingerprint: a.Fingerprint, Source: hitchpost.FromPerson,
		Reason: from(host, a.Login),
	}
	if s.book.logins.admit(a.Fingerprint+" "+host, e) {
		s.writeLogin(e)
	}
}

func (s *Service) writeLogin(e hitchpost.Event) {
	s.ledger.add("login", func(ctx context.Context) error {
		used := s.Store.KeyUsed(ctx, e.Fingerprint, e.At)
		if hitchpost.KindOf(used) == hitchpost.UnavailableError {
			return used
		}
		_, err := s.Store.AppendEvent(ctx, e, store.By{})
		return errors.Join(used, err)
	})
}

// NoteRefusal has the ledger write down that somebody was not let in. It never blocks, and bounds what it writes.
func (s *Service) NoteRefusal(r hitchpost.Refusal) {
	e := hitchpost.Event{
		Kind: store.EventRefused, At: time.Now(), Actor: r.Actor, Source: hitchpost.FromPerson,
		Reason: from(r.Remote, r.Login) + ": " + hitchpost.OneLine(bounded(r.Reason, shownReason)) + tried(r),
	}
	if len(r.Fingerprints) == 1 && r.Keys == 1 {
		e.Fingerprint = r.Fingerprints[0]
	}
	if s.book.refusals.admit(r.Network, e) {
		s.writeRefusal(e)
	}
}

func (s *Service) writeRefusal(e hitchpost.Event) {
	s.ledger.addMinor("refusal", func(ctx context.Context) error {
		_, err := s.Store.AppendEvent(ctx, e, store.By{})
		return err
	})
}

// NoteDenial has the ledger write down that the actor's role does not allow what they asked for, such as a verb. It
// never blocks, and bounds what it writes.
func (s *Service) NoteDenial(a hitchpost.Actor, what string) {
	e := hitchpost.Event{
		Kind: store.EventRefused, At: time.Now(), Actor: a.Name, Fingerprint: a.Fingerprint, Source: hitchpost.FromPerson,
		Reason: fmt.Sprintf("%s: the role %s may not do %q", from(hostOf(a.Remote), a.Login), a.Role, bounded(what, shownName)),
	}
	if s.book.denials.admit(a.Fingerprint+" "+what, e) {
		s.writeRefusal(e)
	}
}

// comersLoop tells each minute what was left out, and once more when ctx ends.
func (s *Service) comersLoop(ctx context.Context) error {
	t := time.NewTicker(time.Minute)
	defer t.Stop()
	for ctx.Err() == nil {
		select {
		case <-t.C:
		case <-ctx.Done():
		}
		s.tellMore()
	}
	return nil
}

func (s *Service) tellMore() {
	left, rest := s.book.logins.turn()
	for _, c := range left {
		s.writeLogin(c.event())
	}
	if rest > 0 {
		s.ledger.addMinor("logins", func(ctx context.Context) error {
			_, err := s.Store.AppendEvent(ctx, more(store.EventLogin, rest, "logins"), store.By{})
			return err
		})
	}
	left, rest = s.book.denials.turn()
	for _, c := range left {
		s.writeRefusal(c.event())
	}
	if rest > 0 {
		s.writeRefusal(more(store.EventRefused, rest, "commands refused"))
	}
	left, rest = s.book.refusals.turn()
	for _, c := range left {
		rest += c.more
	}
	if rest > 0 {
		s.writeRefusal(more(store.EventRefused, rest, "logins refused"))
	}
}

// event tells how many of one origin were left out.
func (c counted) event() hitchpost.Event {
	e := c.first
	e.At = c.last
	e.Reason += fmt.Sprintf(", %d more within a minute", c.more)
	return e
}

// more tells how many of all were left out.
func more(kind string, n int, what string) hitchpost.Event {
	return hitchpost.Event{
		Kind: kind, At: time.Now(), Source: hitchpost.FromPerson, Reason: fmt.Sprintf("%d more %s within a minute", n, what),
	}
}

// from is where somebody comes from and as whom. The name is quoted, so that it cannot be taken for our words, and what
// would act on a terminal is escaped in it.
func from(host, login string) string {
	return fmt.Sprintf("from %s as %q", host, bounded(login, shownName))
}

// tried names the keys of a refusal.
func tried(r hitchpost.Refusal) string {
	shown := r.Fingerprints[:min(len(r.Fingerprints), shownKeys)]
	if len(shown) == 0 {
		return ""
	}
	text := ": " + strings.Join(shown, ", ")
	if n := r.Keys - len(shown); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// bounded cuts text to so many characters.
func bounded(text string, most int) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}

// hostOf is the address of a client without its port.
func hostOf(remote string) string {
	if host, _, err := net.SplitHostPort(remote); err == nil {
		return host
	}
	return remote
}
