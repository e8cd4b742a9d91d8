package claude_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
)

const (
	byRegister = hitchpost.FromRegistry
	byHook     = hitchpost.FromHook
)

// at is that many seconds after the run began that the tests judge.
func at(seconds float64) time.Time {
	return time.Date(2027, 1, 15, 8, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
}

// told is what the events amount to.
func told(events ...claude.Event) (h claude.Hooks) {
	for _, e := range events {
		h = h.With(e)
	}
	return h
}

func event(seconds float64, name string) claude.Event {
	return claude.Event{At: at(seconds), Name: name}
}

func begins(seconds float64, source string) claude.Event {
	return claude.Event{At: at(seconds), Name: claude.HookSessionStart, Source: source}
}

func prompted(seconds float64) claude.Event { return event(seconds, claude.HookUserPromptSubmit) }

func uses(seconds float64, tool string) claude.Event {
	return claude.Event{At: at(seconds), Name: claude.HookPreToolUse, Tool: tool}
}

func used(seconds float64, tool string) claude.Event {
	return claude.Event{At: at(seconds), Name: claude.HookPostToolUse, Tool: tool}
}

func asks(seconds float64, tool, question string) claude.Event {
	return claude.Event{At: at(seconds), Name: claude.HookPermissionRequest, Tool: tool, Question: question}
}

func stops(seconds float64, shells, others int) claude.Event {
	return claude.Event{At: at(seconds), Name: claude.HookStop, Shells: shells, Others: others}
}

func fails(seconds float64, kind, message string) claude.Event {
	return claude.Event{At: at(seconds), Name: claude.HookStopFailure, Error: kind, Message: message}
}

func notifies(seconds float64, kind string) claude.Event {
	return claude.Event{At: at(seconds), Name: claude.HookNotification, Notification: kind}
}

func ends(seconds float64, reason string) claude.Event {
	return claude.Event{At: at(seconds), Name: claude.HookSessionEnd, Reason: reason}
}

// noted is an entry of the register.
func noted(seconds float64, status, waitingFor string) *claude.Entry {
	return &claude.Entry{Pid: 7, Status: status, WaitingFor: waitingFor, StatusAt: at(seconds)}
}

func idle(seconds float64) *claude.Entry  { return noted(seconds, claude.StatusIdle, "") }
func busy(seconds float64) *claude.Entry  { return noted(seconds, claude.StatusBusy, "") }
func shell(seconds float64) *claude.Entry { return noted(seconds, claude.StatusShell, "") }

func waiting(seconds float64, what string) *claude.Entry {
	return noted(seconds, claude.StatusWaiting, what)
}

func waits(since float64, source hitchpost.Source, status, reason string) claude.Verdict {
	return claude.Verdict{Known: true, Waits: true, Status: status, Reason: reason, Source: source, Since: at(since)}
}

func works(since float64, source hitchpost.Source, status, reason string) claude.Verdict {
	v := waits(since, source, status, reason)
	v.Waits = false
	return v
}

// Every way in which a turn goes on or ends without a hook, and each source without the other.
func TestJudge(t *testing.T) {
	t.Parallel()
	const permission, input, dialog = "permission prompt", "input needed", "dialog open"
	for _, c := range []struct {
		name  string
		now   float64
		entry *claude.Entry
		hooks claude.Hooks
		want  claude.Verdict
	}{
		// The start.
		{"nothing yet", 4, nil, told(), claude.Verdict{}},
		{"a dialog before the first prompt", 5, nil, told(), waits(0, byRegister, "", "start-up dialog")},
		{"an entry without a status", 3, noted(1, "", ""), told(), claude.Verdict{}},
		{"an entry without a status for long", 6.5, noted(1, "", ""), told(), waits(1, byRegister, "", "start-up dialog")},
		{"the hook of the start first", 1, noted(0.9, "", ""), told(begins(1, "startup")),
			waits(1, byHook, "idle", "ready for the first prompt")},
		{"up", 2, idle(1.5), told(begins(1, "startup")), waits(1.5, byRegister, "idle", "ready for the first prompt")},
		{"up again", 2, idle(1.5), told(begins(1, "resume")), waits(1.5, byRegister, "idle", "ready for the next prompt")},
		{"after /clear", 60, idle(50), told(begins(1, "startup"), prompted(9), stops(20, 0, 0), ends(55, "clear"), begins(55.1, "clear")),
			waits(50, byRegister, "idle", "ready for the first prompt")},

		// A turn.
		{"a prompt, the hook first", 10.05, idle(1), told(begins(1, "startup"), prompted(10)), works(10, byHook, "busy", "works")},
		{"a prompt", 10.2, busy(10.1), told(prompted(10)), works(10.1, byRegister, "busy", "works")},
		{"a tool", 12, busy(10.1), told(prompted(10), uses(11, "Bash")), works(10.1, byRegister, "busy", "works: Bash")},
		{"between tools", 13, busy(10.1), told(prompted(10), uses(11, "Bash"), used(12, "Bash")), works(10.1, byRegister, "busy", "works")},
		{"the end, the hook first", 20.05, busy(10.1), told(prompted(10), stops(20, 0, 0)), waits(20, byHook, "idle", "turn finished")},
		{"the end", 21, idle(20.1), told(prompted(10), stops(20, 0, 0)), waits(20.1, byRegister, "idle", "turn finished")},
		{"the end, a minute later", 90, idle(20.1), told(prompted(10), stops(20, 0, 0), notifies(80, "idle_prompt")),
			waits(20.1, byRegister, "idle", "turn finished")},
		{"an error of the API", 21, idle(20.1), told(prompted(10), fails(20, "server_error", "API Error: 500 overloaded")),
			waits(20.1, byRegister, "idle", "error: API Error: 500 overloaded")},
		{"an error without a text, the hook alone", 20.1, busy(10.1), told(prompted(10), fails(20, "unknown", "")),
			waits(20, byHook, "idle", "error: unknown")},
		{"retries of the API", 300, busy(10.1), told(prompted(10)), works(10.1, byRegister, "busy", "works")},

		// What no hook tells of.
		{"Esc while it streams", 15, idle(14), told(prompted(10)), waits(14, byRegister, "idle", "turn interrupted")},
		{"Esc in a tool", 15, idle(14), told(prompted(10), uses(11, "Bash")), waits(14, byRegister, "idle", "turn interrupted")},
		{"Ctrl-C", 500, idle(14), told(prompted(10), uses(11, "Bash"), used(12, "Bash")), waits(14, byRegister, "idle", "turn interrupted")},
		{"Esc in a dialog", 15, idle(14), told(prompted(10), uses(11, "Bash"), asks(12, "Bash", "")),
			waits(14, byRegister, "idle", "turn interrupted")},
		{"No in a dialog, and on it goes", 15, busy(14), told(prompted(10), uses(11, "Bash"), asks(12, "Bash", "")),
			works(14, byRegister, "busy", "works")},
		{"Yes, and a long tool", 900, busy(14), told(prompted(10), uses(11, "Bash"), asks(12, "Bash", "")),
			works(14, byRegister, "busy", "works")},
		{"!command", 40, busy(31), told(prompted(10), stops(20, 0, 0)), works(31, byRegister, "busy", "works")},
		{"!command at its end", 50, idle(45), told(prompted(10), stops(20, 0, 0), stops(44.9, 0, 0)), waits(45, byRegister, "idle", "turn finished")},
		{"/model", 40, waiting(31, dialog), told(prompted(10), stops(20, 0, 0)), waits(31, byRegister, "waiting", "dialog open")},
		{"/model after a dialog", 14, waiting(13, dialog), told(prompted(10), asks(12, "Bash", "")), waits(13, byRegister, "waiting", "dialog open")},
		{"/compact", 40, busy(31), told(prompted(10), stops(20, 0, 0)), works(31, byRegister, "busy", "works")},
		{"/compact is done", 50, idle(45), told(prompted(10), stops(20, 0, 0), begins(44, "compact")), waits(45, byRegister, "idle", "turn finished")},
		{"compaction within a turn", 50, busy(10.1), told(prompted(10), uses(11, "Bash"), begins(44, "compact")),
			works(10.1, byRegister, "busy", "works: Bash")},

		// Dialogs.
		{"permission, the hook first", 12.05, busy(10.1), told(prompted(10), uses(11.9, "Bash"), asks(12, "Bash", "")),
			waits(12, byHook, "waiting", "permission: Bash")},
		{"permission", 90, waiting(12.1, permission), told(prompted(10), uses(11.9, "Bash"), asks(12, "Bash", "")),
			waits(12.1, byRegister, "waiting", "permission: Bash")},
		{"permission, repeated by a notification", 90, waiting(12.1, permission),
			told(prompted(10), asks(12, "Bash", ""), notifies(18.4, "permission_prompt")), waits(12.1, byRegister, "waiting", "permission: Bash")},
		{"the next of several dialogs", 90, waiting(12.1, permission), told(prompted(10), asks(12, "Bash", ""), asks(60, "Write", "")),
			waits(12.1, byRegister, "waiting", "permission: Write")},
		{"a tool beside a dialog", 90, waiting(12.1, permission), told(prompted(10), asks(12, "Bash", ""), used(13, "Read")),
			waits(12.1, byRegister, "waiting", "permission: Bash")},
		{"a subagent beside a dialog", 90, waiting(12.1, permission), told(prompted(10), asks(12, "Bash", ""),
			claude.Event{At: at(13), Name: claude.HookPreToolUse, Tool: "Read", Subagent: "a"}),
			waits(12.1, byRegister, "waiting", "permission: Bash")},
		{"a question", 13, waiting(12.1, permission), told(prompted(10), asks(12, "AskUserQuestion", "Which colour?")),
			waits(12.1, byRegister, "waiting", "question: Which colour?")},
		{"a question of the other name", 13, waiting(12.1, input), told(prompted(10), asks(12, "AskUserQuestion", "Which colour?")),
			waits(12.1, byRegister, "waiting", "question: Which colour?")},
		{"a plan", 13, waiting(12.1, permission), told(prompted(10), asks(12, "ExitPlanMode", "")),
			waits(12.1, byRegister, "waiting", "plan to approve")},
		{"a dialog of an earlier time", 90, waiting(60, permission), told(prompted(10), asks(12, "Bash", "")),
			waits(60, byRegister, "waiting", "permission")},
		{"what is new here", 13, waiting(12.1, "goal proposal"), told(prompted(10)), waits(12.1, byRegister, "waiting", "goal proposal")},

		// The background.
		{"a command in the background", 30, shell(20.1), told(prompted(10), stops(20, 1, 0)), works(20.1, byRegister, "shell", "works in the background")},
		{"the hook first", 20.05, busy(10.1), told(prompted(10), stops(20, 1, 0)), works(10.1, byRegister, "busy", "works")},
		{"a subagent in the background", 30, idle(20.1), told(prompted(10), stops(20, 0, 1)), works(20.1, byRegister, "idle", "works in the background")},
		{"its tools", 30, idle(20.1), told(prompted(10), stops(20, 0, 1),
			claude.Event{At: at(29), Name: claude.HookPostToolUse, Subagent: "a"}), works(20.1, byRegister, "idle", "works in the background")},
		{"it woke the conversation", 41, busy(40.1), told(prompted(10), stops(20, 0, 1), prompted(40)), works(40.1, byRegister, "busy", "works")},
		{"the command in the background has ended", 60, idle(50), told(prompted(10), stops(20, 1, 0)),
			waits(50, byRegister, "idle", "turn finished")},
		{"a command in the background, after Esc", 60, shell(50), told(prompted(10), uses(11, "Bash")),
			works(50, byRegister, "shell", "works in the background")},

		// One source alone.
		{"no hooks, idle", 50, idle(20), told(), waits(20, byRegister, "idle", "waits for a prompt")},
		{"no hooks, busy", 50, busy(20), told(), works(20, byRegister, "busy", "works")},
		{"no hooks, a dialog", 50, waiting(20, permission), told(), waits(20, byRegister, "waiting", "permission")},
		{"no hooks, a question", 50, waiting(20, input), told(), waits(20, byRegister, "waiting", "question")},
		{"no register, ready", 50, nil, told(begins(1, "startup")), waits(1, byHook, "idle", "ready for the first prompt")},
		{"no register, a turn's end", 50, nil, told(prompted(10), stops(20, 0, 0)), waits(20, byHook, "idle", "turn finished")},
		{"no register, a turn", 12, nil, told(prompted(10)), works(10, byHook, "busy", "works")},
		{"no register, a dialog", 12, nil, told(prompted(8), asks(10, "Bash", "")), waits(10, byHook, "waiting", "permission: Bash")},
		{"no register, a dialog without its own hook", 12, nil, told(prompted(8), notifies(11, "permission_prompt")),
			waits(11, byHook, "waiting", "permission")},
		{"no register, no end but a notification", 90, nil, told(prompted(8), notifies(80, "idle_prompt")),
			waits(80, byHook, "idle", "turn finished")},
		{"it said goodbye", 90, nil, told(prompted(8), stops(20, 0, 0), ends(30, "prompt_input_exit")), claude.Verdict{}},

		// Clocks.
		{"the clock was set back since the hook", 20, busy(15), told(prompted(10), stops(3600, 0, 0)), works(15, byRegister, "busy", "works")},
		{"the clock was set back since the entry", 20, busy(3600), told(prompted(10)), works(20, byRegister, "busy", "works")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := claude.Sight{Now: at(c.now), Started: at(0), Entry: c.entry, Hooks: c.hooks}
			if diff := cmp.Diff(c.want, claude.Judge(s)); diff != "" {
				t.Error(diff)
			}
			kept, err := json.Marshal(s.Hooks)
			must(t, err)
			var hooks claude.Hooks
			must(t, json.Unmarshal(kept, &hooks))
			if s.Hooks = hooks; claude.Judge(s) != c.want {
				t.Errorf("with hooks that were kept as %s: %+v", kept, claude.Judge(s))
			}
		})
	}
}

