//go:build realclaude

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The conversation has our id from the start. The person's own hooks and settings work beside ours, and their files stay
// as they are. What was said is in the session's history.
func TestRealClaudeLaunch(t *testing.T) {
	t.Parallel()
	eachClaude(t, startShared, func(c *claudeStack) {
		t := c.t
		files := c.personal()
		began := c.begin("api", "--settings", "given.json", "--append-system-prompt", "Be of good cheer.")
		if began.Agent.Version != c.version || began.Agent.Screen != "main" || began.Agent.Hooks != "seen" {
			t.Errorf("%+v", began)
		}
		c.asks("api", "@say first", "first")
		asked := c.api.Asked(t, "@say first")
		if asked.Session != began.Conversation || !strings.Contains(asked.System, "Be of good cheer.") {
			t.Errorf("asked as %s, want %s", asked.Session, began.Conversation)
		}
		for _, name := range []string{"user-hook", "given-hook"} {
			got, err := os.ReadFile(c.path(name))
			if err != nil || !bytes.Contains(got, []byte(`"@say first"`)) {
				t.Errorf("%s: %v %q", name, err, got)
			}
		}
		c.types("api", "!echo $GIVEN $CLAUDE_CODE_DISABLE_AGENT_VIEW.")
		c.shows("api", "by the person 1.")

		c.fillsScreen("api")
		if strings.Contains(c.screen("api"), "@say first") {
			t.Error("nothing has left the screen")
		}
		c.inHistory("api", "@say first")
		c.written(began.Conversation, `"line 7 of it`)
		now := c.is("api", "tells of its conversation", func(now talk) bool { return now.Agent.LastPrompt == "@say line 7 of it" })
		a := now.Agent
		if now.Conversation != began.Conversation || a.Transcript != c.transcript(now.Conversation) || len(a.Former) != 0 ||
			a.LastAnswer != "line 7 of it" || a.Title == "" || a.Tokens == nil || a.Tokens.Context == 0 {
			t.Errorf("%+v", now)
		}

		term := c.open(100, 30, "attach", "api")
		term.sees("line 7 of it")
		if !strings.Contains(term.all(), "@say first") {
			t.Errorf("the beginning was not replayed:\n%s", term.all())
		}
		term.keys("C-]")
		if code := term.left(); code != 0 {
			t.Errorf("exit status %d", code)
		}
		for path, was := range files {
			if got, err := os.ReadFile(path); err != nil || string(got) != was {
				t.Errorf("%s is now %q, %v", path, got, err)
			}
		}
	})
}

// personal writes the settings of a person, of whose hooks each notes what it is told, and a file for --settings. It
// returns both.
func (c *claudeStack) personal() map[string]string {
	c.t.Helper()
	settings := func(hook string) map[string]any {
		return map[string]any{
			"env": map[string]string{"GIVEN": "by the person"},
			"hooks": map[string]any{"UserPromptSubmit": []any{map[string]any{"hooks": []any{
				map[string]string{"type": "command", "command": "cat >> " + c.path(hook)}}}}},
		}
	}
	doc, err := json.Marshal(settings("given-hook"))
	must(c.t, err)
	given := filepath.Join(c.home.Project, "given.json")
	must(c.t, writeFile(given, string(doc)))
	c.home.Settings(c.t, settings("user-hook"))
	files := map[string]string{given: "", filepath.Join(c.home.Config, "settings.json"): ""}
	for path := range files {
		text, err := os.ReadFile(path)
		must(c.t, err)
		files[path] = string(text)
	}
	return files
}

// fillsScreen has more said than a screen holds.
func (c *claudeStack) fillsScreen(ref string) {
	c.t.Helper()
	for i := range 8 {
		c.asks(ref, fmt.Sprintf("@say line %d of it", i), fmt.Sprintf("line %d of it", i))
	}
}

// inHistory waits until `history` has what fillsScreen said, and fails unless it is there once and in order, behind
// something else. A transcript is written after the turn.
func (c *claudeStack) inHistory(ref, also string) {
	c.t.Helper()
	var history string
	c.looks("the history is whole", func() bool {
		history = c.ok("history", ref)
		return strings.Contains(history, "@say line 7 of it")
	}, func() string { return history })
	last := strings.Index(history, also)
	for i := range 8 {
		said := fmt.Sprintf("@say line %d of it", i)
		at := strings.Index(history, said)
		if last < 0 || at < last || strings.Count(history, said) != 1 {
			c.t.Fatalf("line %d is missing, out of order or there twice:\n%s", i, history)
		}
		last = at
	}
}

// On the alternate screen no terminal keeps a history, so it comes from the transcript.
func TestRealClaudeFullscreen(t *testing.T) {
	t.Parallel()
	eachClaude(t, startShared, func(c *claudeStack) {
		t := c.t
		if began := c.begin("api", "--tui", "fullscreen"); began.Agent.Screen != "alternate" {
			t.Errorf("screen %q", began.Agent.Screen)
		}
		c.asks("api", "@say first", "first")
		c.fillsScreen("api")
		c.inHistory("api", "@say first")
	})
}
