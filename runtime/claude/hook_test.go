package claude_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost/runtime/claude"
)

// conversation is one that the tests of this package speak of.
const conversation = "0190f5fe-7c00-7000-8000-0000000000c1"

func TestDecode(t *testing.T) {
	t.Parallel()
	common := `"session_id":"` + conversation + `","transcript_path":"/c/projects/-p/x.jsonl","cwd":"/p"`
	base := claude.Event{Conversation: conversation, TranscriptPath: "/c/projects/-p/x.jsonl", Cwd: "/p"}
	for _, c := range []struct {
		name, input string
		want        func(*claude.Event)
	}{
		{"start", `"hook_event_name":"SessionStart","source":"resume","model":"m"`, func(e *claude.Event) {
			e.Name, e.Source = claude.HookSessionStart, "resume"
		}},
		{"end", `"hook_event_name":"SessionEnd","reason":"clear"`, func(e *claude.Event) {
			e.Name, e.Reason = claude.HookSessionEnd, "clear"
		}},
		{"prompt", `"hook_event_name":"UserPromptSubmit","prompt":"a secret"`, func(e *claude.Event) {
			e.Name = claude.HookUserPromptSubmit
		}},
		{"stop", `"hook_event_name":"Stop","last_assistant_message":"done","background_tasks":[{"type":"shell"},{"type":"subagent"},{"type":7}]`,
			func(e *claude.Event) { e.Name, e.Message, e.Shells, e.Others = claude.HookStop, "done", 1, 2 }},
		{"failure", `"hook_event_name":"StopFailure","error":"server_error","last_assistant_message":"API Error: 500"`,
			func(e *claude.Event) {
				e.Name, e.Error, e.Message = claude.HookStopFailure, "server_error", "API Error: 500"
			}},
		{"notification", `"hook_event_name":"Notification","notification_type":"idle_prompt","message":"waits"`,
			func(e *claude.Event) {
				e.Name, e.Notification, e.Message = claude.HookNotification, "idle_prompt", "waits"
			}},
		{"permission", `"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"rm x"}`,
			func(e *claude.Event) { e.Name, e.Tool = claude.HookPermissionRequest, "Bash" }},
		{"question", `"hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which\ncolour?"},{"question":"b"}]}`,
			func(e *claude.Event) {
				e.Name, e.Tool, e.Question = claude.HookPermissionRequest, "AskUserQuestion", "Which colour?"
			}},
		{"a question of another tool", `"tool_input":{"questions":[{"question":"q"}]},"hook_event_name":"PreToolUse","tool_name":"X"`,
			func(e *claude.Event) { e.Name, e.Tool = claude.HookPreToolUse, "X" }},
		{"subagent", `"hook_event_name":"PostToolUse","tool_name":"Read","agent_id":"a1"`,
			func(e *claude.Event) { e.Name, e.Tool, e.Subagent = claude.HookPostToolUse, "Read", "a1" }},
		{"unknown event", `"hook_event_name":"Tomorrow","new":{"deep":[1,{"x":null}]}`, func(e *claude.Event) { e.Name = "Tomorrow" }},
		{"other types", `"hook_event_name":"Stop","background_tasks":"many","error":{"a":1},"message":[],"tool_name":9,"tool_input":{"questions":{}}`,
			func(e *claude.Event) { e.Name = claude.HookStop }},
		{"hostile text", `"hook_event_name":"Stop","last_assistant_message":"a\u001b[31m\u202eb\u0000\r\n c\ud800"`,
			func(e *claude.Event) { e.Name, e.Message = claude.HookStop, "a\ufffd[31m\ufffdb\ufffd c\ufffd" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := base
			c.want(&want)
			got, err := claude.Decode(strings.NewReader("{" + common + "," + c.input + "}"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, input := range []string{
		"", "null", "7", `"x"`, "[]", "{}", "{", `{"session_id":"a"}`, `{"hook_event_name":"Stop"}`, "\x00\xff",
		`{"session_id":7,"hook_event_name":"Stop"}`, `{"session_id":"` + conversation + `","hook_event_name":`,
		strings.Repeat(`{"a":`, 100_000),
	} {
		if e, err := claude.Decode(strings.NewReader(input)); err == nil {
			t.Errorf("%.40q gave %+v", input, e)
		}
	}
}

// What a tool answered comes last and may be of any size; what stands before it counts.
func TestDecodeStopsReading(t *testing.T) {
	t.Parallel()
	endless := &counted{r: io.MultiReader(strings.NewReader(`{"session_id":"`+conversation+`","hook_event_name":"PostToolUse",`+
		`"tool_name":"Bash","tool_response":"`), endless{})}
	e, err := claude.Decode(endless)
	if err != nil || !e.Cut || e.Tool != "Bash" || e.Name != claude.HookPostToolUse {
		t.Errorf("%+v, %v", e, err)
	}
	if endless.n > 4<<20 {
		t.Errorf("%d bytes were read", endless.n)
	}
}

// An answer is there although whoever wrote it never closes.
func TestDecodeNeedsNoEnd(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	go func() { _, _ = io.WriteString(w, `{"session_id":"`+conversation+`","hook_event_name":"Stop"}`) }()
	if e, err := claude.Decode(r); err != nil || e.Cut || e.Name != claude.HookStop {
		t.Errorf("%+v, %v", e, err)
	}
}

// A Claude Code that the session's own started calls the hook with the same environment.
func TestEventFrom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		callers []int
		want    bool
	}{
		{[]int{10}, true}, {[]int{10, 5}, true}, {[]int{99, 10}, false}, {nil, true},
	} {
		if got := (claude.Event{Callers: c.callers}).From(10); got != c.want {
			t.Errorf("%v: %v", c.callers, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"session_id":"a","hook_event_name":"Stop","background_tasks":[{"type":"shell"}],"cwd":"/\u0000"}`))
	f.Add([]byte(`{"session_id":"a","hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"\u202e"}]}}`))
	f.Add([]byte(`{"hook_event_name":["a"],"session_id":null}{`))
	f.Fuzz(func(t *testing.T, input []byte) {
		e, err := claude.Decode(bytes.NewReader(input))
		if err != nil {
			return
		}
		if e.Name == "" || e.Conversation == "" {
			t.Errorf("%+v", e)
		}
		for _, s := range []string{e.Name, e.Conversation, e.Source, e.Reason, e.Notification, e.Tool, e.Question, e.Message, e.Error, e.Subagent} {
			fitToShow(t, s)
		}
		if len(e.Cwd) > 4096 || len(e.TranscriptPath) > 4096 {
			t.Error("a path of no length that paths have")
		}
	})
}

func fitToShow(t *testing.T, s string) {
	t.Helper()
	if len(s) > 500 || !utf8.ValidString(s) || claude.OneText(s) != s {
		t.Errorf("not fit to be shown: %q", s)
	}
}

// endless is white space without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte(" "), len(p))), nil }

type counted struct {
	r io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

func hookInput(name, more string) string {
	return fmt.Sprintf(`{"session_id":%q,"hook_event_name":%q%s}`, conversation, name, more)
}
