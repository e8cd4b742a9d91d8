//go:build realclaude

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// A stop ends Claude Code and what its tools run, in the foreground and in the background. What made itself a session of
// its own lives on, and is named before another process is started beside it.
func TestRealClaudeStop(t *testing.T) {
	t.Parallel()
	eachClaude(t, startShared, func(c *claudeStack) {
		t := c.t
		c.home.Settings(t, map[string]any{"permissions": map[string]any{"allow": []string{"Bash"}}})
		c.begin("api", "--permission-mode", "default")
		daemon := c.gate("daemon")
		must(t, writeFile(c.path("c/project/leave.sh"), "setsid sh daemon.sh > /dev/null 2>&1 < /dev/null &\n"))
		c.asks("api", `@tool Bash {"command":"sh leave.sh"}`, "tool done")
		left := daemon.reached()
		t.Cleanup(func() { _ = syscall.Kill(left, syscall.SIGKILL) })
		behind := c.gate("behind")
		c.types("api", behind.bash(`,"run_in_background":true`))
		c.is("api", "works in the background", func(now talk) bool { return now.Agent.Status == "shell" })
		front := c.gate("front")
		c.types("api", front.bash(""))
		pids := []int{behind.reached(), front.reached()}
		c.works("api")

		c.ok("stop", "api")
		named := fmt.Sprintf("sh (process %d", left)
		now := c.talk("api")
		if now.State != "STOPPED" || !strings.Contains(now.Reason, "left behind: ") || !strings.Contains(now.Reason, named) {
			t.Errorf("%+v", now)
		}
		got := c.ssh("restart", "api")
		if got.code != 4 || !strings.Contains(got.err, "behind: ") || !strings.Contains(got.err, named) {
			t.Errorf("%+v", got)
		}
		// Some versions leave what a tool runs in the foreground.
		for _, pid := range pids {
			if alive(pid) && !strings.Contains(got.err, fmt.Sprintf("sh (process %d", pid)) {
				t.Errorf("%d goes on and is not named: %s", pid, got.err)
			}
		}
		behind.open()
		front.open()
		daemon.open()
		c.eventually("all that is left ends", func() bool { return !anyAlive(append(pids, left)) })

		// SIGKILL leaves what a tool runs behind as an orphan.
		c.ok("restart", "api", "--fresh") // in the old one some versions begin a turn about the command that was lost
		now = c.waits("api", "ready for the first prompt")
		orphan := c.gate("orphan")
		c.types("api", orphan.bash(""))
		left = orphan.reached()
		must(t, syscall.Kill(c.process(now.Conversation), syscall.SIGKILL))
		if now := c.become("api", "FAILED"); now.ExitSignal == nil || *now.ExitSignal != "KILL" {
			t.Errorf("%+v", now)
		}
		got = c.ssh("restart", "api")
		if got.code != 4 || !strings.Contains(got.err, fmt.Sprintf("(process %d", left)) {
			t.Errorf("%+v", got)
		}
		orphan.open()
		c.eventually("the orphan ends", func() bool { return !alive(left) })
		c.ok("restart", "api")
		c.waits("api", "ready for the next prompt")
	})
}

// Ctrl-Z hands the terminal back to a shell that is not there. The session goes on.
func TestRealClaudeCtrlZ(t *testing.T) {
	t.Parallel()
	eachClaude(t, startShared, func(c *claudeStack) {
		t := c.t
		c.begin("api")
		c.asks("api", "@say before", "before")
		term := c.open(100, 30, "attach", "api")
		term.sees("@say before")
		term.keys("C-z")
		eventually(t, "it hands the terminal back", func() bool { return strings.Contains(term.all(), "suspended") }, term.all)
		term.text("@say after")
		eventually(t, "the prompt is typed", func() bool { return typed("@say after").MatchString(term.screen()) }, term.screen)
		term.keys("Enter")
		term.sees("● after")
		c.waits("api", "turn finished")
	})
}

// yes is the line of a dialog that Enter would choose.
var yes = regexp.MustCompile(`❯ ([0-9]\. )?Yes`)

// A dialog of the start, of which neither hook nor register tells, is shown as what it is; the state is right once it is
// answered.
func TestRealClaudeStartUpDialog(t *testing.T) {
	t.Parallel()
	eachClaude(t, startShared, func(c *claudeStack) {
		t := c.t
		stranger := c.path("stranger")
		must(t, os.Mkdir(stranger, 0o700))
		c.ok(c.words("api", stranger)...)
		c.waits("api", "start-up dialog")
		c.looks("the dialog is shown", func() bool { return strings.Contains(c.ok("show", "api", "--screen"), "Enter to confirm") },
			func() string { return c.screen("api") })
		if now := c.talk("api"); now.Reason != "start-up dialog" || now.Source != "registry" || now.Agent.Hooks != "" {
			t.Errorf("%+v", now)
		}
		term := c.open(100, 30)
		term.sees("start-up dialog")
		term.keys("Enter")
		term.sees("Enter to confirm")
		if !yes.MatchString(term.screen()) {
			term.keys("Down")
		}
		eventually(t, "Yes is chosen", func() bool { return yes.MatchString(term.screen()) }, term.screen)
		term.keys("Enter")
		c.waits("api", "ready for the first prompt")
		c.hangs("api", "@hang here")
		c.is("api", "runs", func(now talk) bool { return now.State == "RUNNING" && now.Attached == 1 })
		term.keys("C-]")
		c.is("api", "is detached", func(now talk) bool { return now.State == "DETACHED" && now.Attached == 0 })
		c.api.Release()
		c.waits("api", "turn finished")
	})
}