// Where the sources disagree for long, or the one that is left may be wrong, both are named, with their times, in a text
// that does not change while nothing else does.
func TestJudgeIsUncertain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		now   float64
		entry *claude.Entry
		hooks claude.Hooks
		heard float64
		want  claude.Verdict
		text  string
	}{
		{"a stale register, busy", 24, busy(10.1), told(prompted(10), stops(20, 0, 0)), 20, works(10.1, byRegister, "busy", "works"),
			"the register tells busy since 2027-01-15 08:00:10 UTC, the hook Stop told idle at 2027-01-15 08:00:20 UTC"},
		{"a stale register, idle", 24, idle(1), told(begins(1, "startup"), prompted(20)), 20, waits(1, byRegister, "idle", "waits for a prompt"),
			"the register tells idle since 2027-01-15 08:00:01 UTC, the hook UserPromptSubmit told busy at 2027-01-15 08:00:20 UTC"},
		{"a stale register, a dialog", 35, waiting(12, "permission prompt"), told(prompted(10), asks(12, "Bash", ""), stops(20, 0, 0), prompted(30), uses(31, "Bash")), 31,
			waits(12, byRegister, "waiting", "permission: Bash"),
			"the register tells waiting since 2027-01-15 08:00:12 UTC, the hook PreToolUse told busy at 2027-01-15 08:00:31 UTC"},
		{"a dialog that the register does not know", 24, busy(10.1), told(prompted(10), asks(20, "Bash", "")), 20,
			works(10.1, byRegister, "busy", "works"),
			"the register tells busy since 2027-01-15 08:00:10 UTC, the hook PermissionRequest told waiting at 2027-01-15 08:00:20 UTC"},
		{"no register, a turn", 14, nil, told(prompted(10)), 10, works(10, byHook, "busy", "works"),
			"the hook UserPromptSubmit told busy at 2027-01-15 08:00:10 UTC, and the register has no entry of it; last heard at 2027-01-15 08:00:10 UTC"},
		{"no register, a dialog", 15, nil, told(prompted(8), asks(10, "Bash", "")), 10, waits(10, byHook, "waiting", "permission: Bash"),
			"the hook PermissionRequest told waiting at 2027-01-15 08:00:10 UTC, and the register has no entry of it; last heard at 2027-01-15 08:00:10 UTC"},
		{"the register went, no hooks", 500, nil, told(), 90, claude.Verdict{},
			"no hook tells a state, and the register has no entry of it; last heard at 2027-01-15 08:01:30 UTC"},
		{"a status of tomorrow", 40, noted(30, "dreaming", ""), told(), 30, claude.Verdict{},
			`no hook tells a state, and the register tells "dreaming" since 2027-01-15 08:00:30 UTC, which is not known here`},
		{"a status of tomorrow, and hooks", 40, noted(30, "dreaming", ""), told(prompted(29)), 30, works(29, byHook, "busy", "works"),
			`the hook UserPromptSubmit told busy at 2027-01-15 08:00:29 UTC, and the register tells "dreaming" since 2027-01-15 08:00:30 UTC, which is not known here`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := claude.Sight{Now: at(c.now), Started: at(0), Entry: c.entry, Hooks: c.hooks}
			if c.heard > 0 {
				s.Noted = at(c.heard)
			}
			got := claude.Judge(s)
			c.want.Uncertain = c.text
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			s.Now = s.Now.Add(24 * time.Hour)
			if later := claude.Judge(s); later != got {
				t.Errorf("a day later: %+v", later)
			}
		})
	}
}

