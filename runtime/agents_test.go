package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude/claudetest"
)

// standIn is the folder of the program that stands in for Claude Code, built once.
var standIn = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hp-claude-")
	if err == nil {
		_, err = claudetest.Build(dir)
	}
	return dir, err
})

// den is a rig with the stand-in and a home for it.
type den struct {
	*rig
	home claudetest.Home
	path string
}

func newDen(t *testing.T) *den {
	t.Helper()
	dir, err := standIn()
	must(t, err)
	return &den{newRig(t), claudetest.NewHome(t), dir}
}

// request asks for a session of kind claude with these words.
func (d *den) request(title string, words ...string) hitchpost.StartRequest {
	return hitchpost.StartRequest{
		Title: title, Kind: hitchpost.Claude, Cwd: d.home.Project, Args: words,
		Env: []string{"PATH=" + d.path + ":" + os.Getenv("PATH"), "HOME=" + d.home.Dir, "CLAUDE_CONFIG_DIR=" + d.home.Config},
	}
}

// begin starts one, and waits until it asks for a prompt.
func (d *den) begin(title string, words ...string) hitchpost.Session {
	d.t.Helper()
	res, err := d.Start(context.Background(), admin, d.request(title, words...))
	must(d.t, err)
	return d.waits(res.Session.ID, "ready for the first prompt")
}

// is waits until a session satisfies ok.
func (d *den) is(id, what string, ok func(hitchpost.Session) bool) hitchpost.Session {
	d.t.Helper()
	var s hitchpost.Session
	eventually(d.t, func() bool {
		var err error
		s, err = d.Show(context.Background(), admin, id)
		return err == nil && ok(s)
	}, func() string {
		text, _ := d.captured(admin, id, hitchpost.CaptureRequest{})
		return fmt.Sprintf("want %s; %s is %s (%s) by %s since %v, agent %+v\n%s", what, s.Handle, s.State, s.StateReason, s.StateSource, s.StateSince, s.Agent, text)
	})
	return s
}

func (d *den) waits(id, reason string) hitchpost.Session {
	d.t.Helper()
	return d.is(id, "waiting: "+reason, func(s hitchpost.Session) bool {
		return s.State == hitchpost.WaitingForInput && s.StateReason == reason && s.Agent.Uncertain == ""
	})
}

// asks waits until a dialog is up, which its hook tells of before it takes keys.
func (d *den) asks(id, reason string) hitchpost.Session {
	d.t.Helper()
	return d.is(id, "asking: "+reason, func(s hitchpost.Session) bool {
		return s.State == hitchpost.WaitingForInput && s.StateReason == reason && s.Agent.StatusSource == hitchpost.FromRegistry
	})
}

func (d *den) works(id string) hitchpost.Session {
	d.t.Helper()
	return d.is(id, "at work", func(s hitchpost.Session) bool { return s.State == hitchpost.Detached && s.Agent.Status == "busy" })
}

// prompt types a prompt and waits until its turn is over, which the hook tells of before the program takes the next line.
func (d *den) prompt(id, text string) hitchpost.Session {
	d.t.Helper()
	was, err := d.Show(context.Background(), admin, id)
	must(d.t, err)
	d.send(id, text, "Enter")
	return d.is(id, fmt.Sprintf("another turn finished since %v", was.StateSince), func(s hitchpost.Session) bool {
		return s.State == hitchpost.WaitingForInput && s.StateReason == "turn finished" && s.StateSince.After(was.StateSince) &&
			s.Agent.StatusSource == hitchpost.FromRegistry
	})
}

// restart restarts a session and returns it once it asks for a prompt.
func (d *den) restart(id string, r hitchpost.RestartRequest, reason string) hitchpost.Session {
	d.t.Helper()
	_, err := d.Restart(context.Background(), admin, id, r)
	must(d.t, err)
	return d.waits(id, reason)
}

func (d *den) lose(ids ...string) {
	d.t.Helper()
	d.killTmux()
	for _, id := range ids {
		d.becomes(id, hitchpost.Recoverable)
	}
}

