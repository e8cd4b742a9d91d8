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
	eachClaude(t, func(t *testing.T, version string) {
		c := withClaude(start(t), version)
		mine := func(name string) map[string]any {
			command := fmt.Sprintf("cat >> %s", c.path(name))
			return map[string]any{"UserPromptSubmit": []any{map[string]any{"hooks": []any{
				map[string]string{"type": "command", "command": command}}}}}
		}
		c.home.Settings(t, map[string]any{"hooks": mine("user-hook"), "spinnerTipsEnabled": false})
		given := filepath.Join(c.home.Project, "given.json")
		doc, err := json.Marshal(map[string]any{"hooks": mine("given-hook"), "env": map[string]string{"GIVEN": "by the person"}})
		must(t, err)
		must(t, os.WriteFile(given, doc, 0o600))
		settings, err := os.ReadFile(filepath.Join(c.home.Config, "settings.json"))
		must(t, err)

		began := c.begin("api", "--settings", "given.json", "--append-system-prompt", "Be of good cheer.")
		if began.Agent.Version != version || began.Agent.Screen != "main" || began.Agent.Hooks != "seen" {
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

		for i := range 8 { // more than the screen holds
			c.asks("api", fmt.Sprintf("@say line %d of it", i), fmt.Sprintf("line %d of it", i))
		}
		if strings.Contains(c.screen("api"), "@say first") {
			t.Error("nothing has left the screen")
		}
		history := c.ok("history", "api")
		last := 0
		for i := range 8 {
			at := strings.Index(history, fmt.Sprintf("@say line %d of it", i))
			if at < last || !strings.Contains(history, "@say first") {
				t.Fatalf("line %d is missing or out of order:\n%s", i, history)
			}
			last = at
		}
		now := c.is("api", "tells of its conversation", func(now talk) bool { return now.Agent.LastAnswer == "line 7 of it" })
		if now.Conversation != began.Conversation || now.Agent.LastPrompt != "@say line 7 of it" || now.Agent.Transcript != c.transcript(now.Conversation) ||
			now.Agent.Title == "" || now.Agent.Tokens == nil || now.Agent.Tokens.Context == 0 || len(now.Agent.Former) != 0 {
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
		for path, was := range map[string][]byte{filepath.Join(c.home.Config, "settings.json"): settings, given: doc} {
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, was) {
				t.Errorf("%s is now %q, %v", path, got, err)
			}
		}
	})
}

// On the alternate screen no terminal keeps a history, so it comes from the transcript.
func TestRealClaudeFullscreen(t *testing.T) {
	eachClaude(t, func(t *testing.T, version string) {
		c := withClaude(start(t), version)
		began := c.begin("api", "--tui", "fullscreen")
		if began.Agent.Screen != "alternate" {
			t.Errorf("screen %q", began.Agent.Screen)
		}
		for i := range 8 {
			c.asks("api", fmt.Sprintf("@say line %d of it", i), fmt.Sprintf("line %d of it", i))
		}
		history := c.ok("history", "api")
		for i := range 8 {
			if n := strings.Count(history, fmt.Sprintf("@say line %d of it", i)); n != 1 {
				t.Errorf("line %d is there %d times", i, n)
			}
		}
		if t.Failed() {
			t.Log(history)
		}
	})
}
