//go:build realclaude

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The session's conversation is the one that its process has: through the commands that change it, and whatever other
// Claude Code the process starts.
func TestRealClaudeIdentity(t *testing.T) {
	t.Parallel()
	eachClaude(t, startShared, func(c *claudeStack) {
		t := c.t
		first := c.begin("api", "--permission-mode", "default").Conversation
		c.asks("api", "@say of the first", "of the first")

		c.types("api", "/clear")
		second := c.moves("api", first+" clear").Conversation
		c.waits("api", "ready for the first prompt")
		c.asks("api", "@say of the second", "of the second")
		if asked := c.api.Asked(t, "@say of the second"); asked.Session != second {
			t.Errorf("asked as %s, want %s", asked.Session, second)
		}

		c.asks("api", "@say more", "more") // or there is too little to compact
		c.types("api", "/compact")
		c.eventually("the conversation is compacted", func() bool {
			text, err := os.ReadFile(c.transcript(second))
			return err == nil && strings.Contains(string(text), "compact_boundary")
		})
		c.is("api", "waits", func(now talk) bool { return now.State == "WAITING_FOR_INPUT" && now.Agent.Status == "idle" })
		if now := c.talk("api"); now.Conversation != second || now.former() != first+" clear" {
			t.Errorf("after /compact: %+v", now)
		}

		c.types("api", "/resume "+first)
		if now := c.moves("api", first+" clear", second+" resume"); now.Conversation != first {
			t.Errorf("%+v", now)
		}
		c.waits("api", "ready for the next prompt")
		c.asks("api", "@recall", "recall: @say of the first | @recall")

		c.types("api", "/branch")
		now := c.moves("api", first+" clear", second+" resume", first+" ")
		if now.Conversation == first {
			t.Errorf("after /branch: %+v", now)
		}
		c.child(now.Conversation)
	})
}

// moves waits until a session has left conversations as given, each as "ID how" or the beginning of that.
func (c *claudeStack) moves(ref string, former ...string) talk {
	c.t.Helper()
	return c.is(ref, "has left "+strings.Join(former, ", "), func(now talk) bool {
		return slices.EqualFunc(strings.Split(now.former(), ", "), former, strings.HasPrefix)
	})
}

// child has the session api run a Claude Code of its own, with the session's environment and hooks: neither its
// conversation nor its turns are the session's.
func (c *claudeStack) child(conversation string) {
	c.t.Helper()
	settings := c.path("data/sessions/" + c.idOf("api") + "/settings.json")
	g := c.gate("child")
	must(c.t, writeFile(g.script, fmt.Sprintf(
		"claude --settings %s -p '@hang of the child'\nclaude --settings %[1]s -p '@say of another'\n", settings)))
	c.types("api", g.bash(""))
	c.waits("api", "permission: Bash")
	c.shows("api", mayProceed)
	c.answers("api", mayProceed, "Enter")
	asked := c.api.Asked(c.t, "@hang of the child")
	if asked.Session == conversation {
		c.t.Errorf("the child has the session's conversation")
	}
	before := c.works("api")
	c.api.Release()
	c.api.Asked(c.t, "@say of another")
	if got := c.talk("api"); got.Conversation != conversation {
		c.t.Errorf("%+v", got)
	}
	after := c.waits("api", "turn finished")
	if after.Conversation != conversation || after.former() != before.former() {
		c.t.Errorf("a child changed it to %+v", after)
	}
	// While it ran the session was at work all the time.
	for _, e := range c.events("api") {
		if e.Event == "waiting" && e.At.After(before.Since) && e.At.Before(after.Since.Add(-time.Second)) {
			c.t.Errorf("waits while its child runs: %+v", e)
		}
	}
}

