package claudetest_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"github.com/hitchpost/hitchpost/runtime/claude/claudetest"
)

// dialect is in what the versions differ.
type dialect struct {
	forked  string // how a branch says it began
	asking  string // what a question waits for
	refusal string // the digit for No
}

func newest() dialect { return dialect{"fork", "input needed", "4"} }

func TestStandInKeepsTheAccount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, err := claudetest.Build(dir)
	must(t, err)
	account(t, program, "", newest())
}

// account is what is known of Claude Code, the stand-in and the real one alike: which hooks are run, and which are not,
// what the entry in sessions/ says, what is on disk, and how the program ends.
func account(t *testing.T, program, url string, v dialect) {
	t.Helper()
	for name, part := range map[string]func(*testing.T, *desk, dialect){
		"turns": turns, "interruptions": interruptions, "conversations": conversations, "background": background, "ends": ends,
		"refusals": refusals,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part(t, newDesk(t, program, url), v)
		})
	}
}

// first starts a conversation and waits until it is ready.
func (d *desk) first(words ...string) (id string) {
	d.t.Helper()
	id = uuid.NewString()
	d.run(append([]string{"--session-id", id, "--settings", d.settings(), "--permission-mode", "default"}, words...)...)
	d.becomes("idle")
	d.fired("SessionStart startup")
	return id
}

const touch = `@tool Bash {"command":"touch made"}`

func turns(t *testing.T, d *desk, _ dialect) {
	t.Helper()
	id := d.first()
	e := d.entry()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(d.pid()) + "/stat")
	must(t, err)
	_, after, _ := cutLast(string(stat), ")")
	if e.SessionID != id || e.Pid != d.pid() || e.Cwd != d.home.Project || e.Kind != "interactive" || e.StatusAt == 0 ||
		e.ProcStart != strings.Fields(after)[19] {
		t.Errorf("%+v", e)
	}
	if found := d.transcripts(); len(found) != 0 {
		t.Errorf("a transcript before the first prompt: %v", found)
	}
	d.say("@say one")
	docs := d.fired("UserPromptSubmit @say one", "Stop one")
	d.becomes("idle")
	for _, doc := range docs {
		if doc["session_id"] != id || doc["cwd"] != d.home.Project || doc["transcript_path"] != d.transcripts()[0] {
			t.Errorf("%v", doc)
		}
	}
	for _, part := range []string{
		`"type":"user"`, `"type":"assistant"`, `"cache_read_input_tokens":3000`, `"content":"@say one"`, `"sessionId":"` + id,
	} {
		// Its lines may come a moment after the end of the turn.
		d.eventually(part+" in the transcript", func() bool {
			text, err := os.ReadFile(d.transcripts()[0])
			return err == nil && strings.Contains(string(text), part)
		})
	}
	d.say("@status 400")
	d.fired("UserPromptSubmit @status 400", "StopFailure unknown")
	d.becomes("idle")
	d.say(touch)
	d.fired("UserPromptSubmit "+touch, "PreToolUse Bash", "PermissionRequest Bash")
	if e := d.becomes("waiting"); e.WaitingFor != "permission prompt" {
		t.Errorf("%+v", e)
	}
	d.press("1", func() bool { return d.entry().Status != "waiting" })
	d.fired("PostToolUse Bash", "Stop tool done")
	d.becomes("idle")
	if _, err := os.Stat(filepath.Join(d.home.Project, "made")); err != nil {
		t.Error(err)
	}
	d.say("/compact")
	d.fired("PreCompact manual", "SessionStart compact", "PostCompact manual")
	if e := d.becomes("idle"); e.SessionID != id {
		t.Errorf("%+v", e)
	}
}

// Of an interruption no hook hears, only the entry tells of it.
func interruptions(t *testing.T, d *desk, v dialect) {
	t.Helper()
	d.first()
	d.say("@slow 600")
	d.fired("UserPromptSubmit @slow 600")
	d.becomes("busy")
	d.eventually("it answers", func() bool { return strings.Contains(d.screen(), "word3") })
	d.press("Escape", d.is("idle"))

	for _, key := range []string{"Escape", v.refusal} {
		d.say(touch)
		d.fired("UserPromptSubmit "+touch, "PreToolUse Bash", "PermissionRequest Bash")
		d.becomes("waiting")
		d.press(key, d.is("idle"))
	}
	ask := `@tool AskUserQuestion {"questions":[{"question":"Which?","header":"Which","multiSelect":false,"options":[` +
		`{"label":"Red","description":"r"},{"label":"Blue","description":"b"}]}]}`
	d.say(ask)
	d.fired("UserPromptSubmit "+ask, "PreToolUse AskUserQuestion", "PermissionRequest AskUserQuestion")
	if e := d.becomes("waiting"); e.WaitingFor != v.asking {
		t.Errorf("%+v", e)
	}
	d.press("Escape", d.is("idle"))

	d.say("/model")
	if e := d.becomes("waiting"); e.WaitingFor != "dialog open" {
		t.Errorf("%+v", e)
	}
	d.press("Escape", d.is("idle"))
	if _, err := os.Stat(filepath.Join(d.home.Project, "made")); err == nil {
		t.Error("a refused tool ran")
	}
	d.say("@say last")
	d.fired("UserPromptSubmit @say last", "Stop last") // and nothing before these
}

