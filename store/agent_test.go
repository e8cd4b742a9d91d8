package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
	"github.com/hitchpost/hitchpost/store/storetest"
)

// knownAgent is one with every field, the former conversations and the mark excepted.
func knownAgent() hitchpost.Agent {
	return hitchpost.Agent{
		Program: "/opt/claude", Version: "2.1.197", ConfigDir: "/home/ann/.claude", Dir: "/home/ann",
		Status: "busy", StatusSource: hitchpost.FromRegistry, StatusAt: time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC),
		Uncertain: "the register says busy, the hook says idle", Hooks: hitchpost.HooksSeen, Screen: hitchpost.MainScreen,
		Title: "Fix \"it\"\u202e", LastPrompt: "fix it", LastAnswer: "fixed\\ it", TokensIn: 10, TokensOut: 20, ContextTokens: 30,
		Transcript: "/home/ann/.claude/projects/-home-ann/x.jsonl",
	}
}

func (b *box) agent(title string) hitchpost.Session {
	n := b.fresh(title)
	a := knownAgent()
	n.Kind, n.ConversationID, n.Agent = hitchpost.Claude, newID(), &a
	return n
}

// liveAgent is a session in state DETACHED that runs an agent.
func (b *box) liveAgent(t *testing.T, title string) hitchpost.Session {
	t.Helper()
	s, err := b.Create(t.Context(), b.agent(title), time.Minute, store.By{Actor: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	return b.change(t, s.ID, hitchpost.ChangeStarted)
}

func (b *box) hears(t *testing.T, id string, n store.AgentNews) hitchpost.Session {
	t.Helper()
	noted, err := b.NoteAgent(t.Context(), id, n)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := b.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(kept, noted); d != "" {
		t.Errorf("what is returned is not what is kept (-kept +returned):\n%s", d)
	}
	return noted
}

// An agent is kept as it is by every way into the store and out of it.
func TestAgentIsKept(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.liveAgent(t, "work")
	want := knownAgent()
	if d := cmp.Diff(&want, s.Agent); d != "" {
		t.Errorf("created (-want +got):\n%s", d)
	}
	adopted := b.agent("found")
	if got, err := b.Adopt(t.Context(), adopted, store.By{}); err != nil || !cmp.Equal(got.Agent, &want) {
		t.Errorf("adopted: %+v, %v", got.Agent, err)
	}
	if plain := b.live(t, "no agent"); plain.Agent != nil {
		t.Errorf("a shell has %+v", plain.Agent)
	}
	b.hears(t, s.ID, store.AgentNews{Agent: want, Conversation: newID(), How: "clear", Source: hitchpost.FromHook})
	before, err := b.Session(t.Context(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	into := open(t, storetest.Empty(t))
	if err := into.Restore(t.Context(), dump(t, b.Store).back()); err != nil {
		t.Fatal(err)
	}
	if after, err := into.Session(t.Context(), s.ID); err != nil || !cmp.Equal(after, before) {
		t.Errorf("restored (-before +after), %v:\n%s", err, cmp.Diff(before, after))
	}
	strange := want
	strange.Title, strange.LastAnswer = "nul\x00", "no \xff UTF-8"
	if got := b.hears(t, s.ID, store.AgentNews{Agent: strange}); got.State != hitchpost.Detached {
		t.Errorf("%+v", got)
	}
}

// Of ten starts, or restarts, with one conversation at the same time one succeeds, and the others name who has it.
func TestOneProcessPerConversation(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	conversation := newID()
	other := open(t, b.url) // another service on the same database
	started, errs := at(10, func(i int) (hitchpost.Session, error) {
		n := b.agent(fmt.Sprint("work ", i))
		n.ConversationID = conversation
		return []*store.Store{b.Store, other}[i%2].Create(t.Context(), n, time.Minute, store.By{})
	})
	holder := onlyOne(t, started, errs)
	b.change(t, holder.ID, hitchpost.ChangeStarted)

	var lost []string
	for i := range 10 {
		s := b.liveAgent(t, fmt.Sprint("lost ", i))
		b.change(t, s.ID, hitchpost.ChangeLost)
		lost = append(lost, s.ID)
	}
	restart := func(id string) (hitchpost.Session, error) {
		return b.Change(t.Context(), id, store.Transition{Change: hitchpost.ChangeRestartAsked, Conversation: conversation,
			Lease: time.Minute})
	}
	for _, id := range lost[:2] {
		_, err := restart(id)
		wantKind(t, err, hitchpost.ConflictError)
		if s, err := b.Session(t.Context(), id); err != nil || s.State != hitchpost.Recoverable || s.Restarts != 0 ||
			s.ConversationID == conversation {
			t.Errorf("a refused restart left %+v, %v", s, err)
		}
	}
	b.change(t, holder.ID, hitchpost.ChangeStopAsked)
	_, err := restart(lost[0]) // it still runs
	wantKind(t, err, hitchpost.ConflictError)
	b.change(t, holder.ID, hitchpost.ChangeExitedWell)
	restarted, errs := at(10, func(i int) (hitchpost.Session, error) { return restart(lost[i]) })
	holder = onlyOne(t, restarted, errs)
	if former := holder.Agent.Former; len(former) != 1 || former[0].How != "restart" || !former[0].Until.Equal(holder.StateSince) ||
		!former[0].Since.Equal(holder.CreatedAt) {
		t.Errorf("former conversations %+v", former)
	}
	b.change(t, holder.ID, hitchpost.ChangeStarted)
	b.change(t, holder.ID, hitchpost.ChangeLost)
	if s := b.change(t, holder.ID, hitchpost.ChangeRestartAsked); s.ConversationID != conversation || len(s.Agent.Former) != 1 {
		t.Errorf("restarted again: %+v", s)
	}
	for _, wrong := range []string{"-x", "a b", strings.Repeat("x", 129), "{" + newID() + "}"} {
		n := b.agent("wrong")
		n.ConversationID = wrong
		_, err := b.Create(t.Context(), n, time.Minute, store.By{})
		wantKind(t, err, hitchpost.UsageError)
	}
}

// onlyOne is the one that succeeded; the others are told who it is.
func onlyOne(t *testing.T, all []hitchpost.Session, errs []error) (winner hitchpost.Session) {
	t.Helper()
	won := 0
	for i, err := range errs {
		if err == nil {
			winner = all[i]
			won++
		}
	}
	if won != 1 {
		t.Fatalf("%d of %d succeeded: %v", won, len(errs), errs)
	}
	for _, err := range errs {
		if err == nil {
			continue
		}
		wantKind(t, err, hitchpost.ConflictError)
		var e *hitchpost.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, "session "+winner.Handle+" ") || e.Field != "conversation" {
			t.Errorf("%+v; the conversation is that of %s", e, winner.Handle)
		}
	}
	return winner
}

// A restart forgets what the process before was heard to do, and marks begin anew.
func TestRestartForgetsTheProcess(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.liveAgent(t, "work")
	n := store.AgentNews{Agent: knownAgent()}
	n.Agent.Mark = "9"
	b.hears(t, s.ID, n)
	b.change(t, s.ID, hitchpost.ChangeLost)
	next := knownAgent()
	next.Version = "2.1.332"
	s, err := b.Change(t.Context(), s.ID, store.Transition{Change: hitchpost.ChangeRestartAsked, Agent: &next, Lease: time.Minute})
	want := next
	want.Status, want.StatusSource, want.StatusAt, want.Uncertain, want.Hooks = "", "", time.Time{}, "", ""
	if err != nil || !cmp.Equal(s.Agent, &want) {
		t.Errorf("%v:\n%s", err, cmp.Diff(&want, s.Agent))
	}
	b.change(t, s.ID, hitchpost.ChangeStarted)
	_, err = b.NoteAgent(t.Context(), s.ID, n)
	wantKind(t, err, hitchpost.ConflictError) // of the run before
	n.Run, n.Agent.Mark = 1, "1"
	if got := b.hears(t, s.ID, n); got.Agent.Mark != "1" {
		t.Errorf("%+v", got.Agent)
	}
	run := 5
	found, err := b.Change(t.Context(), s.ID, store.Transition{Change: hitchpost.ChangeFound, SetRun: &run})
	if err != nil || found.Restarts != 5 || found.Agent.Mark != "" || found.Agent.Status != "" {
		t.Errorf("found in another run: %+v, %+v, %v", found, found.Agent, err)
	}
	_, err = b.NoteAgent(t.Context(), newID(), n)
	wantKind(t, err, hitchpost.NotFoundError)
}