// A turn, a permission that is granted, one that is not, and an interruption: what a person sees follows, by hooks where
// they tell and by the register where they do not.
func TestAgentTellsWhenItWaits(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	s := d.begin("job", "--permission-mode", "default")
	if a := s.Agent; s.Kind != hitchpost.Claude || a.Version != "2.1.332" || a.ConfigDir != d.home.Config || a.Dir != d.home.Project ||
		a.Hooks != hitchpost.HooksSeen || a.Screen != hitchpost.MainScreen {
		t.Errorf("%+v", a)
	}
	first := d.prompt(s.ID, "hello")
	for i := range 3 { // who sends and then waits is not told of the wait before
		d.send(s.ID, fmt.Sprintf("@slow %d", i+2), "Enter")
		next, err := d.Wait(context.Background(), admin, s.ID, hitchpost.WaitRequest{Timeout: waitLimit})
		if err != nil || !next.StateSince.After(first.StateSince) {
			t.Errorf("waits since %v, before since %v, %v", next.StateSince, first.StateSince, err)
		}
		if next.Agent.Hooks != hitchpost.HooksSeen || !strings.HasSuffix(next.Agent.LastAnswer, fmt.Sprintf("word%d", i+2)) {
			t.Errorf("the last answer is %q", next.Agent.LastAnswer)
		}
		first = next
	}
	d.is(s.ID, "what was said", func(s hitchpost.Session) bool {
		return s.Agent.LastPrompt == "@slow 4" && s.Agent.LastAnswer != "" && s.Agent.TokensOut > 0
	})

	d.send(s.ID, `@tool Bash {"command":"cat gate","description":"x"}`, "Enter")
	if got := d.asks(s.ID, "permission: Bash"); !got.StateSince.After(first.StateSince) {
		t.Errorf("waits since %v", got.StateSince)
	}
	gate := filepath.Join(d.home.Project, "gate")
	must(t, os.WriteFile(gate, nil, 0o600))
	d.send(s.ID, "", "1")
	d.waits(s.ID, "turn finished")

	d.send(s.ID, `@tool Bash {"command":"true","description":"x"}`, "Enter")
	d.asks(s.ID, "permission: Bash")
	d.send(s.ID, "", "Escape") // no hook tells
	d.is(s.ID, "idle", func(s hitchpost.Session) bool { return s.Agent.Status == "idle" && s.StateReason != "permission: Bash" })

	d.send(s.ID, "@hang", "Enter")
	d.works(s.ID)
	d.send(s.ID, "", "Escape")
	d.is(s.ID, "waiting after an interruption", func(s hitchpost.Session) bool { return s.State == hitchpost.WaitingForInput })

	d.send(s.ID, "", "C-u") // it put the prompt back
	d.send(s.ID, "@ask which colour", "Enter")
	d.is(s.ID, "a question", func(s hitchpost.Session) bool { return strings.HasPrefix(s.StateReason, "question") })
	_, err := d.Stop(context.Background(), admin, s.ID, hitchpost.StopRequest{})
	must(t, err)
	if got := d.becomes(s.ID, hitchpost.Stopped); got.ExitCode == nil || *got.ExitCode != 143 {
		t.Errorf("%+v", got)
	}
}

// Where neither hooks nor the register tell anything any more, the state stays as it was, and is shown as uncertain.
func TestAgentFallsSilent(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	d.home.Settings(t, map[string]any{"disableAllHooks": true})
	res, err := d.Start(context.Background(), admin, d.request("job"))
	must(t, err)
	s := d.waits(res.Session.ID, "waits for a prompt")
	register := filepath.Join(d.home.Config, "sessions")
	must(t, os.Rename(register, register+".away"))
	silent := d.is(s.ID, "uncertain", func(s hitchpost.Session) bool {
		return strings.Contains(s.Agent.Uncertain, "the register has no entry of it; last heard at ")
	})
	if silent.State != hitchpost.WaitingForInput || silent.StateReason != s.StateReason || silent.Agent.Status != "idle" {
		t.Errorf("%s (%s), %s", silent.State, silent.StateReason, silent.Agent.Status)
	}
	must(t, os.WriteFile(register, nil, 0o600)) // which cannot be read
	d.is(s.ID, "uncertain", func(s hitchpost.Session) bool {
		return strings.Contains(s.Agent.Uncertain, "the register cannot be read; last heard at ")
	})
	must(t, os.Remove(register))
	must(t, os.Rename(register+".away", register))
	d.waits(s.ID, "waits for a prompt")
}

