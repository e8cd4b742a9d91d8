package runtime

import (
	"context"
	"slices"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

const (
	// eventPage is how many events are read at once, and held in memory for one who looks at the log.
	eventPage = 500
	// eventReaders is how many of them read at the same time. An event wakes all followers, and they must not take every
	// connection to the database from those who ask for something else.
	eventReaders = 3
	// followAgain is the pause after a failed read of a follower. That ends with a notice too, but not where only the
	// read failed and the listener goes on.
	followAgain = 2 * time.Second
)

// eventBook is what the service keeps of the event log in memory.
type eventBook struct {
	appended *bell         // rings when events were appended
	reads    chan struct{} // holds a token for each read that is under way

	logins, refusals, denials *tally
}

func newEventBook() *eventBook {
	return &eventBook{
		appended: newBell(), reads: make(chan struct{}, eventReaders),
		logins:   newTally(loginsEach, loginsAll),
		refusals: newTally(refusalsEach, refusalsAll),
		denials:  newTally(denialsEach, denialsAll),
	}
}

// Events gives show the events that q chooses and the actor may see, in the order in which they were appended and page
// by page, so that a log of any length needs little memory. It ends with the last one there is, with the error of show,
// or when ctx ends. Logins, refusals and changes of keys are for those who may administer.
func (s *Service) Events(
	ctx context.Context, a hitchpost.Actor, q hitchpost.EventQuery, show func([]hitchpost.Event) error,
) error {
	r, err := s.chosen(ctx, a, q)
	if err == nil && q.Count > 0 {
		r.After, err = s.Store.EventBefore(ctx, r, q.Count, unseen(a))
	}
	if err != nil {
		return err
	}
	for left := newCount(q.Count); ; {
		page, more, err := s.eventPage(ctx, a, &r)
		if err != nil {
			return err
		}
		if page = left.take(page); len(page) > 0 {
			if err := show(page); err != nil {
				return err
			}
		}
		if !more || left.out() {
			return nil
		}
	}
}

// FollowEvents is Events that goes on with what is appended; without Since it begins with what is appended after the
// call. It ends when ctx or the service does, whose cause it returns, or with the error of show. While the database is
// away it waits, and tells away once for each time why; then it goes on where it was: nothing is missed and nothing comes
// twice. It is nil after q.Count of them. A show that takes long holds up nobody.
func (s *Service) FollowEvents(
	ctx context.Context, a hitchpost.Actor, q hitchpost.EventQuery, show func([]hitchpost.Event) error, away func(error),
) error {
	r, err := s.chosen(ctx, a, q)
	if err != nil {
		return err
	}
	last, err := s.Store.LastEvent(ctx) // also where it is not needed: an absent database is an error at first
	if err != nil {
		return err
	}
	if q.Since.IsZero() {
		r.After = last
	}
	f := follower{service: s, away: away}
	for left := newCount(q.Count); ; {
		appended := s.book.appended.next()
		page, more, err := s.eventPage(ctx, a, &r)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case hitchpost.KindOf(err) == hitchpost.UnavailableError:
			f.tell(err)
			err = f.wait(ctx, appended, time.After(followAgain))
		case err == nil:
			f.told = false
			if page = left.take(page); len(page) > 0 {
				err = show(page)
			}
			if err == nil && left.out() {
				return nil
			}
			if err == nil && !more {
				err = f.wait(ctx, appended, nil)
			}
		}
		if err != nil {
			return err
		}
	}
}

// count is how many events are still wanted; negative: all.
type count int

func newCount(n int) count {
	if n <= 0 {
		return -1
	}
	return count(n)
}

// take is as much of page as is wanted.
func (c *count) take(page []hitchpost.Event) []hitchpost.Event {
	if *c >= 0 {
		page = page[:min(len(page), int(*c))]
		*c -= count(len(page))
	}
	return page
}

func (c *count) out() bool { return *c == 0 }

// follower is one who follows the events.
type follower struct {
	service *Service
	told    bool // that the database is away now
	away    func(error)
}

// tell tells once that the database is away.
func (f *follower) tell(why error) {
	if !f.told {
		f.told = true
		f.away(why)
	}
}

// wait waits until there may be more to read. Where the service finds the database away, that is a read that shows
// whether it is: what the service knows is some seconds old.
func (f *follower) wait(ctx context.Context, appended <-chan struct{}, again <-chan time.Time) error {
	s := f.service
	for {
		changed := s.board.next()
		if again == nil && !s.board.databaseOK() {
			again = time.After(followAgain)
		}
		select {
		case <-appended:
			return nil
		case <-again:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.background.Done():
			return context.Cause(s.background)
		case <-changed:
		}
	}
}

// chosen is what q asks the store for.
func (s *Service) chosen(ctx context.Context, a hitchpost.Actor, q hitchpost.EventQuery) (hitchpost.EventRequest, error) {
	r := hitchpost.EventRequest{Since: q.Since, Limit: eventPage}
	if err := a.Require(hitchpost.Look); err != nil {
		return r, err
	}
	if q.Ref == "" {
		return r, nil
	}
	session, err := s.resolve(ctx, a, q.Ref)
	r.Session = session.ID
	return r, err
}

// eventPage reads the next page of r, and moves r behind it. What the actor may not see is left out; more tells whether
// there may be another page.
func (s *Service) eventPage(
	ctx context.Context, a hitchpost.Actor, r *hitchpost.EventRequest,
) (page []hitchpost.Event, more bool, err error) {
	select {
	case s.book.reads <- struct{}{}:
		defer func() { <-s.book.reads }()
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	read, err := s.Store.Events(ctx, *r)
	if err != nil || len(read) == 0 {
		return nil, false, err
	}
	r.After = read[len(read)-1].ID
	more = len(read) == r.Limit
	hidden := unseen(a)
	return slices.DeleteFunc(read, func(e hitchpost.Event) bool { return slices.Contains(hidden, e.Kind) }), more, nil
}

// unseen are the kinds of events that the actor may not see.
func unseen(a hitchpost.Actor) []string {
	if a.May(hitchpost.Administer) {
		return nil
	}
	return []string{store.EventLogin, store.EventRefused, store.EventKeyAdded, store.EventKeyRevoked}
}
