//go:build realclaude

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost/runtime/claude/claudetest"
)

// A reboot loses every process. Each session comes back with its own conversation, once a person asks for it, and
// nothing is sent again by itself.
func TestRealClaudeReboot(t *testing.T) {
	t.Parallel()
	eachClaude(t, startAlone, func(c *claudeStack) {
		t := c.t
		was := c.talksOfFour()
		c.killAll()
		c.up()
		for title := range was {
			if now := c.become(title, "RECOVERABLE"); now.Restarts != 0 || now.Conversation != was[title].Conversation {
				t.Errorf("%s is lost as %+v", title, now)
			}
		}
		c.picks("one")
		c.recalls(was["one"], "@say of one", "@recall")

		c.ok("restart", "cut", "--force") // the others work in the same directory
		c.waits("cut", "ready for the next prompt")
		c.shows("cut", "@hang in the middle")

		c.ok("restart", "two", "--force")
		c.waits("two", "ready for the next prompt")
		c.shows("two", "@say of two")
		c.asks("two", "@recall", "recall: @say of two | @recall")
		c.recalls(was["two"], "@say of two", "@recall")

		c.ok("restart", "silent", "--force")
		c.waits("silent", "ready for the first prompt")
		c.asks("silent", "@say of silent", "of silent")
		c.recalls(was["silent"], "@say of silent")

		for title := range was {
			now := c.talk(title)
			if now.ID != was[title].ID || now.Restarts != 1 || now.Cwd != was[title].Cwd || len(now.Agent.Former) != 0 {
				t.Errorf("%s is now %+v", title, now)
			}
		}
		again := 0
		for _, r := range c.api.Requests() {
			if !r.Title && len(r.Texts) > 0 && r.Texts[len(r.Texts)-1] == "@hang in the middle" {
				again++
			}
		}
		if again != 1 {
			t.Errorf("the prompt that was cut off was sent %d times", again)
		}
		c.types("cut", "!echo [$CLAUDE_CODE_RESUME_INTERRUPTED_TURN]")
		c.shows("cut", "[]")
	})
}

// talksOfFour starts four sessions in one directory: with two something was said, one is in the middle of a turn, and one
// was never given a prompt. All that was said is written down.
func (c *claudeStack) talksOfFour() map[string]talk {
	c.t.Helper()
	titles := []string{"one", "two", "cut", "silent"}
	for _, title := range titles {
		c.ok(beside(c.words(title, c.home.Project)...)...)
	}
	was := map[string]talk{}
	for _, title := range titles {
		was[title] = c.waits(title, "ready for the first prompt")
	}
	for _, title := range []string{"one", "two", "cut"} {
		c.asks(title, "@say of "+title, "of "+title)
		c.written(was[title].Conversation, `"of `+title)
	}
	c.hangs("cut", "@hang in the middle")
	c.works("cut")
	c.written(was["cut"].Conversation, "@hang in the middle")
	return was
}

// picks restarts a lost session from the picker and goes on there: what was said before is on the screen.
func (c *claudeStack) picks(title string) {
	c.t.Helper()
	term := c.open(100, 30)
	term.sees("RECOVERABLE")
	term.keys("/")
	term.text(title)
	term.keys("Enter", "r")
	c.waits(title, "ready for the next prompt")
	term.keys("Enter")
	term.sees("@say of " + title)
	term.text("@recall")
	eventually(c.t, "the prompt is typed", func() bool { return typed("@recall").MatchString(term.screen()) }, term.screen)
	term.keys("Enter")
	term.sees("recall: @say of " + title + " | @recall")
}

// recalls fails unless the session's conversation, and no other, was asked with these texts.
func (c *claudeStack) recalls(was talk, texts ...string) {
	c.t.Helper()
	c.api.Await(c.t, strings.Join(texts, " | "), func(r claudetest.Request) bool {
		return !r.Title && r.Session == was.Conversation && slices.Equal(r.Texts, texts)
	})
	for _, r := range c.api.Requests() {
		if r.Session != was.Conversation && !r.Title && slices.Contains(r.Texts, texts[0]) {
			c.t.Errorf("%s was also said in the conversation %s", texts[0], r.Session)
		}
	}
}

