package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
	"github.com/hitchpost/hitchpost/store/storetest"
)

var viewer = hitchpost.Actor{Name: "eve", Role: hitchpost.Viewer, Fingerprint: "SHA256:eve", Remote: "192.0.2.7:4711"}

// log is all events that the actor may see.
func (r *rig) log(a hitchpost.Actor, q hitchpost.EventQuery) []hitchpost.Event {
	r.t.Helper()
	var all []hitchpost.Event
	must(r.t, r.Events(context.Background(), a, q, func(page []hitchpost.Event) error {
		if len(page) == 0 || len(page) > 500 {
			r.t.Errorf("a page of %d events", len(page))
		}
		all = append(all, page...)
		return nil
	}))
	return all
}

// follower follows the events and keeps them.
type follower struct {
	mu   sync.Mutex
	seen []hitchpost.Event
	away int
	stop context.CancelCauseFunc
	done chan error
}

var errEnough = errors.New("enough")

// follow starts a follower that begins with what was appended after from. It ends with the test at the latest.
func (r *rig) follow(a hitchpost.Actor, ref string, from time.Time) *follower {
	r.t.Helper()
	ctx, stop := context.WithCancelCause(context.Background())
	f := &follower{stop: stop, done: make(chan error, 1)}
	go func() {
		f.done <- r.FollowEvents(ctx, a, hitchpost.EventQuery{Ref: ref, Since: from}, func(page []hitchpost.Event) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.seen = append(f.seen, page...)
			return nil
		}, func(error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.away++
		})
	}()
	r.t.Cleanup(func() { stop(errEnough) })
	return f
}

func (f *follower) events() []hitchpost.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.seen)
}

// sees waits until the follower has seen an event.
func (f *follower) sees(t *testing.T, what string, ok func(hitchpost.Event) bool) {
	t.Helper()
	eventually(t, func() bool { return slices.ContainsFunc(f.events(), ok) }, func() string {
		seen := f.events()
		return fmt.Sprintf("%s in %d events, the last are %+v", what, len(seen), seen[max(len(seen)-3, 0):])
	})
}

// ends waits for the end of the follower.
func (f *follower) ends(t *testing.T, want error) {
	t.Helper()
	select {
	case err := <-f.done:
		if !errors.Is(err, want) {
			t.Errorf("ended with %v, want %v", err, want)
		}
	case <-time.After(waitLimit):
		t.Error("does not end")
	}
}

// append appends an event as a login is.
func (r *rig) append(s *store.Store, kind, reason string) {
	r.t.Helper()
	if _, err := s.AppendEvent(context.Background(), hitchpost.Event{Kind: kind, Reason: reason}, store.By{}); err != nil {
		r.t.Error(err)
	}
}

// Several writers append, of this service and of another, while the listener is cut off again and again: a follower
// gets each event once and in order.
func TestFollowersMissNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other, err := store.Open(context.Background(), r.url, r.Log)
	must(t, err)
	t.Cleanup(other.Close)
	begin := time.Now().Add(-time.Hour)
	all, late := r.follow(admin, "", begin), r.follow(admin, "", time.Time{})
	eventually(t, func() bool { // it begins with what comes after it has begun, which nobody is told of
		r.append(r.store, "probe", "begun?")
		return len(late.events()) > 0
	}, func() string { return "nothing followed" })
	stuck := make(chan struct{})
	t.Cleanup(sync.OnceFunc(func() { close(stuck) }))
	go func() { // one that takes nothing
		_ = r.FollowEvents(context.Background(), admin, hitchpost.EventQuery{Since: begin}, func([]hitchpost.Event) error {
			<-stuck
			return errEnough
		}, func(error) {})
	}()
	const writers, each = 6, 60
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				r.append([]*store.Store{r.store, other}[w%2], "noted", fmt.Sprint(w, " ", n))
				if w == 0 && n%20 == 10 {
					r.cutListener()
				}
			}
		})
	}
	wg.Wait()
	r.append(r.store, "noted", "last")
	last := func(e hitchpost.Event) bool { return e.Reason == "last" }
	all.sees(t, "the last", last)
	late.sees(t, "the last", last)
	var id int64
	seen := map[string]int{}
	for _, e := range all.events() {
		if e.ID <= id {
			t.Errorf("event %d after %d", e.ID, id)
		}
		id = e.ID
		if e.Kind == "noted" {
			seen[e.Reason]++
		}
	}
	if len(seen) != writers*each+1 || len(seen) != count(all.events(), "noted") {
		t.Errorf("%d different events of %d seen, want %d", len(seen), count(all.events(), "noted"), writers*each+1)
	}
	if got := r.log(admin, hitchpost.EventQuery{}); !slices.Equal(got, all.events()) {
		t.Errorf("the log has %d events, the follower saw %d", len(got), len(all.events()))
	}
	all.stop(errEnough)
	all.ends(t, errEnough)
	r.down()
	kind(t, <-late.done, hitchpost.UnavailableError) // the service ends it
}

