package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/hitchpost/hitchpost"
)

// Which conversation a session has follows its process, also when nobody listened, and what was left is on record. A
// Restart goes on with the last one.
func TestAgentMovesToAnotherConversation(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	s := d.begin("job")
	d.prompt(s.ID, "of the first")
	d.down()
	out, err := tmuxOf(d.rig, "send-keys", "-t", "=hp-"+s.ID+":", "/clear", "Enter")
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	eventually(t, func() bool {
		events, err := filepath.Glob(filepath.Join(d.dir, "hooks", "*.json"))
		return err == nil && len(events) >= 2 // SessionEnd, SessionStart
	}, func() string { return "the hooks are not spooled" })
	d.killTmux() // before anybody has heard
	d.up()
	d.becomes(s.ID, hitchpost.Recoverable)
	moved := d.is(s.ID, "moved", func(now hitchpost.Session) bool { return now.ConversationID != s.ConversationID })
	if f := moved.Agent.Former; len(f) != 1 || f[0].ID != s.ConversationID || f[0].How != "clear" || !f[0].Until.After(f[0].Since) {
		t.Errorf("%+v", f)
	}
	again := d.restart(s.ID, hitchpost.RestartRequest{}, "ready for the next prompt") // /clear has begun its transcript
	if again.ConversationID != moved.ConversationID {
		t.Errorf("restarted into %s, want %s", again.ConversationID, moved.ConversationID)
	}
	d.prompt(s.ID, "of the second")
	d.lose(s.ID)
	if got := d.restart(s.ID, hitchpost.RestartRequest{}, "ready for the next prompt"); got.ConversationID != moved.ConversationID {
		t.Errorf("restarted into %s, want %s", got.ConversationID, moved.ConversationID)
	}
	d.prompt(s.ID, "@recall")
	d.shows(s.ID, "of the second")

	d.lose(s.ID)
	got := d.restart(s.ID, hitchpost.RestartRequest{Conversation: strings.ToUpper(s.ConversationID)}, "ready for the next prompt")
	if got.ConversationID != s.ConversationID || len(got.Agent.Former) != 2 {
		t.Errorf("%s, %+v", got.ConversationID, got.Agent.Former)
	}
	d.lose(s.ID)
	got = d.restart(s.ID, hitchpost.RestartRequest{Fresh: true}, "ready for the first prompt")
	if slices.Contains([]string{s.ConversationID, moved.ConversationID}, got.ConversationID) {
		t.Errorf("not fresh: %s", got.ConversationID)
	}
}

// What is gone is not replaced by something else without being asked for.
func TestAgentWithoutItsTranscript(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	s := d.begin("job")
	d.prompt(s.ID, "hello")
	s = d.is(s.ID, "its transcript", func(s hitchpost.Session) bool { return s.Agent.LastPrompt == "hello" })
	d.lose(s.ID)
	must(t, os.Remove(s.Agent.Transcript))
	_, err := d.Restart(context.Background(), admin, s.ID, hitchpost.RestartRequest{})
	kind(t, err, hitchpost.ConflictError)
	if hint := hintOf(err); !strings.Contains(err.Error(), s.ConversationID) || !strings.Contains(hint, "--fresh") {
		t.Errorf("%v: %s", err, hint)
	}
	_, err = d.Restart(context.Background(), admin, s.ID, hitchpost.RestartRequest{Conversation: uuid.NewString()})
	kind(t, err, hitchpost.NotFoundError)
	if now := d.becomes(s.ID, hitchpost.Recoverable); now.Restarts != 0 || now.ConversationID != s.ConversationID {
		t.Errorf("%+v", now)
	}
	must(t, os.RemoveAll(d.home.Project))
	_, err = d.Restart(context.Background(), admin, s.ID, hitchpost.RestartRequest{Fresh: true})
	kind(t, err, hitchpost.UsageError) // no directory
}

// A Restart goes on in the directory of the conversation, wherever a link to it leads by then.
func TestAgentGoesOnWhereItWorked(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	link := filepath.Join(d.dir, "link")
	must(t, os.Symlink(d.home.Project, link))
	req := d.request("job")
	req.Cwd = link
	res, err := d.Start(context.Background(), admin, req)
	must(t, err)
	s := d.waits(res.Session.ID, "ready for the first prompt")
	d.prompt(s.ID, "hello")
	must(t, os.Remove(link))
	for _, to := range []string{d.dir, ""} {
		if to != "" {
			must(t, os.Symlink(to, link))
		}
		d.lose(s.ID)
		now := d.restart(s.ID, hitchpost.RestartRequest{}, "ready for the next prompt")
		if now.Agent.Dir != d.home.Project || now.Cwd != link {
			t.Errorf("with a link to %q: goes on in %s, is of %s", to, now.Agent.Dir, now.Cwd)
		}
		d.shows(s.ID, d.home.Project)
		_ = os.Remove(link)
	}
}

// A Restart takes the person's settings as they are now; those of the last start where they are gone.
func TestAgentWhoseSettingsAreGone(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	given := filepath.Join(d.dir, "given.json")
	must(t, os.WriteFile(given, []byte(`{"env":{"A":"first"}}`), 0o600))
	s := d.begin("job", "--settings", given)
	merged := func() string {
		text, err := os.ReadFile(filepath.Join(d.dir, "sessions", s.ID, "settings.json"))
		must(t, err)
		return string(text)
	}
	must(t, os.WriteFile(given, []byte(`{"env":{"A":"second"}}`), 0o600))
	d.lose(s.ID)
	d.restart(s.ID, hitchpost.RestartRequest{}, "ready for the first prompt")
	if text := merged(); !strings.Contains(text, "second") || !strings.Contains(text, "SessionStart") {
		t.Errorf("%s", text)
	}
	must(t, os.Remove(given))
	d.lose(s.ID)
	d.restart(s.ID, hitchpost.RestartRequest{}, "ready for the first prompt")
	if text := merged(); !strings.Contains(text, "second") || strings.Count(text, "SessionStart") != 1 {
		t.Errorf("%s", text)
	}
}

// Two processes never have one conversation: whoever is second is told who has it.
func TestAgentAloneInItsConversation(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	s := d.begin("job")
	d.prompt(s.ID, "hello")
	_, err := d.Start(context.Background(), admin, d.request("other", "--resume", s.ConversationID))
	kind(t, err, hitchpost.ConflictError)
	if !strings.Contains(err.Error(), "session job runs") || !strings.Contains(hintOf(err), "--fork-session") {
		t.Errorf("%v: %s", err, hintOf(err))
	}
	ask := d.request("copy", "--resume", s.ConversationID, "--fork-session")
	ask.Force = true // beside the other in one tree
	res, err := d.Start(context.Background(), admin, ask)
	must(t, err)
	copied := d.waits(res.Session.ID, "ready for the next prompt")
	if copied.ConversationID == s.ConversationID {
		t.Error("a copy with the same id")
	}
	d.prompt(copied.ID, "@recall")
	d.shows(copied.ID, "hello")

	d.lose(s.ID, copied.ID)
	errs := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := d.Restart(context.Background(), admin, s.ID, hitchpost.RestartRequest{})
			errs <- err
		}()
	}
	first, second := <-errs, <-errs
	if (first == nil) == (second == nil) {
		t.Errorf("%v, %v", first, second)
	}
	d.waits(s.ID, "ready for the next prompt")
}