// Which conversation a session has is known from the register too, once it has told so for a while, and what was left is
// on record until then.
func TestAgentMovesWithoutHooks(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	d.home.Settings(t, map[string]any{"disableAllHooks": true})
	res, err := d.Start(context.Background(), admin, d.request("job"))
	must(t, err)
	s := d.waits(res.Session.ID, "waits for a prompt")
	left := time.Now()
	d.send(s.ID, "/clear", "Enter")
	moved := d.is(s.ID, "moved", func(now hitchpost.Session) bool { return now.ConversationID != s.ConversationID })
	if f := moved.Agent.Former; len(f) != 1 || f[0].ID != s.ConversationID || f[0].How != "changed" || f[0].Until.Before(left) {
		t.Errorf("%+v, left at %v", f, left)
	}
}

// Without hooks the register alone tells, and that is said.
func TestAgentWithoutHooks(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	d.home.Settings(t, map[string]any{"disableAllHooks": true})
	res, err := d.Start(context.Background(), admin, d.request("job"))
	must(t, err)
	s := d.is(res.Session.ID, "hooks not seen", func(s hitchpost.Session) bool {
		return s.State == hitchpost.WaitingForInput && s.Agent.Hooks == hitchpost.HooksNotSeen
	})
	d.send(s.ID, "@hang", "Enter")
	d.works(s.ID)
	d.send(s.ID, "", "Escape")
	got := d.is(s.ID, "waiting", func(s hitchpost.Session) bool { return s.State == hitchpost.WaitingForInput })
	if got.StateSource != hitchpost.FromRegistry {
		t.Errorf("by %s", got.StateSource)
	}
}

// A dialog of the first start is known by the silence of everything else.
func TestAgentStartUpDialog(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	req := d.request("job")
	req.Cwd = d.dir // trusted by nobody
	must(t, os.WriteFile(filepath.Join(d.home.Config, ".claude.json"), []byte(`{"hasCompletedOnboarding":true,"projects":{}}`), 0o600))
	res, err := d.Start(context.Background(), admin, req)
	must(t, err)
	d.waits(res.Session.ID, "start-up dialog")
}