// Where the person's settings silence all hooks, that is told, and the register alone gives the states.
func TestRealClaudeHooksOff(t *testing.T) {
	t.Parallel()
	eachClaude(t, startShared, func(c *claudeStack) {
		t := c.t
		c.home.Settings(t, map[string]any{"disableAllHooks": true})
		c.ok(c.words("api", c.home.Project, "--permission-mode", "default")...)
		c.waits("api", "waits for a prompt")
		c.is("api", "is without hooks", func(now talk) bool { return now.Agent.Hooks == "not seen" })
		row := c.open(160, 45)
		row.sees("its hooks are not seen")

		c.hangs("api", "@hang silent")
		if now := c.works("api"); now.Agent.Status != "busy" || now.Agent.StatusSource != "registry" {
			t.Errorf("%+v", now)
		}
		c.api.Release()
		c.waits("api", "waits for a prompt")
		g := c.gate("asked")
		c.types("api", g.bash(""))
		c.waits("api", "permission")
		c.shows("api", mayProceed)
		c.answers("api", mayProceed, "Enter")
		g.reached()
		c.works("api")
		c.keys("api", "Escape")
		c.waits("api", "waits for a prompt")
		first := c.talk("api").Conversation
		c.keys("api", "C-u")
		c.types("api", "/clear")
		c.moves("api", first+" changed")
	})
}

// What hooks told while the service was killed is taken in once it is back, each once and in order.
func TestRealClaudeHooksSpooled(t *testing.T) {
	t.Parallel()
	eachClaude(t, startShared, func(c *claudeStack) {
		t := c.t
		first := c.begin("api").Conversation
		id := c.idOf("api")
		c.asks("api", "@say before", "before")
		c.down(syscall.SIGKILL)

		typed := func(text string) {
			_, err := c.tmux("send-keys", "-t", "=hp-"+id+":", "-l", text)
			must(t, err)
			c.eventually(text+" is typed", func() bool {
				screen, err := c.tmux("capture-pane", "-p", "-t", "=hp-"+id+":")
				return err == nil && strings.Contains(screen, text)
			})
			_, err = c.tmux("send-keys", "-t", "=hp-"+id+":", "Enter")
			must(t, err)
		}
		clear := func(was string) string {
			typed("/clear")
			now := was
			c.eventually("the register has another conversation", func() bool { now = c.registered(); return now != was && now != "" })
			return now
		}
		second := clear(first)
		typed("@say meanwhile")
		c.api.Asked(t, "@say meanwhile")
		c.eventually("the turn is over", func() bool {
			text, _ := os.ReadFile(c.transcript(second))
			return strings.Contains(string(text), "turn_duration")
		})
		third := clear(second)
		c.spooled("the end and the beginning of two conversations, and a turn", func(n int) bool { return n >= 6 })

		c.up()
		now := c.is("api", "has caught up", func(now talk) bool { return now.Conversation == third })
		if now.former() != first+" clear, "+second+" clear" {
			t.Errorf("former: %s", now.former())
		}
		c.waits("api", "ready for the first prompt")
		var told []string
		for _, e := range c.events("api") {
			if e.Event == "conversation" {
				told = append(told, *e.Reason)
			}
		}
		if len(told) != 2 || !strings.Contains(told[0], second+" after "+first) || !strings.Contains(told[1], third+" after "+second) {
			t.Errorf("told of %q", told)
		}
		c.spooled("nothing", func(n int) bool { return n == 0 })
		c.asks("api", "@say after", "after")
	})
}

// spooled waits until so many events of hooks wait for the service.
func (c *claudeStack) spooled(what string, enough func(int) bool) {
	c.t.Helper()
	c.eventually("the spool holds "+what, func() bool {
		files, err := filepath.Glob(c.path("data/hooks/*.json"))
		return err == nil && enough(len(files))
	})
}

// registered is the conversation of the only process in the register.
func (c *claudeStack) registered() string {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.home.Config, "sessions", "*.json"))
	must(c.t, err)
	for _, file := range files {
		var entry struct{ SessionID string }
		if text, err := os.ReadFile(file); err == nil && json.Unmarshal(text, &entry) == nil {
			return entry.SessionID
		}
	}
	return ""
}