// cutListener ends the connection on which the service listens.
func (r *rig) cutListener() {
	r.t.Helper()
	r.exec(`select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and query like 'listen %'`)
}

// exec runs a statement in the database.
func (r *rig) exec(sql string) {
	r.t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, r.url)
	if err != nil {
		r.t.Error(err)
		return
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		r.t.Errorf("%s: %v", sql, err)
	}
}

func count(events []hitchpost.Event, kind string) (n int) {
	for _, e := range events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// The database is killed under a follower: it is told so once, and goes on where it was. What happened meanwhile is
// written down later, at its own time.
func TestFollowerOutlivesTheDatabase(t *testing.T) {
	t.Parallel()
	cluster := storetest.NewCluster(t)
	schema, err := store.Open(context.Background(), cluster.URL(), slog.New(slog.NewTextHandler(logTo{t}, nil)))
	must(t, err)
	must(t, schema.Migrate(context.Background()))
	schema.Close()
	r := newRigOn(t, cluster.URL())
	f := r.follow(admin, "", time.Now().Add(-time.Hour))
	for outage := range 2 {
		name := fmt.Sprint("before ", outage)
		r.append(r.store, "noted", name)
		f.sees(t, name, func(e hitchpost.Event) bool { return e.Reason == name })
		must(t, cluster.Kill())
		at := time.Now()
		r.NoteLogin(hitchpost.Actor{Name: "ada", Fingerprint: fmt.Sprint("SHA256:", outage), Remote: "[2001:db8::1]:22", Login: name})
		eventually(t, func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.away == outage+1 }, func() string { return "told" })
		back := time.Now()
		must(t, cluster.Ensure(context.Background()))
		f.sees(t, "the login", func(e hitchpost.Event) bool {
			return e.Kind == store.EventLogin && e.Reason == fmt.Sprintf("from 2001:db8::1 as %q", name) &&
				e.At.Before(back) && !e.At.Before(at.Truncate(time.Microsecond))
		})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away != 2 || count(f.seen, store.EventLogin) != 2 || count(f.seen, "noted") != 2 {
		t.Errorf("told of %d outages, saw %+v", f.away, f.seen)
	}
	err = r.FollowEvents(context.Background(), admin, hitchpost.EventQuery{Ref: "none"}, nil, nil)
	kind(t, err, hitchpost.NotFoundError)
}

// What strangers and scripts do again and again is counted, and nothing that they chose is written as it is.
func TestLoginsAndRefusalsAreCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	came := viewer
	came.Login = "\x1b[31mroot\u202e\xff" + strings.Repeat("x", 1000)
	for range 50 {
		r.NoteLogin(came)
		r.NoteDenial(came, "key ls")
	}
	came.Remote = "192.0.2.8:99"
	r.NoteLogin(came)
	for i := range 300 {
		r.NoteRefusal(hitchpost.Refusal{
			Remote: "192.0.2.9", Network: "192.0.2.9", Login: "x: admitted", Keys: 7, Reason: "no\x1b[2J",
			Fingerprints: []string{"SHA256:a", "SHA256:b", "SHA256:c", "SHA256:d"},
		})
		r.NoteRefusal(hitchpost.Refusal{Remote: "r", Network: fmt.Sprint("n", i), Fingerprints: []string{"SHA256:x"}, Keys: 1})
	}
	written := func() int {
		all := r.log(admin, hitchpost.EventQuery{})
		return count(all, store.EventLogin) + count(all, store.EventRefused)
	}
	eventually(t, func() bool { return written() == 2+1+100 }, func() string { return fmt.Sprint(written(), " events") })
	r.down() // ends the minute
	r.up()
	var logins, refusals []hitchpost.Event
	for _, e := range r.log(admin, hitchpost.EventQuery{}) {
		if strings.ContainsAny(e.Reason, "\x1b\u202e") || len(e.Reason) > 500 {
			t.Errorf("reason %q", e.Reason)
		}
		switch e.Kind {
		case store.EventLogin:
			logins = append(logins, e)
		case store.EventRefused:
			refusals = append(refusals, e)
		}
	}
	if len(logins) != 3 || logins[0].Fingerprint != "SHA256:eve" || logins[0].Actor != "eve" ||
		!strings.HasPrefix(logins[0].Reason, `from 192.0.2.7 as "\x1b[31mroot\u202e`) ||
		!strings.HasSuffix(logins[2].Reason, ", 49 more within a minute") {
		t.Errorf("logins %+v", logins)
	}
	rows := map[string]int{}
	for _, e := range refusals {
		reason, _, _ := strings.Cut(e.Reason, ": no")
		if e.Source != hitchpost.FromPerson || e.Fingerprint == "SHA256:x" && e.Reason != `from r as "": : SHA256:x` {
			t.Errorf("%+v", e)
		}
		if strings.Contains(reason, "key ls") {
			reason = e.Actor + e.Reason[strings.Index(e.Reason, ": the role"):]
		}
		rows[reason]++
	}
	for reason, want := range map[string]int{
		`from 192.0.2.9 as "x: admitted"`: 10, `from r as "": : SHA256:x`: 90, "500 more logins refused within a minute": 1,
		`eve: the role viewer may not do "key ls"`:                          1,
		`eve: the role viewer may not do "key ls", 49 more within a minute`: 1,
	} {
		if rows[reason] != want {
			t.Errorf("%d rows %q, want %d", rows[reason], reason, want)
		}
	}
	if len(rows) != 5 {
		t.Errorf("rows %v", rows)
	}
	if got := r.log(viewer, hitchpost.EventQuery{}); count(got, store.EventLogin)+count(got, store.EventRefused) != 0 {
		t.Errorf("a viewer sees %+v", got)
	}
}

