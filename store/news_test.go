package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

// waits is news of an agent that needs a person.
func waits(reason string, since time.Time) store.AgentNews {
	return store.AgentNews{Agent: knownAgent(), Waits: new(true), Reason: reason, Source: hitchpost.FromHook, Since: since}
}

// works is news of one that does not.
func works(reason string) store.AgentNews {
	return store.AgentNews{Agent: knownAgent(), Waits: new(false), Reason: reason, Source: hitchpost.FromRegistry}
}

// An agent waits since its own source says so, for one reason and then another, and each is told once.
func TestAgentWaitsAndIsAnswered(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.liveAgent(t, "asker")
	now, err := b.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := b.hears(t, s.ID, works("")); got.State != hitchpost.Detached {
		t.Errorf("%+v", got)
	}
	asked := b.hears(t, s.ID, waits("permission: Bash", now))
	if asked.State != hitchpost.WaitingForInput || asked.StateReason != "permission: Bash" || !asked.StateSince.Equal(now) ||
		asked.StateSource != hitchpost.FromHook {
		t.Errorf("%+v", asked)
	}
	for _, since := range []time.Time{now, {}, now.Add(-time.Hour), now.Add(time.Hour), s.StartedAt} {
		again := waits("permission: Bash", since)
		again.Source = hitchpost.FromRegistry
		if got := b.hears(t, s.ID, again); got.Revision != asked.Revision {
			t.Errorf("since %v is written again: %+v", since, got)
		}
	}
	other := b.hears(t, s.ID, waits("question: Which colour?", time.Time{}))
	if other.State != hitchpost.WaitingForInput || !other.StateSince.After(now) || other.StateReason != "question: Which colour?" {
		t.Errorf("%+v", other)
	}
	later, err := b.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := b.hears(t, s.ID, waits("question: Which colour?", later)); !got.StateSince.Equal(later) {
		t.Errorf("asked once more: %+v", got)
	}
	client := b.attach(t, s.ID)
	if got, err := b.Session(t.Context(), s.ID); err != nil || got.State != hitchpost.WaitingForInput || got.Attached != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if got := b.hears(t, s.ID, works("works")); got.State != hitchpost.Running || got.StateReason != "works" {
		t.Errorf("%+v", got)
	}
	b.hears(t, s.ID, waits("turn finished", time.Time{}))
	if _, err := b.Detach(t.Context(), client, "left"); err != nil {
		t.Fatal(err)
	}
	if got := b.hears(t, s.ID, works("works")); got.State != hitchpost.Detached || got.StateSource != hitchpost.FromRegistry {
		t.Errorf("%+v", got)
	}
	want := "created started waiting waiting waiting joined answered attached waiting parted answered"
	if got := b.kinds(t, s.ID); got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	for _, e := range b.events(t, s.ID) {
		if e.Kind == string(hitchpost.ChangeWaits) && (e.Source != hitchpost.FromHook || e.Reason == "") {
			t.Errorf("%+v", e)
		}
	}
}

// A wait counts from when its source says, where that can be; a clock that goes wrong does not make it older than the
// process, nor put it into the future.
func TestSinceOfAWait(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for name, off := range map[string]time.Duration{"before the start": -time.Hour, "in the future": time.Hour} {
		s := b.liveAgent(t, name)
		got := b.hears(t, s.ID, waits("turn finished", s.StartedAt.Add(off)))
		if got.StateSince.Before(s.StartedAt) || time.Since(got.StateSince) > patience || time.Until(got.StateSince) > patience {
			t.Errorf("%s: since %v, started %v", name, got.StateSince, s.StartedAt)
		}
	}
}