// The words of a reason are one line and bounded, whatever the agent sent.
func TestJudgeSpeaksInOneLine(t *testing.T) {
	t.Parallel()
	e, err := claude.Decode(strings.NewReader(hookInput(claude.HookStopFailure,
		`,"last_assistant_message":"API\u001b[2J Error\n\n`+strings.Repeat("x", 10_000)+`"`)))
	must(t, err)
	e.At = at(20)
	v := claude.Judge(claude.Sight{Now: at(21), Started: at(0), Entry: idle(20.1), Hooks: told(e)})
	if !strings.HasPrefix(v.Reason, "error: API\ufffd[2J Error xxx") || hitchpost.OneLine(v.Reason) != v.Reason || len(v.Reason) > 520 {
		t.Errorf("%q", v.Reason)
	}
}

// Of events that come twice, or in the wrong order, the newest counts, and none is lost that it does not tell of.
func TestHooksOldNeverOverNew(t *testing.T) {
	t.Parallel()
	marked := func(mark string, e claude.Event) claude.Event {
		e.Mark = mark
		return e
	}
	prompt, asked, stop := marked("1", prompted(10)), marked("2", asks(12, "Bash", "")), marked("4", stops(20, 0, 0))
	inOrder := told(prompt, asked, stop)
	if again := inOrder.With(stop).With(prompt).With(marked("3", uses(13, "Read"))); again != inOrder {
		t.Errorf("%+v, want %+v", again, inOrder)
	}
	beside := told(prompt, marked("3", uses(12.1, "Read")), asked)
	if beside.Phase != claude.PhaseWorking || beside.Tool != "Read" || beside.AskedTool != "Bash" || !beside.Asked.Equal(at(12)) || beside.Mark != "3" {
		t.Errorf("%+v", beside)
	}
	if again := beside.With(asked); again != beside {
		t.Errorf("%+v, want %+v", again, beside)
	}
}

