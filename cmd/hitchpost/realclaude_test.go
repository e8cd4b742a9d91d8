//go:build realclaude

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/runtime/claude/claudetest"
)

// The tests of the files realclaude_… run the real Claude Code, each of its versions, as people run it: through the
// OpenSSH client and the built binary, against a fake of its API.

// eachClaude runs a test with each version of the real program, on a stack that serves.
func eachClaude(t *testing.T, begin func(*testing.T) *stack, test func(*claudeStack)) {
	t.Helper()
	for _, version := range claudetest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			test(withClaude(begin(t), version))
		})
	}
}

// startShared serves on a PostgreSQL that is shared with other tests.
func startShared(t *testing.T) *stack {
	t.Helper()
	return start(t)
}

// startAlone serves on a PostgreSQL of its own, which a test may kill.
func startAlone(t *testing.T) *stack {
	t.Helper()
	s := prepare(t)
	s.up()
	return s
}

// claudeStack is a stack whose sessions find the real Claude Code, a home of their own and the fake API.
type claudeStack struct {
	*stack
	api     *claudetest.API
	home    claudetest.Home
	version string

	mu      sync.Mutex
	arrived []arrival // since the last that was looked for
	slowest time.Duration
}

// withClaude gives a stack that serves what sessions of kind claude need.
func withClaude(s *stack, version string) *claudeStack {
	s.t.Helper()
	must(s.t, os.Mkdir(s.path("c"), 0o700))
	home, err := claudetest.HomeIn(s.path("c"))
	must(s.t, err)
	must(s.t, os.Mkdir(s.path("bin"), 0o755))
	must(s.t, os.Symlink(claudetest.Real(s.t, version), s.path("bin/claude")))
	c := &claudeStack{stack: s, api: claudetest.NewAPI(s.t), home: home, version: version}
	c.connect()
	return c
}

// connect opens a connection that the commands share, since there are many of them. Once it is gone each has its own.
func (c *claudeStack) connect() {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "ssh", c.sshArgs("-M", "-N", "-S", c.path("mux"))...)
	cmd.Env = c.env
	must(c.t, cmd.Start())
	done := make(chan struct{})
	go func() { defer close(done); _ = cmd.Wait() }()
	c.t.Cleanup(func() { <-done })
	c.eventually("the connection is up", func() bool { _, err := os.Stat(c.path("mux")); return err == nil })
}

func (c *claudeStack) ssh(args ...string) answer {
	c.t.Helper()
	return c.stack.ssh(append([]string{"-S", c.path("mux")}, args...)...)
}

func (c *claudeStack) ok(args ...string) string {
	c.t.Helper()
	a := c.ssh(args...)
	if a.code != 0 {
		c.t.Fatalf("ssh %v: exit %d\n%s%s", args, a.code, a.out, a.err)
	}
	return a.out
}

// environment is what a session of kind claude gets beside its own environment, as K=V.
func (c *claudeStack) environment() []string {
	var env []string
	for _, kv := range c.home.Environment(c.api.URL()) {
		switch name, value, _ := strings.Cut(kv, "="); name {
		case "TERM", "LANG", "SHELL": // as the session has them
		case "PATH":
			env = append(env, name+"="+c.path("bin")+":"+value)
		default:
			env = append(env, kv)
		}
	}
	return env
}

// words are those of `new` for a session of kind claude in a directory, with words for claude itself.
func (c *claudeStack) words(title, dir string, args ...string) []string {
	words := []string{"new", "--kind", "claude", "--title", title, "--cwd", dir}
	for _, kv := range c.environment() {
		words = append(words, "--env", kv)
	}
	if len(args) > 0 {
		words = append(append(words, "--"), args...)
	}
	return words
}

// beside are the words of a `new` that is to start although another agent works in the same directory.
func beside(words ...string) []string { return append([]string{words[0], "--force"}, words[1:]...) }

// begin starts a session in the home's project and waits until its prompt is up.
func (c *claudeStack) begin(title string, args ...string) talk {
	c.t.Helper()
	c.ok(c.words(title, c.home.Project, args...)...)
	return c.waits(title, "ready for the first prompt")
}

// talk is a session of kind claude as scripts see it.
type talk struct {
	seen
	Since        time.Time `json:"state_since"`
	Conversation string    `json:"conversation_id"`
	Agent        struct {
		Version      string
		Status       string
		StatusSource string    `json:"status_source"`
		StatusAt     time.Time `json:"status_at"`
		Uncertain    *string
		Hooks        string
		Screen       string
		Title        string
		LastPrompt   string `json:"last_prompt"`
		LastAnswer   string `json:"last_answer"`
		Transcript   string
		Tokens       *struct{ Input, Output, Context int64 }
		Former       []struct {
			ID           string
			Since, Until time.Time
			How          string
		}
	}
}

// former is the chain of conversations that were left, as "ID how".
func (x talk) former() string {
	var all []string
	for _, f := range x.Agent.Former {
		all = append(all, f.ID+" "+f.How)
	}
	return strings.Join(all, ", ")
}

func (c *claudeStack) talk(ref string) talk {
	c.t.Helper()
	return c.talkIn(c.ok("show", "--json", ref))
}

func (c *claudeStack) talkIn(doc string) talk {
	c.t.Helper()
	var got talk
	if err := json.Unmarshal([]byte(doc), &got); err != nil {
		c.t.Fatalf("%v\n%s", err, doc)
	}
	return got
}

