package claudetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// stream is one answer on its way, in server-sent events.
type stream struct {
	w        http.ResponseWriter
	gone     <-chan struct{} // closed when the client went
	released <-chan struct{}
	model    string
}

// answer does what the newest prompt says.
func (s *stream) answer(c call) {
	prompt, result := c.prompt()
	if result {
		s.say("tool done")
		return
	}
	first, _, _ := strings.Cut(prompt, "\n")
	verb, rest, _ := strings.Cut(first, " ")
	switch verb {
	case "@say":
		s.say(rest)
	case "@recall":
		s.say("recall: " + strings.Join(c.texts(), " | "))
	case "@tool":
		name, input, _ := strings.Cut(rest, " ")
		s.tool(name, input)
	case "@slow":
		n, _ := strconv.Atoi(rest)
		s.slow(n)
	case "@lines":
		n, _ := strconv.Atoi(rest)
		s.lines(n)
	case "@hang":
		s.hang(rest)
	case "@status":
		code, _ := strconv.Atoi(rest)
		refuse(s.w, max(code, http.StatusBadRequest), "api_error", "the fake was told to fail")
	default:
		s.say("echo: " + first)
	}
}

func (s *stream) say(text string) {
	s.open("text", nil)
	s.text(text)
	s.close("end_turn")
}

func (s *stream) slow(n int) {
	s.open("text", nil)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := range n {
		s.text(fmt.Sprintf("word%d ", i+1))
		select {
		case <-tick.C:
		case <-s.gone:
			return
		}
	}
	s.close("end_turn")
}

func (s *stream) lines(n int) {
	s.open("text", nil)
	for i := range n {
		s.text(fmt.Sprintf("line %d\n", i+1))
	}
	s.close("end_turn")
}

func (s *stream) hang(text string) {
	s.open("text", nil)
	if text != "" {
		s.text(text)
	}
	select {
	case <-s.released:
		s.close("end_turn")
	case <-s.gone:
	}
}

// tool asks for a call. Its id must be new in the conversation, whose earlier ids may come from another API: a client
// drops one that it knows without a word.
func (s *stream) tool(name, input string) {
	if !json.Valid([]byte(input)) {
		s.say("the fake was given no JSON for " + name)
		return
	}
	s.open("tool_use", map[string]any{"id": "toolu_" + strings.ReplaceAll(uuid.NewString(), "-", ""), "name": name,
		"input": map[string]any{}})
	s.event("content_block_delta", map[string]any{"index": 0, "delta": map[string]any{"type": "input_json_delta",
		"partial_json": input}})
	s.close("tool_use")
}

// open begins the answer and its only block, whose fields are those of its type and more.
func (s *stream) open(kind string, more map[string]any) {
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("Request-Id", "req_"+uuid.NewString())
	began := EachUsage()
	began.Output = 1
	s.event("message_start", map[string]any{"message": map[string]any{
		"id": "msg_" + strings.ReplaceAll(uuid.NewString(), "-", ""), "type": "message", "role": "assistant", "model": s.model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": began,
	}})
	content := map[string]any{"type": kind}
	if kind == "text" {
		content["text"] = ""
	}
	for k, v := range more {
		content[k] = v
	}
	s.event("content_block_start", map[string]any{"index": 0, "content_block": content})
}

func (s *stream) text(text string) {
	s.event("content_block_delta", map[string]any{"index": 0, "delta": map[string]string{"type": "text_delta", "text": text}})
}

func (s *stream) close(reason string) {
	s.event("content_block_stop", map[string]any{"index": 0})
	why := map[string]any{"stop_reason": reason, "stop_sequence": nil}
	s.event("message_delta", map[string]any{"delta": why, "usage": EachUsage()})
	s.event("message_stop", map[string]any{})
}

// event sends one event at once.
func (s *stream) event(kind string, doc map[string]any) {
	doc["type"] = kind
	data, _ := json.Marshal(doc)
	fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, data)
	_ = http.NewResponseController(s.w).Flush()
}