// An entry that is not there for a moment, as while it is written, changes nothing; a hook that came since does.
func TestJudgeWaitsForAnEntry(t *testing.T) {
	t.Parallel()
	s := claude.Sight{Now: at(502), Started: at(0), Noted: at(500), Hooks: told(prompted(10))}
	if got := claude.Judge(s); got != (claude.Verdict{}) {
		t.Errorf("interrupted long ago, entry caught in the writing: %+v", got)
	}
	s.Hooks = s.Hooks.With(stops(501, 0, 0))
	if got, want := claude.Judge(s), waits(501, byHook, "idle", "turn finished"); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s.Hooks, s.Now = told(prompted(10)), at(504)
	if got := claude.Judge(s); got.Uncertain == "" {
		t.Errorf("%+v", got)
	}
}

// Of a register that cannot be read nothing is concluded: neither a dialog nor that it has no entry.
func TestJudgeBlind(t *testing.T) {
	t.Parallel()
	s := claude.Sight{Now: at(2), Started: at(0), Blind: true}
	if got := claude.Judge(s); got != (claude.Verdict{}) {
		t.Errorf("%+v", got)
	}
	s.Now = at(20)
	if got, want := claude.Judge(s), (claude.Verdict{Uncertain: "no hook tells a state, and the register cannot be read"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s.Hooks = told(prompted(10))
	want := works(10, byHook, "busy", "works")
	want.Uncertain = "the hook UserPromptSubmit told busy at 2027-01-15 08:00:10 UTC, and the register cannot be read; last heard at 2027-01-15 08:00:10 UTC"
	if got := claude.Judge(s); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