// A conversation that cannot be had is not replaced by another one: the person is told, and chooses.
func TestRealClaudeRestartChoices(t *testing.T) {
	t.Parallel()
	eachClaude(t, startShared, func(c *claudeStack) {
		t := c.t
		first := c.begin("api").Conversation
		c.asks("api", "@say of the first", "of the first")
		c.written(first, `"of the first`)
		c.lose("api")

		path := c.transcript(first)
		must(t, os.Rename(path, path+".away"))
		got := c.ssh("restart", "api")
		if got.code != 4 || !strings.Contains(got.err, "transcript of the conversation "+first+" is gone") ||
			!strings.Contains(got.err, "--fresh") || !strings.Contains(got.err, "--conversation") {
			t.Errorf("%+v", got)
		}
		if now := c.talk("api"); now.State != "RECOVERABLE" || now.Conversation != first {
			t.Errorf("%+v", now)
		}

		c.ok("restart", "api", "--fresh")
		now := c.waits("api", "ready for the first prompt")
		second := now.Conversation
		if second == first || now.former() != first+" restart" {
			t.Errorf("%+v", now)
		}
		c.asks("api", "@say of the second", "of the second")
		c.written(second, `"of the second`)
		c.lose("api")
		must(t, os.Rename(path+".away", path))
		c.ok("restart", "api", "--conversation", first)
		now = c.waits("api", "ready for the next prompt")
		if now.Conversation != first || now.former() != first+" restart, "+second+" restart" {
			t.Errorf("%+v", now)
		}
		c.asks("api", "@recall", "recall: @say of the first | @recall")
	})
}

// One process has a conversation open, whoever started it.
func TestRealClaudeOneProcess(t *testing.T) {
	t.Parallel()
	eachClaude(t, startShared, func(c *claudeStack) {
		t := c.t
		id := c.begin("api").Conversation
		c.asks("api", "@say of api", "of api")
		c.written(id, "of api")
		refused := func(holder string, words ...string) {
			t.Helper()
			got := c.ssh(words...)
			if got.code != 4 || !strings.Contains(got.err, holder) || !strings.Contains(got.err, "--fork-session") {
				t.Errorf("%v: %+v", words, got)
			}
		}
		refused("session api runs the conversation "+id, c.words("other", c.home.Project, "--resume", id)...)
		c.lose("api")

		plain := c.openScript(100, 30, c.environment(), `cd "$1" && exec claude --resume "$2"`, c.home.Project, id)
		pid := 0
		c.eventually("it is open in a plain terminal", func() bool { pid = c.process(id); return pid != 0 })
		refused("process "+strconv.Itoa(pid)+" has the conversation "+id+" open", "restart", "api")
		if now := c.talk("api"); now.State != "RECOVERABLE" || now.Conversation != id {
			t.Errorf("%+v", now)
		}
		c.ok(beside(c.words("copy", c.home.Project, "--resume", id, "--fork-session")...)...)
		if now := c.waits("copy", "ready for the next prompt"); now.Conversation == id {
			t.Errorf("%+v", now)
		}
		c.asks("copy", "@recall", "recall: @say of api | @recall")
		plain.kill()

		answers := make(chan answer)
		for range 2 {
			go func() { answers <- c.ssh("restart", "api", "--force") }() // the copy works in the same directory
		}
		a, b := <-answers, <-answers
		if a.code != 0 && b.code != 0 || a.code+b.code != 0 && a.code+b.code != 4 {
			t.Errorf("%+v\n%+v", a, b)
		}
		if now := c.waits("api", "ready for the next prompt"); now.Restarts != 1 || now.Conversation != id {
			t.Errorf("%+v", now)
		}
		c.eventually("it is in the register", func() bool { return c.process(id) != 0 })
		if n := len(c.processes(id)); n != 1 {
			t.Errorf("%d processes have the conversation open", n)
		}
	})
}

// lose takes the session's terminal away from outside.
func (c *claudeStack) lose(ref string) {
	c.t.Helper()
	pid := c.process(c.talk(ref).Conversation)
	_, err := c.tmux("kill-session", "-t", "=hp-"+c.idOf(ref))
	must(c.t, err)
	c.become(ref, "RECOVERABLE")
	c.eventually("its process ends", func() bool { return !alive(pid) })
}

// written waits until a text is in a message of the transcript, which comes after it is on the screen.
func (c *claudeStack) written(conversation, text string) {
	c.t.Helper()
	c.eventually(text+" is written down", func() bool {
		all, _ := os.ReadFile(c.transcript(conversation)) // it may not be there yet
		for line := range strings.Lines(string(all)) {
			var l struct{ Type string } // whole requests are written down too, and before their messages
			if json.Unmarshal([]byte(line), &l) == nil && (l.Type == "user" || l.Type == "assistant") && strings.Contains(line, text) {
				return true
			}
		}
		return false
	})
}

// processes are the living processes that have a conversation open, by the register.
func (c *claudeStack) processes(conversation string) []int {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.home.Config, "sessions", "*.json"))
	must(c.t, err)
	var pids []int
	for _, file := range files {
		var entry struct {
			Pid       int
			SessionID string
			Status    string
		}
		text, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(text, &entry) == nil && entry.SessionID == conversation && entry.Status != "" &&
			alive(entry.Pid) {
			pids = append(pids, entry.Pid)
		}
	}
	return pids
}

func (c *claudeStack) process(conversation string) int {
	if pids := c.processes(conversation); len(pids) > 0 {
		return pids[0]
	}
	return 0
}