// One process goes from conversation to conversation.
func conversations(t *testing.T, d *desk, v dialect) {
	t.Helper()
	first := d.first()
	d.say("@say one")
	d.fired("UserPromptSubmit @say one", "Stop one")
	d.becomes("idle")
	d.say("/clear")
	docs := d.fired("SessionEnd clear", "SessionStart clear")
	if e := d.becomes("idle"); docs[0]["session_id"] != first || docs[1]["session_id"] == first {
		t.Errorf("%v\n%+v", docs, e)
	}
	d.eventually("the entry follows", func() bool { return d.entry().SessionID == docs[1]["session_id"] })
	d.becomes("idle")
	d.say("@say two")
	d.fired("UserPromptSubmit @say two", "Stop two")
	d.becomes("idle")
	d.say("/resume " + first)
	d.fired("SessionEnd resume", "SessionStart resume")
	d.eventually("the first one is back", func() bool { return d.entry().SessionID == first })
	d.becomes("idle")
	d.say("@recall")
	d.fired("UserPromptSubmit @recall", "Stop recall: @say one | @recall")
	d.becomes("idle")
	d.say("/branch")
	docs = d.fired("SessionEnd resume", "SessionStart "+v.forked)
	branch, _ := docs[1]["session_id"].(string)
	d.eventually("the branch is there", func() bool { return d.entry().SessionID == branch && branch != first })
	d.becomes("idle")
	d.say("/exit")
	if code := d.ended(); code != "0" {
		t.Errorf("exit %s", code)
	}
	d.fired("SessionEnd prompt_input_exit")
	if _, err := os.Stat(d.entryPath(d.pid())); err == nil {
		t.Error("the entry is still there")
	}
	d.run("--resume", branch, "--settings", d.settings(), "--permission-mode", "default")
	d.becomes("idle")
	d.fired("SessionStart resume")
	d.say("@recall")
	d.fired("UserPromptSubmit @recall", "Stop recall: @say one | @recall | @recall")
}

// With work in the background the end of a turn is not the end of the work.
func background(t *testing.T, d *desk, _ dialect) {
	t.Helper()
	d.first()
	prompt := `@tool Bash {"command":"touch begun; until [ -e go ]; do sleep 0.1; done","run_in_background":true}`
	d.say(prompt)
	d.fired("UserPromptSubmit "+prompt, "PreToolUse Bash", "PermissionRequest Bash")
	d.becomes("waiting")
	d.press("1", func() bool { return d.entry().Status != "waiting" })
	docs := d.fired("PostToolUse Bash", "Stop tool done")
	if tasks, _ := docs[1]["background_tasks"].([]any); len(tasks) != 1 {
		t.Errorf("%v", docs[1])
	}
	d.becomes("shell")
	must(t, os.WriteFile(filepath.Join(d.home.Project, "go"), nil, 0o600))
	docs = d.fired("UserPromptSubmit <task-notification>", "Stop tool done")
	if tasks, _ := docs[1]["background_tasks"].([]any); len(tasks) != 0 {
		t.Errorf("%v", docs[1])
	}
	d.becomes("idle")
}

func ends(t *testing.T, d *desk, _ dialect) {
	t.Helper()
	id := d.first()
	d.say("@say one")
	d.fired("UserPromptSubmit @say one", "Stop one")
	d.becomes("idle")
	for _, c := range []struct {
		signal syscall.Signal
		code   string
		left   bool
	}{{syscall.SIGTERM, "143", false}, {syscall.SIGHUP, "129", false}, {syscall.SIGINT, "0", false}, {syscall.SIGKILL, "137", true}} {
		pid := d.pid()
		d.signal(c.signal)
		if code := d.ended(); code != c.code {
			t.Errorf("%v: exit %s", c.signal, code)
		}
		if !c.left {
			d.fired("SessionEnd other")
		}
		if _, err := os.Stat(d.entryPath(pid)); (err == nil) != c.left {
			t.Errorf("%v: its entry: %v", c.signal, err)
		}
		d.run("--resume", id, "--settings", d.settings())
		d.becomes("idle")
		d.fired("SessionStart resume")
	}
	for range 2 {
		d.tmux("send-keys", "C-c")
		<-d.moment()
	}
	if code := d.ended(); code != "0" {
		t.Errorf("exit %s", code)
	}
	d.fired("SessionEnd prompt_input_exit")
}

// What cannot be started says so and ends.
func refusals(t *testing.T, d *desk, _ dialect) {
	t.Helper()
	id := d.first()
	d.say("@say one")
	d.fired("UserPromptSubmit @say one", "Stop one")
	d.becomes("idle")
	other := uuid.NewString()
	for _, c := range []struct{ words, says string }{
		{"--session-id " + id, "is already in use"},
		{"--session-id no", "Invalid session ID"},
		{"--resume " + other, "No conversation found with session ID: " + other},
		{"--resume " + id + " --session-id " + other, "--fork-session"},
		{"--settings /no/such", "Settings file not found"},
		{"--no-such-flag", "unknown option"},
	} {
		d.run(strings.Fields(c.words)...)
		if code := d.ended(); code != "1" {
			t.Errorf("%s: exit %s", c.words, code)
		}
		if text := d.tmux("capture-pane", "-p", "-J", "-S", "-"); !strings.Contains(text, c.says) {
			t.Errorf("%s: %s", c.words, text)
		}
	}
}
