package preset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hitchpost/hitchpost"
)

// Hook is how an agent tells of itself: it calls `hitchpost hook --preset NAME`, which Words or Env of its preset have
// told it, or the person's own configuration.
type Hook struct {
	Input        string             `json:"input"`        // where the event is: stdin, argument (the last) or none
	Event        string             `json:"event"`        // path of the field that names the event, such as data.type
	Conversation string             `json:"conversation"` // path of the agent's id of the conversation
	Events       map[string]Meaning `json:"events"`       // by name; with input none, the only one is ""
}

// Meaning is what an event tells.
type Meaning struct {
	Means  Means  `json:"means"`
	Reason string `json:"reason"` // for people, such as permission
	Detail string `json:"detail"` // path of a field that is said behind the reason
}

// Means is one of the things that an event can tell.
type Means string

// What an event can tell. Attention is for agents that never say that they work again: it is a notice with its time, and
// no state.
const (
	Waits     Means = "waits"     // it needs a person
	Works     Means = "works"     // it is at work
	Finished  Means = "finished"  // it has ended its turn, and waits for the next prompt
	Attention Means = "attention" // it asked for attention
)

// News is an event of an agent. The texts are the agent's: one line each, cut, and not made safe to be shown.
type News struct {
	Event        string
	Means        Means
	Reason       string // such as "permission: bash"; empty: none is known
	Conversation string // empty: the event does not say
}

const (
	// maxEvent bounds what is read of an event.
	maxEvent = 1 << 20
	// maxText bounds each text of News.
	maxText = 200
)

// ErrNoNews says that an event is none that the preset knows. It is no failure.
var ErrNoNews = errors.New("no news")

// TellsState is whether events tell the beginning and the end of waiting, so that a state can be known from them.
func (p Preset) TellsState() bool {
	return p.Hook.has(Works) && (p.Hook.has(Waits) || p.Hook.has(Finished))
}

func (h *Hook) has(m Means) bool {
	if h == nil {
		return false
	}
	for _, event := range h.Events {
		if event.Means == m {
			return true
		}
	}
	return false
}

// Decode reads an event from where p's agent puts it: the words behind `hitchpost hook --preset NAME`, or stdin, which is
// not touched otherwise: it may be the person's terminal. It reads 1 MiB at most.
func (p Preset) Decode(words []string, stdin io.Reader) (News, error) {
	if p.Hook == nil {
		return News{}, ErrNoNews
	}
	var raw []byte
	switch p.Hook.Input {
	case "argument":
		if len(words) == 0 || len(words[len(words)-1]) > maxEvent {
			return News{}, fmt.Errorf("preset %s: no event in the last word", p.Name)
		}
		raw = []byte(words[len(words)-1])
	case "stdin":
		var err error
		if raw, err = io.ReadAll(io.LimitReader(stdin, maxEvent+1)); err != nil {
			return News{}, fmt.Errorf("preset %s: read the event: %w", p.Name, err)
		}
		if len(raw) > maxEvent {
			return News{}, fmt.Errorf("preset %s: the event is too long", p.Name)
		}
	default:
		m, ok := p.Hook.Events[""]
		if !ok {
			return News{}, ErrNoNews
		}
		return News{Means: m.Means, Reason: m.Reason}, nil
	}
	var event any
	if err := json.Unmarshal(raw, &event); err != nil {
		return News{}, fmt.Errorf("preset %s: the event is no JSON: %w", p.Name, err)
	}
	return p.Hook.read(event)
}

func (h *Hook) read(event any) (News, error) {
	name := at(event, h.Event)
	m, ok := h.Events[name]
	if !ok || name == "" {
		return News{}, ErrNoNews
	}
	n := News{Event: name, Means: m.Means, Reason: m.Reason, Conversation: at(event, h.Conversation)}
	if detail := oneLine(at(event, m.Detail)); detail != "" {
		n.Reason = strings.TrimPrefix(n.Reason+": "+detail, ": ")
	}
	if !hitchpost.IsConversation(n.Conversation) {
		n.Conversation = ""
	}
	return n, nil
}

// at is the text at a path of fields, empty where there is none.
func at(value any, path string) string {
	if path == "" {
		return ""
	}
	for field := range strings.SplitSeq(path, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return ""
		}
		value = object[field]
	}
	text, _ := value.(string)
	return text
}

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxText {
		text = text[:maxText]
		for !utf8.ValidString(text) && len(text) > maxText-utf8.UTFMax {
			text = text[:len(text)-1]
		}
	}
	return strings.ToValidUTF8(text, "")
}
