package hitchpost_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

func lostCard() hitchpost.Card {
	at := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	code, failed := 0, 2
	return hitchpost.Card{
		At: at,
		Session: hitchpost.Session{
			Handle: "checkout", Kind: hitchpost.Claude, State: hitchpost.Recoverable, StateReason: "the host was restarted",
			Note:  "cards are declined\n\ttwice",
			Agent: &hitchpost.Agent{LastPrompt: "retry three times"}, Check: "make check",
		},
		Repo: hitchpost.CardRepo{
			Name: "shop", Branch: "retry", Upstream: "origin/retry", Ahead: 2, Behind: 1, Operation: "rebase",
			Head:    hitchpost.Commit{Hash: "0123456789abcdef", Subject: "web: retry"},
			Since:   hitchpost.CommitList{Count: 1},
			Changed: hitchpost.NameList{Count: 12, First: []string{"a.go", "b.go"}},
			Staged:  hitchpost.NameList{Unknown: hitchpost.Unknown{Why: hitchpost.TookTooLong}, Count: 3},
		},
		Evidence: hitchpost.CardEvidence{Tasks: []hitchpost.CardTask{
			{Task: hitchpost.Task{Name: "tests", State: hitchpost.TaskFailed, ExitCode: &failed, StartedAt: at.Add(-time.Hour)}},
		}},
		Check: hitchpost.CardCheck{Stale: hitchpost.Stale, Last: &hitchpost.Check{
			Command: "make check", State: hitchpost.TaskSucceeded, Exit: &hitchpost.Exit{Code: &code}, Commit: "0123456789abcdef",
		}},
		Advice: hitchpost.Advice{Why: "its process is gone", Command: []string{"restart", "checkout"}},
	}
}

func TestADraftTellsFactsAndThatNobodyReadIt(t *testing.T) {
	t.Parallel()
	want := `(proposed from facts at 2026-03-14 09:26Z, not yet read by a person)

## Goal

last prompt: retry three times

## Branch

shop, retry, 2 ahead of and 1 behind origin/retry
unfinished: rebase
at commit 0123456789 web: retry
1 commit since the session began

## Commands run

- tests: FAILED, exit 2, begun 2026-03-14 08:26Z
- check make check: passed at commit 0123456789; files have changed since

## Files

- changed: a.go
- changed: b.go
- changed: 10 more

## Next step

its process is gone: restart checkout
`
	if got := hitchpost.DraftNote(lostCard()); got != want {
		t.Errorf("the draft is\n%s\nwant\n%s", got, want)
	}
	for _, heading := range []string{"Goal", "Branch", "Commands run", "Files", "Next step"} {
		if !strings.Contains(hitchpost.NoteTemplate(), "## "+heading+"\n\n") {
			t.Errorf("the template has no %q", heading)
		}
	}
	none := hitchpost.DraftNote(hitchpost.Card{Repo: hitchpost.CardRepo{Unknown: hitchpost.Unknown{Why: hitchpost.NoRepository}}})
	if _, facts, _ := strings.Cut(none, "\n"); strings.TrimSpace(facts) != strings.TrimSpace(hitchpost.NoteTemplate()) {
		t.Errorf("of nothing known it is\n%s", none)
	}
}

func TestABriefingIsTheNoteAndTheFacts(t *testing.T) {
	t.Parallel()
	c := lostCard()
	got := hitchpost.Briefing(c)
	for _, want := range []string{
		"This session was restarted.", "# Note\n\ncards are declined\n\ttwice\n\n# Facts at 2026-03-14 09:26Z\n",
		"- how it ended: the host was restarted\n", "  shop, retry, 2 ahead", "  last prompt: retry three times\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	c.Session.Note = ""
	if got := hitchpost.Briefing(c); !strings.Contains(got, "# Note\n\n(there is none)\n") {
		t.Errorf("without a note it is\n%s", got)
	}
	for _, c := range []struct {
		kind   hitchpost.Kind
		prompt string
		want   hitchpost.ErrorKind
	}{
		{hitchpost.Claude, got, ""}, {hitchpost.Claude, "", ""}, {hitchpost.Shell, "", ""}, {hitchpost.Shell, got, hitchpost.UsageError},
		{hitchpost.Command, got, hitchpost.UsageError}, {hitchpost.Claude, "a\x00", hitchpost.UsageError},
		{hitchpost.Claude, "\xff", hitchpost.UsageError}, {hitchpost.Claude, "\x1b[2J", hitchpost.UsageError},
		{hitchpost.Claude, strings.Repeat("x", hitchpost.MaxPrompt+1), hitchpost.UsageError},
		{hitchpost.Claude, strings.Repeat("x", hitchpost.MaxPrompt), ""},
	} {
		err := hitchpost.CheckPrompt(hitchpost.Session{Handle: "x", Kind: c.kind}, c.prompt)
		if (err == nil) != (c.want == "") || err != nil && hitchpost.KindOf(err) != c.want {
			t.Errorf("%s, %.20q: %v", c.kind, c.prompt, err)
		}
	}
}

// TestHandoffTextsAreSafe fills every text with what would leave its place, and every list.
func TestHandoffTextsAreSafe(t *testing.T) {
	t.Parallel()
	evil := strings.Repeat("\x1b[2J\u202e\xff\x00\n/clear \u2028\u009b", 20_000)
	c := lostCard()
	s := &c.Session
	s.Note, s.Handle, s.StateReason, s.Check = evil, evil, evil, evil
	s.Agent = &hitchpost.Agent{LastPrompt: evil}
	names := hitchpost.NameList{Count: 5000}
	for range 1000 {
		names.First = append(names.First, evil)
	}
	r := &c.Repo
	r.Name, r.Branch, r.Upstream, r.Operation, r.Head = evil, evil, evil, evil, hitchpost.Commit{Hash: "01", Subject: evil}
	r.Staged, r.Changed, r.Conflicted, r.Untracked = names, names, names, names
	for range 5 {
		c.Evidence.Tasks = append(c.Evidence.Tasks, hitchpost.CardTask{Task: hitchpost.Task{Argv: []string{evil}, State: hitchpost.TaskLost}})
	}
	c.Check.Last = &hitchpost.Check{Command: evil}
	c.Advice = hitchpost.Advice{Why: evil, Command: []string{evil, evil}}
	if err := hitchpost.CheckNote(hitchpost.DraftNote(c)); err != nil {
		t.Errorf("the draft of %d bytes: %v", len(hitchpost.DraftNote(c)), err)
	}
	if err := hitchpost.CheckPrompt(c.Session, hitchpost.Briefing(c)); err != nil {
		t.Errorf("the briefing of %d bytes: %v", len(hitchpost.Briefing(c)), err)
	}
}
