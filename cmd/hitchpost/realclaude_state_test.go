//go:build realclaude

package main

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// Every change that hooks tell of, and every one that they are silent about, is the session's state: with its reason,
// since when, by which source, and at once.
func TestRealClaudeStates(t *testing.T) {
	t.Parallel()
	eachClaude(t, startShared, func(c *claudeStack) {
		t := c.t
		c.follow()
		now := c.begin("api", "--permission-mode", "default")
		x := &blindSpots{c, now.Since}
		x.turn()
		x.yesAndLongTool()
		x.no()
		x.escapes()
		x.command()
		x.background()
		x.failure()
		x.question()
		if got := c.talk("api"); got.Conversation != now.Conversation || len(got.Agent.Former) != 0 || got.Agent.Hooks != "seen" {
			t.Errorf("%+v", got)
		}
		t.Logf("the slowest of all was told after %v", c.slowest)
	})
}

// blindSpots walks the session api through the changes, each from a prompt that is up and empty.
type blindSpots struct {
	*claudeStack
	since time.Time // of the state before
}

// next holds the session's new state against the one before.
func (x *blindSpots) next(now talk) {
	x.t.Helper()
	if now.Since.Before(x.since) || now.Source != "hook" && now.Source != "registry" {
		x.t.Errorf("after %v: %+v", x.since, now)
	}
	x.since = now.Since
	x.seenSoon(now)
}

func (x *blindSpots) nowWaits(reason string) { x.t.Helper(); x.next(x.waits("api", reason)) }
func (x *blindSpots) nowWorks()              { x.t.Helper(); x.next(x.works("api")) }

// clear empties the input line, into which an interrupted prompt may have come back.
func (x *blindSpots) clear() {
	x.t.Helper()
	x.keys("api", "C-u")
	show := func() string { return x.screen("api") }
	x.looks("the input line is empty", func() bool { return emptyLine.MatchString(show()) }, show)
}

var emptyLine = regexp.MustCompile(`(?m)^[❯>][ \x{a0}]*$`)

func (x *blindSpots) turn() {
	x.hangs("api", "@hang one")
	x.nowWorks()
	x.api.Release()
	x.nowWaits("turn finished")
}

// dialog has the tool for commands ask whether it may run the script.
func (x *blindSpots) dialog(name, more string) gate {
	x.t.Helper()
	g := x.gate(name)
	x.types("api", g.bash(more))
	x.nowWaits("permission: Bash")
	x.shows("api", mayProceed)
	return g
}

func (x *blindSpots) yesAndLongTool() {
	g := x.dialog("long", "")
	x.answers("api", mayProceed, "Enter")
	g.reached()
	x.nowWorks()
	g.open()
	x.nowWaits("turn finished")
}

func (x *blindSpots) no() {
	x.dialog("never", "")
	no := regexp.MustCompile(`([0-9])\. No`).FindStringSubmatch(x.screen("api"))
	if no == nil {
		x.t.Fatalf("no No:\n%s", x.screen("api"))
	}
	x.answers("api", mayProceed, no[1])
	x.nowWaits("turn interrupted")
	x.clear()
}

func (x *blindSpots) escapes() {
	x.dialog("refused", "")
	x.answers("api", mayProceed, "Escape")
	x.nowWaits("turn interrupted")
	x.clear()

	g := x.dialog("cut", "")
	x.answers("api", mayProceed, "Enter")
	g.reached()
	x.nowWorks()
	x.keys("api", "Escape")
	x.nowWaits("turn interrupted")
	x.clear()

	for _, key := range []string{"Escape", "C-c"} {
		x.hangs("api", "@hang before "+key)
		x.nowWorks()
		x.keys("api", key)
		x.nowWaits("turn interrupted")
		x.clear()
	}
}

// command runs one of the person's own, with "!". Claude Code then answers what it printed, the fake by the prompt before.
func (x *blindSpots) command() {
	x.asks("api", "@say before a command", "before a command")
	x.next(x.talk("api"))
	g := x.gate("mine")
	x.types("api", "!sh mine.sh")
	g.reached()
	x.works("api")
	g.open()
	x.shows("api", "through mine")
	x.nowWaits("turn finished")
}

// background leaves a command running after the turn, and is woken by its end.
func (x *blindSpots) background() {
	g := x.dialog("later", `,"run_in_background":true`)
	x.answers("api", mayProceed, "Enter")
	g.reached()
	x.nowWorks()
	x.is("api", "works in the background", func(now talk) bool { return now.Agent.Status == "shell" && now.State == "DETACHED" })
	g.open()
	x.nowWaits("turn finished")
}

func (x *blindSpots) failure() {
	x.types("api", "@status 400")
	now := x.is("api", "has failed", func(now talk) bool { return strings.HasPrefix(now.Reason, "error: ") })
	x.next(now)
}

func (x *blindSpots) question() {
	x.types("api", `@tool AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,`+
		`"options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}]}]}`)
	x.nowWaits("question: Which colour?")
	x.shows("api", "❯ 1. Red")
	x.answers("api", "❯ 1. Red", "Enter")
	x.nowWaits("turn finished")
}