// News comes late, twice and from processes that are gone; it counts once, in the order of its marks.
func TestOldMarksChangeNothing(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.liveAgent(t, "work")
	marked := func(n store.AgentNews, mark string) store.AgentNews {
		n.Agent.Mark = mark
		return n
	}
	first := b.hears(t, s.ID, marked(waits("turn finished", time.Time{}), "05"))
	for _, mark := range []string{"05", "04", "0"} {
		n := marked(works(""), mark)
		n.Agent.Title, n.Conversation = "another", newID()
		if got := b.hears(t, s.ID, n); got.Revision != first.Revision {
			t.Errorf("mark %s changed the session to %+v", mark, got)
		}
	}
	if got := b.hears(t, s.ID, works("")); got.State != hitchpost.Detached || got.Agent.Mark != "05" {
		t.Errorf("news of no hook: %+v, %+v", got, got.Agent)
	}
	if got := b.hears(t, s.ID, marked(works(""), "06")); got.Agent.Mark != "06" {
		t.Errorf("%+v", got.Agent)
	}
	// The same events from two sides at once, in any order, are told once.
	_, errs := at(20, func(i int) (hitchpost.Session, error) {
		return b.NoteAgent(t.Context(), s.ID, marked(waits("turn finished", time.Time{}), fmt.Sprintf("1%d", i%2)))
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got, want := b.kinds(t, s.ID), "created started waiting answered waiting"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
}

// Each conversation that was left is kept with its times, as many as are bounded, whatever the news says of them.
func TestFormerConversations(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.liveAgent(t, "work")
	ids := []string{s.ConversationID}
	for i := range hitchpost.MaxFormer + 3 {
		ids = append(ids, newID())
		n := store.AgentNews{Agent: knownAgent(), Conversation: ids[i+1], How: "clear", Source: hitchpost.FromHook}
		n.Agent.Former = []hitchpost.FormerConversation{{ID: "made up"}}
		got := b.hears(t, s.ID, n)
		if a := got.Agent; a.Title+a.LastPrompt+a.LastAnswer+a.Transcript != "" || a.TokensIn+a.TokensOut+a.ContextTokens != 0 {
			t.Fatalf("of the conversation that was left: %+v", a)
		}
		n.Agent = *got.Agent
		if again := b.hears(t, s.ID, n); again.Revision != got.Revision {
			t.Fatalf("the same conversation is told again: %+v", again)
		}
	}
	got, err := b.Session(t.Context(), s.ID)
	if err != nil || got.ConversationID != ids[len(ids)-1] || len(got.Agent.Former) != hitchpost.MaxFormer {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, f := range got.Agent.Former {
		if want := ids[len(ids)-1-hitchpost.MaxFormer+i]; f.ID != want || f.How != "clear" || f.Until.Before(f.Since) ||
			i > 0 && !f.Since.Equal(got.Agent.Former[i-1].Until) {
			t.Errorf("former conversation %d is %+v, want %s", i, f, want)
		}
	}
	events := b.events(t, s.ID)
	e := events[2]
	if want := "clear: " + ids[1] + " after " + ids[0]; e.Kind != store.EventConversation || e.Reason != want ||
		e.Source != hitchpost.FromHook || len(events) != 2+hitchpost.MaxFormer+3 {
		t.Errorf("%d events, %+v, want %q", len(events), e, want)
	}
	_, err = b.NoteAgent(t.Context(), s.ID, store.AgentNews{Conversation: "../../etc/passwd"})
	wantKind(t, err, hitchpost.UsageError)
}

// What the last process of a session told before it was lost may be heard after that. It says with which conversation a
// Restart goes on, and nothing of a state.
func TestLateNews(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.liveAgent(t, "late")
	b.change(t, s.ID, hitchpost.ChangeLost)
	waits, id := true, uuid.NewString()
	got := b.hears(t, s.ID, store.AgentNews{Agent: knownAgent(), Conversation: id, How: "clear", Waits: &waits})
	if got.State != hitchpost.Recoverable || got.ConversationID != id || len(got.Agent.Former) != 1 {
		t.Errorf("%+v, %+v", got, got.Agent)
	}
	b.change(t, s.ID, hitchpost.ChangeClosed)
	_, err := b.NoteAgent(t.Context(), s.ID, store.AgentNews{Agent: knownAgent()})
	wantKind(t, err, hitchpost.ConflictError)
}

// A process that goes over to a conversation of another session has it, and keeps others from it.
func TestTakenConversationIsNoted(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	one, two := b.liveAgent(t, "one"), b.liveAgent(t, "two")
	got := b.hears(t, two.ID, store.AgentNews{Agent: knownAgent(), Conversation: one.ConversationID, How: "resume"})
	if got.ConversationID != one.ConversationID {
		t.Errorf("%+v", got)
	}
	b.change(t, one.ID, hitchpost.ChangeLost)
	_, err := b.Change(t.Context(), one.ID, store.Transition{Change: hitchpost.ChangeRestartAsked, Lease: time.Minute})
	wantKind(t, err, hitchpost.ConflictError)
	// Its first conversation is free meanwhile.
	_, err = b.Change(t.Context(), one.ID, store.Transition{Change: hitchpost.ChangeRestartAsked, Lease: time.Minute,
		Conversation: two.ConversationID})
	if err != nil {
		t.Error(err)
	}
}

// A conversation that somebody holds locked for long makes nobody wait beyond the deadline, and leaves nothing half done.
func TestConversationIsLocked(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s, n := b.liveAgent(t, "work"), b.agent("other")
	c := conn(t, b.url)
	run(t, c, "begin")
	run(t, c, "select pg_advisory_xact_lock($1, hashtext($2))", store.ConversationSpace, n.ConversationID)
	began := time.Now()
	_, errs := at(2, func(i int) (hitchpost.Session, error) {
		if i == 0 {
			return b.Create(t.Context(), n, time.Minute, store.By{})
		}
		return b.NoteAgent(t.Context(), s.ID, store.AgentNews{Conversation: n.ConversationID, How: "resume"})
	})
	for _, err := range errs {
		wantKind(t, err, hitchpost.UnavailableError)
	}
	if took := time.Since(began); took > store.Deadline+time.Second {
		t.Errorf("took %v", took)
	}
	run(t, c, "rollback")
	if got, err := b.Session(t.Context(), s.ID); err != nil || got.ConversationID != s.ConversationID || got.Revision != s.Revision {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := b.Create(t.Context(), n, time.Minute, store.By{}); err != nil {
		t.Error(err)
	}
}

// A database that is away keeps nothing of the news, and takes the same once it is back.
func TestNewsDuringAnOutage(t *testing.T) {
	t.Parallel()
	c, b := apart(t)
	s := b.liveAgent(t, "work")
	n := waits("turn finished", time.Time{})
	n.Agent.Mark = "1"
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	_, err := b.NoteAgent(t.Context(), s.ID, n)
	wantKind(t, err, hitchpost.UnavailableError)
	if err := c.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the news is kept", func() bool {
		got, err := b.NoteAgent(t.Context(), s.ID, n)
		return err == nil && got.State == hitchpost.WaitingForInput
	})
}
