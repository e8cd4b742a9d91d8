package claude

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"
)

const (
	// hookInput is how much of a hook's input is read. What a tool answered stands last in it and may be of any size.
	hookInput = 2 << 20
	// wordBytes bounds the short texts of an event: names, ids, kinds.
	wordBytes = 200
	// pathBytes bounds its paths; PATH_MAX of Linux.
	pathBytes = 4096
)

// The hook events that tell of a session's state, as Claude Code names them.
const (
	HookSessionStart       = "SessionStart"
	HookSessionEnd         = "SessionEnd"
	HookUserPromptSubmit   = "UserPromptSubmit"
	HookStop               = "Stop"
	HookStopFailure        = "StopFailure"
	HookNotification       = "Notification"
	HookPreToolUse         = "PreToolUse"
	HookPostToolUse        = "PostToolUse"
	HookPostToolUseFailure = "PostToolUseFailure"
	HookPermissionRequest  = "PermissionRequest"
)

// HookOther names an event of another agent than Claude Code, whose preset has read it: Source is the agent's own name of
// it, Notification what it means, Message the reason, and Conversation the agent's id of it, which may be empty.
const HookOther = "other agent"

// Event is what a hook of a running Claude Code told. Its texts are one line each, cut, and fit to be shown, but Cwd and
// TranscriptPath, which are as they were told: whoever uses these holds them against what is known.
type Event struct {
	Mark    string    `json:"-"` // grows within a run; names the file in the spool
	Session string    `json:"session"`
	Run     int       `json:"-"`  // part of the mark
	At      time.Time `json:"at"` // by the wall clock, which somebody may set

	Name           string `json:"name"` // such as HookStop, or one that is not known here
	Conversation   string `json:"conversation"`
	Source         string `json:"source,omitempty"`       // of SessionStart: startup, resume, clear, compact, fork
	Reason         string `json:"reason,omitempty"`       // of SessionEnd: prompt_input_exit, clear, resume, other
	Notification   string `json:"notification,omitempty"` // of Notification: permission_prompt, idle_prompt
	Tool           string `json:"tool,omitempty"`
	Question       string `json:"question,omitempty"` // the first that the tool AskUserQuestion asks
	Message        string `json:"message,omitempty"`  // of a Notification; of Stop and StopFailure, the last answer
	Error          string `json:"error,omitempty"`    // of StopFailure, such as server_error
	Subagent       string `json:"subagent,omitempty"` // id of the subagent that it is about; empty: the conversation itself
	TranscriptPath string `json:"transcript_path,omitempty"`
	Cwd            string `json:"cwd,omitempty"`

	// Shells is how many commands run in the background at a Stop, and Others what else does: subagents, monitors,
	// workflows. They wake the conversation when they end.
	Shells int `json:"shells,omitempty"`
	Others int `json:"others,omitempty"`

	// Callers is the process that called the hook, a shell between them left out, and those that it descends from, nearest
	// first and a few of them; see From.
	Callers []int `json:"callers,omitempty"`
	// Cut tells that the input was longer than what is read of it, or broken off: the rest of the event is missing.
	Cut bool `json:"cut,omitempty"`
}

// BackgroundTasks is how much runs in the background at a Stop.
func (e Event) BackgroundTasks() int { return e.Shells + e.Others }

// From reports whether the Claude Code with that pid called the hook itself, and not another that it started, which has
// the same environment. An event whose caller is not known counts as from whoever is asked about.
func (e Event) From(pid int) bool { return len(e.Callers) == 0 || e.Callers[0] == pid }

// errNoEvent is an input that names no event or no conversation.
var errNoEvent = errors.New("a hook's input without an event's name and a conversation's id")

// Decode reads what Claude Code gives a hook: one JSON object, of which at most 2 MiB are read. Fields of an unexpected
// type count as absent; an object that is cut short tells what stood before the cut. It fails where not even the name of
// the event and the id of the conversation are there.
func Decode(r io.Reader) (Event, error) {
	d := json.NewDecoder(io.LimitReader(r, hookInput))
	var e Event
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return Event{}, errNoEvent
	}
	for d.More() {
		var value json.RawMessage
		key, err := d.Token()
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			e.Cut = true
			break
		}
		if name, ok := key.(string); ok {
			put(&e, name, value)
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		e.Cut = true
	}
	if e.Name == "" || e.Conversation == "" {
		return Event{}, errNoEvent
	}
	if e.Tool != questionTool {
		e.Question = ""
	}
	return e, nil
}

// Tools of Claude Code whose permission dialog is another question than whether they may run.
const (
	questionTool = "AskUserQuestion"
	planTool     = "ExitPlanMode"
)

// put puts one field of the input where it belongs.
func put(e *Event, key string, value json.RawMessage) {
	switch key {
	case "hook_event_name":
		e.Name = word(value)
	case "session_id":
		e.Conversation = word(value)
	case "source":
		e.Source = word(value)
	case "reason":
		e.Reason = word(value)
	case "notification_type":
		e.Notification = word(value)
	case "tool_name":
		e.Tool = word(value)
	case "tool_input":
		e.Question = question(value)
	case "message", "last_assistant_message":
		e.Message = OneText(text(value))
	case "error":
		e.Error = word(value)
	case "agent_id":
		e.Subagent = word(value)
	case "transcript_path":
		e.TranscriptPath = place(value)
	case "cwd":
		e.Cwd = place(value)
	case "background_tasks":
		e.Shells, e.Others = tasks(value)
	}
}

// text is a JSON string; empty for anything else.
func text(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

func word(value json.RawMessage) string { return cut(clean(text(value)), wordBytes) }

// place is a path as it was told, or nothing where it cannot be one.
func place(value json.RawMessage) string {
	p := text(value)
	if len(p) > pathBytes || strings.ContainsRune(p, 0) {
		return ""
	}
	return p
}

func question(value json.RawMessage) string {
	var input struct {
		Questions []struct {
			Question json.RawMessage `json:"question"`
		} `json:"questions"`
	}
	if json.Unmarshal(value, &input) != nil || len(input.Questions) == 0 {
		return ""
	}
	return OneText(text(input.Questions[0].Question))
}

func tasks(value json.RawMessage) (shells, others int) {
	var list []struct {
		Type json.RawMessage `json:"type"`
	}
	if json.Unmarshal(value, &list) != nil {
		return 0, 0
	}
	for _, t := range list {
		if text(t.Type) == "shell" {
			shells++
		} else {
			others++
		}
	}
	return shells, others
}
