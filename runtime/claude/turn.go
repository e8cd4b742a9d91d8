package claude

import "time"

// Phase is where a conversation stands by what its hooks told last.
type Phase string

// The phases. Hooks do not tell of every change; see Judge.
const (
	PhaseReady      Phase = "ready"      // a conversation began, and nothing was asked yet
	PhaseWorking    Phase = "working"    // a prompt was given, or a tool is used
	PhasePermission Phase = "permission" // a dialog is open
	PhaseFinished   Phase = "finished"   // a turn came to its end
	PhaseFailed     Phase = "failed"     // a turn ended with an error
	PhaseOver       Phase = "over"       // the conversation was left
)

// Hooks is what the hook events of one run amount to. The zero value is a run that none was heard of. It is plain data
// that may be kept as JSON.
type Hooks struct {
	Mark  string    `json:"mark,omitempty"` // of the newest event
	Heard time.Time `json:"heard"`          // when that came, of whatever kind
	Phase Phase     `json:"phase,omitempty"`
	At    time.Time `json:"at"`              // when it came to the phase
	Event string    `json:"event,omitempty"` // the event that told of it
	// Prompted is when a prompt was given last. Asked is when a dialog opened last, for which tool and with what question:
	// tools that run beside it go on meanwhile.
	Prompted  time.Time `json:"prompted"`
	Asked     time.Time `json:"asked"`
	AskedTool string    `json:"asked_tool,omitempty"`
	Question  string    `json:"question,omitempty"`
	// Resumed tells, in PhaseReady, that the conversation was there before.
	Resumed bool   `json:"resumed,omitempty"`
	Tool    string `json:"tool,omitempty"`   // what is used
	Error   string `json:"error,omitempty"`  // what a turn failed with
	Shells  int    `json:"shells,omitempty"` // what runs in the background after a turn
	Others  int    `json:"others,omitempty"`
}

// With is what the events amount to with one more, of the session's own Claude Code. One that comes again, or after a
// newer one, as hooks that run side by side may, does not undo what the newer one told.
func (h Hooks) With(e Event) Hooks {
	if h.Outran(e) {
		if e.Name == HookPermissionRequest && e.At.After(h.Asked) {
			h.Asked, h.AskedTool, h.Question = e.At, e.Tool, e.Question
		}
		return h
	}
	next := h.next(e)
	switch e.Name {
	case HookSessionStart:
		if e.Source == "compact" { // in the middle of a turn, or after one
			next = h
			break
		}
		next.Phase, next.Resumed = PhaseReady, e.Source == "resume" || e.Source == "fork"
	case HookUserPromptSubmit:
		next.Phase, next.Prompted = PhaseWorking, e.At
	case HookPreToolUse, HookPostToolUse, HookPostToolUseFailure:
		if e.Subagent != "" { // it may work while the conversation waits
			next = h
			break
		}
		next.Phase = PhaseWorking
		if e.Name == HookPreToolUse {
			next.Tool = e.Tool
		}
	case HookPermissionRequest:
		next.Phase, next.Asked, next.AskedTool, next.Question = PhasePermission, e.At, e.Tool, e.Question
	case HookStop:
		next.Phase, next.Shells, next.Others = PhaseFinished, e.Shells, e.Others
	case HookStopFailure:
		next.Phase, next.Error = PhaseFailed, failure(e)
	case HookNotification:
		next = h.notified(e)
	case HookSessionEnd:
		next.Phase = PhaseOver
	default:
		next = h
	}
	next.Mark, next.Heard = e.Mark, e.At
	return next
}

// Outran reports whether the event, or one that is newer, was heard already.
func (h Hooks) Outran(e Event) bool { return e.Mark != "" && e.Mark <= h.Mark }

// next is what stays when an event brings another phase.
func (h Hooks) next(e Event) Hooks {
	return Hooks{
		At: e.At, Event: e.Name, Prompted: h.Prompted, Asked: h.Asked, AskedTool: h.AskedTool, Question: h.Question,
	}
}

// notified is h after a Notification, which repeats, seconds later, what another event told. It counts where that other
// one was not heard.
func (h Hooks) notified(e Event) Hooks {
	next := h.next(e)
	switch {
	case e.Notification == "permission_prompt" && h.Phase != PhasePermission:
		next.Phase, next.AskedTool, next.Question = PhasePermission, "", ""
	case e.Notification == "idle_prompt" && (h.Phase == "" || h.Phase == PhaseWorking || h.Phase == PhasePermission):
		next.Phase = PhaseFinished
	default:
		return h
	}
	return next
}

// failure is what a turn failed with, for people.
func failure(e Event) string {
	if e.Message != "" {
		return e.Message
	}
	return e.Error
}