// looks waits for a condition that costs a command over ssh to ask for.
func (c *claudeStack) looks(what string, ok func() bool, show func() string) {
	c.t.Helper()
	var last time.Time
	eventually(c.t, what, func() bool {
		if time.Since(last) < 150*time.Millisecond {
			return false
		}
		good := ok()
		last = time.Now()
		return good
	}, show)
}

// is waits until a session is as wanted.
func (c *claudeStack) is(ref, what string, ok func(talk) bool) talk {
	c.t.Helper()
	var now talk
	c.looks(ref+" "+what, func() bool { now = c.talk(ref); return ok(now) },
		func() string { return fmt.Sprintf("%+v\n%s\n%s", now, c.screen(ref), c.ok("events", ref)) })
	return now
}

// waits waits until a session waits for a person, for the reason given, and is sure of it. Where that is a prompt, it is up
// once the register tells so: what is typed after the hook and before that may be lost.
func (c *claudeStack) waits(ref, reason string) talk {
	c.t.Helper()
	c.become(ref, "WAITING_FOR_INPUT")
	prompt := strings.HasPrefix(reason, "ready for the ")
	return c.is(ref, "waits: "+reason, func(now talk) bool {
		return now.State == "WAITING_FOR_INPUT" && now.Reason == reason && now.Agent.Uncertain == nil &&
			(!prompt || now.Agent.StatusSource == "registry")
	})
}

// works waits until a session does not wait for a person, and is sure of it.
func (c *claudeStack) works(ref string) talk {
	c.t.Helper()
	c.become(ref, "DETACHED,RUNNING")
	return c.is(ref, "works", func(now talk) bool {
		live := now.State == "DETACHED" || now.State == "RUNNING"
		return live && strings.HasPrefix(now.Reason, "works") && now.Agent.Uncertain == nil
	})
}

// become waits with `wait` until a session is in one of the states.
func (c *claudeStack) become(ref, states string) talk {
	c.t.Helper()
	a := c.ssh("wait", ref, "--for", states, "--timeout", "50s", "--json")
	if a.code != 0 {
		c.t.Fatalf("%s does not become %s: %+v\n%s\n%s", ref, states, a, c.screen(ref), c.ok("events", ref))
	}
	return c.talkIn(a.out)
}

// screen is what the session shows now.
func (c *claudeStack) screen(ref string) string {
	c.t.Helper()
	return c.ssh("capture", ref).out
}

// shows waits until the session's screen shows text.
func (c *claudeStack) shows(ref, text string) {
	c.t.Helper()
	c.looks(ref+" shows "+text, func() bool { return strings.Contains(c.screen(ref), text) },
		func() string { return c.screen(ref) })
}

// types types a text and sends it off. An Enter that comes with a text is taken for a part of it.
func (c *claudeStack) types(ref, text string) {
	c.t.Helper()
	if a := c.ssh("send", ref, text); a.code != 0 && a.code != 6 {
		c.t.Fatalf("send: %+v", a)
	}
	c.shows(ref, text[max(1, len(text)-20):]) // the ! of a command stands apart from it
	c.keys(ref, "Enter")
}

// answers presses the key that answers a dialog until it is gone: one that has just come up may take none yet.
func (c *claudeStack) answers(ref, dialog, key string) {
	c.t.Helper()
	var last time.Time
	c.looks(dialog+" is gone", func() bool {
		if !strings.Contains(c.screen(ref), dialog) {
			return true
		}
		if time.Since(last) > 2*time.Second {
			c.keys(ref, key)
			last = time.Now()
		}
		return false
	}, func() string { return c.screen(ref) })
}

const mayProceed = "Do you want to proceed?"

// typed is the input line with a text in it.
func typed(text string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[❯>][ \x{a0}]` + regexp.QuoteMeta(text))
}

// keys presses keys, of which some change nothing on the screen.
func (c *claudeStack) keys(ref string, keys ...string) {
	c.t.Helper()
	words := []string{"send", ref}
	for _, key := range keys {
		words = append(words, "--key", key)
	}
	if a := c.ssh(words...); a.code != 0 && a.code != 6 {
		c.t.Fatalf("%v: %+v", words, a)
	}
}

// asks has a turn with a session, from its prompt to its answer.
func (c *claudeStack) asks(ref, prompt, answer string) {
	c.t.Helper()
	before := c.talk(ref).Since
	c.types(ref, prompt)
	c.is(ref, "has answered "+prompt, func(now talk) bool {
		return now.State == "WAITING_FOR_INPUT" && now.Reason == "turn finished" && now.Since.After(before)
	})
	c.shows(ref, answer)
}

// hangs has a session begin a turn that does not end by itself. Its prompt is one that was not given before.
func (c *claudeStack) hangs(ref, prompt string) {
	c.t.Helper()
	c.types(ref, prompt)
	c.api.Asked(c.t, prompt)
}

// transcript is where a conversation is written down; empty while it is not.
func (c *claudeStack) transcript(conversation string) string {
	c.t.Helper()
	found, err := filepath.Glob(filepath.Join(c.home.Config, "projects", "*", conversation+".jsonl"))
	must(c.t, err)
	if len(found) > 1 {
		c.t.Fatalf("transcripts of %s: %v", conversation, found)
	}
	return strings.Join(found, "")
}