// The life of a session, closed at the end, as each role sees it: by its handle while it is open, by its id for ever.
func TestEventsOfASession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	begin := time.Now()
	s := r.start("job", "cat")
	other := r.start("other", "cat")
	f := r.follow(viewer, "job", begin)
	_, err := r.Stop(ctx, admin, s.ID, hitchpost.StopRequest{})
	must(t, err)
	_, err = r.CloseSession(ctx, admin, s.ID)
	must(t, err)
	kinds := func(list []hitchpost.Event) (out string) {
		for _, e := range list {
			if e.SessionID != s.ID || e.Handle != "job" || e.Source == "" || e.Reason == "" {
				t.Errorf("%+v", e)
			}
			out += e.Kind + " "
		}
		return out
	}
	f.sees(t, "its end", func(e hitchpost.Event) bool { return e.Kind == string(hitchpost.ChangeClosed) })
	const want = "created started stop_asked exited_badly closed "
	if got := kinds(r.log(viewer, hitchpost.EventQuery{Ref: s.ID})); got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	if got := kinds(f.events()); got != want {
		t.Errorf("followed %s, want %s", got, want)
	}
	if got := r.log(viewer, hitchpost.EventQuery{Ref: other.ID, Since: time.Now().Add(time.Hour)}); len(got) != 0 {
		t.Errorf("events of the future: %+v", got)
	}
	err = r.Events(ctx, viewer, hitchpost.EventQuery{Ref: "job"}, nil)
	kind(t, err, hitchpost.NotFoundError)
	err = r.Events(ctx, hitchpost.Actor{}, hitchpost.EventQuery{}, nil)
	kind(t, err, hitchpost.DeniedError)
}

// A log of many pages comes whole.
func TestEventsByPage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.exec(`insert into terminal_events (change, source, reason)
		select case when n % 3 = 0 then 'noted' else 'login' end, 'person', n::text from generate_series(1, 1800) n`)
	for actor, want := range map[*hitchpost.Actor]int{&admin: 1800, &viewer: 600} {
		got := r.log(*actor, hitchpost.EventQuery{})
		if n := count(got, "noted") + count(got, "login"); n != want {
			t.Errorf("%s sees %d events, want %d", actor.Role, n, want)
		}
	}
	for _, c := range []struct {
		actor       hitchpost.Actor
		count, want int
		first       string
	}{{admin, 501, 501, "1300"}, {viewer, 501, 501, "300"}, {viewer, 5000, 600, "3"}} {
		got := r.log(c.actor, hitchpost.EventQuery{Count: c.count, Since: time.Now().Add(-time.Hour)})
		got = slices.DeleteFunc(got, func(e hitchpost.Event) bool { return e.Kind == store.EventOnline })
		if len(got) != c.want || got[0].Reason != c.first || got[len(got)-1].Reason != "1800" {
			t.Errorf("%s: of the last %d: %d, from %q to %q", c.actor.Role, c.count, len(got), got[0].Reason, got[len(got)-1].Reason)
		}
	}
	err := r.Events(context.Background(), admin, hitchpost.EventQuery{}, func([]hitchpost.Event) error { return errEnough })
	if !errors.Is(err, errEnough) {
		t.Error(err)
	}
}
