package runtime_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
)

// TestRestartWithNoteIsToldFirst restarts an agent with its note, and others, which take none.
func TestRestartWithNoteIsToldFirst(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	ctx := context.Background()
	s := d.begin("job")
	d.prompt(s.ID, "hello")
	_, err := d.Note(ctx, admin, s.ID, hitchpost.NoteRequest{Text: "the key is \"under\" the $(mat)\n--dangerous"})
	must(t, err)
	d.lose(s.ID)
	card, err := d.Card(ctx, admin, s.ID, nil)
	must(t, err)
	prompt := hitchpost.Briefing(card)
	if _, err := d.Restart(ctx, admin, s.ID, hitchpost.RestartRequest{Prompt: prompt}); err != nil {
		t.Fatal(err)
	}
	told := d.is(s.ID, "told its note", func(s hitchpost.Session) bool {
		return s.State == hitchpost.WaitingForInput && strings.HasPrefix(s.Agent.LastPrompt, "This session was restarted.")
	})
	if told.ConversationID != s.ConversationID || !strings.Contains(prompt, `the key is "under" the $(mat)`) {
		t.Errorf("%s, told\n%s", told.ConversationID, prompt)
	}
	d.prompt(s.ID, "@recall")
	d.shows(s.ID, `the key is "under" the $(mat)`)
	d.lose(s.ID)
	again := d.restart(s.ID, hitchpost.RestartRequest{}, "ready for the next prompt")
	if again.Agent.LastPrompt != "@recall" {
		t.Errorf("it was told again: %q", again.Agent.LastPrompt)
	}

	other := d.start("other", "sh", "-c", "exit 0")
	d.becomes(other.ID, hitchpost.Stopped)
	_, err = d.Restart(ctx, admin, other.ID, hitchpost.RestartRequest{Prompt: prompt})
	kind(t, err, hitchpost.UsageError)
	if now := d.becomes(other.ID, hitchpost.Stopped); now.Restarts != 0 {
		t.Errorf("%+v", now)
	}
}