// What cannot be a session is refused before anything is made, with the reason.
func TestAgentRefusals(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	for name, c := range map[string]struct {
		words []string
		env   []string
		says  string
	}{
		"no program":      {nil, []string{"PATH=/nowhere"}, "Claude Code"},
		"print":           {[]string{"-p", "hello"}, nil, "-p"},
		"background":      {[]string{"--bg"}, nil, "--bg"},
		"resume by name":  {[]string{"--resume", "yesterday"}, nil, "--resume"},
		"continue":        {[]string{"--continue"}, nil, "--continue"},
		"second tmux":     {[]string{"--worktree", "x", "--tmux"}, nil, "--tmux"},
		"no settings":     {[]string{"--settings", "none.json"}, nil, "none.json"},
		"broken settings": {[]string{"--settings", "{broken}"}, nil, "settings"},
		"unknown id":      {[]string{"--resume", uuid.NewString()}, nil, "no conversation"},
	} {
		req := d.request(name, c.words...)
		req.Env = append(req.Env, c.env...)
		_, err := d.Start(context.Background(), admin, req)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	req := d.request("restart command")
	req.RestartCommand = "true"
	_, err := d.Start(context.Background(), admin, req)
	kind(t, err, hitchpost.UsageError)
	list, err := d.List(context.Background(), admin, hitchpost.ListRequest{All: true})
	entries, derr := os.ReadDir(filepath.Join(d.dir, "sessions"))
	if err != nil || derr != nil || len(list) != 0 || len(entries) != 0 {
		t.Errorf("something was made: %v %v %v %v", list, entries, err, derr)
	}
	other := d.start("command", "false")
	d.becomes(other.ID, hitchpost.Failed)
	_, err = d.Restart(context.Background(), admin, other.ID, hitchpost.RestartRequest{Fresh: true})
	kind(t, err, hitchpost.UsageError)
}

// An event that comes with another token, of another session or of an older run is no news.
func TestForgedHooksAreDropped(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	s := d.begin("job")
	token, err := os.ReadFile(filepath.Join(d.dir, "sessions", s.ID, "hook-token"))
	must(t, err)
	forge := func(run int, token, conversation string) {
		t.Helper()
		text, err := json.Marshal(map[string]any{
			"version": 1, "token": token, "session": s.ID, "at": time.Now().UTC(), "name": "SessionStart", "source": "clear",
			"conversation": conversation,
		})
		must(t, err)
		mark := fmt.Sprintf("%09d-%019d-%010d", run, time.Now().UnixNano(), 1)
		aside := filepath.Join(d.dir, "hooks", "."+mark)
		must(t, os.WriteFile(aside, text, 0o600))
		must(t, os.Rename(aside, filepath.Join(d.dir, "hooks", mark+".json")))
	}
	forge(0, "made up", uuid.NewString())
	forge(-0, strings.Repeat("x", len(token)), "../../etc")
	eventually(t, func() bool {
		entries, err := os.ReadDir(filepath.Join(d.dir, "hooks"))
		return err == nil && len(entries) == 0
	}, func() string { return "the spool is not read" })
	if now := d.waits(s.ID, "ready for the first prompt"); now.ConversationID != s.ConversationID {
		t.Errorf("%+v", now)
	}
}

func hintOf(err error) string {
	var told *hitchpost.Error
	if errors.As(err, &told) {
		return told.Hint
	}
	return ""
}

// A config directory on a disk that hangs holds up neither the others' states nor their restarts, and of its own agents
// it is told that nothing is known.
func TestAgentsBesideADiskThatHangs(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	s := d.begin("job")
	other := claudetest.NewHome(t)
	req := d.request("stuck")
	req.Cwd, req.Env = other.Project, append(req.Env, "HOME="+other.Dir, "CLAUDE_CONFIG_DIR="+other.Config)
	res, err := d.Start(context.Background(), admin, req)
	must(t, err)
	stuck := d.waits(res.Session.ID, "ready for the first prompt")
	d.send(stuck.ID, "@hang", "Enter")
	d.is(stuck.ID, "at work", func(s hitchpost.Session) bool {
		return s.Agent.StatusSource == hitchpost.FromRegistry && s.Agent.Status == "busy"
	})

	register := filepath.Join(other.Config, "sessions")
	must(t, os.Rename(register, register+".away"))
	must(t, syscall.Mkfifo(register, 0o600)) // to open it is to wait for who writes
	answers := sync.OnceFunc(func() {
		must(t, os.Rename(register, register+".fifo"))
		must(t, os.Rename(register+".away", register))
		f, err := os.OpenFile(register+".fifo", os.O_RDWR|syscall.O_NONBLOCK, 0)
		must(t, err)
		must(t, f.Close())
	})
	defer answers()
	d.is(stuck.ID, "uncertain", func(s hitchpost.Session) bool {
		return strings.Contains(s.Agent.Uncertain, "the register cannot be read; last heard at ")
	})
	d.prompt(s.ID, "hello")
	d.send(s.ID, "/exit", "Enter")
	d.becomes(s.ID, hitchpost.Stopped)
	d.restart(s.ID, hitchpost.RestartRequest{}, "ready for the next prompt")
	answers()
	d.is(stuck.ID, "certain", func(s hitchpost.Session) bool { return s.Agent.Uncertain == "" && s.Agent.Status == "busy" })
}
