package claudetest

import (
	"encoding/json"
	"slices"
	"strings"
)

// call is as much of a request's body as the fake looks at.
type call struct {
	Model        string          `json:"model"`
	System       json.RawMessage `json:"system"` // a text, or blocks
	Messages     []message       `json:"messages"`
	OutputConfig struct {
		Format struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a text, or blocks
}

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// blocks reads content in either of its forms.
func blocks(content json.RawMessage) []block {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var bs []block
	_ = json.Unmarshal(content, &bs)
	return bs
}

func (c call) system() string {
	var b strings.Builder
	for _, part := range blocks(c.System) {
		b.WriteString(part.Text)
	}
	return b.String()
}

// typed are the texts of a message that a person wrote: what the program adds of its own stands between tags, or tells of
// an interruption.
func (m message) typed() []string {
	if m.Role != "user" {
		return nil
	}
	var texts []string
	for _, b := range blocks(m.Content) {
		text := strings.TrimSpace(b.Text)
		if b.Type == "text" && text != "" && !strings.HasPrefix(text, "<") && !strings.HasPrefix(text, "[Request interrupted") {
			texts = append(texts, text)
		}
	}
	return texts
}

func (c call) texts() []string {
	var texts []string
	for _, m := range c.Messages {
		texts = append(texts, m.typed()...)
	}
	return texts
}

// prompt is what was typed last, and whether it is a tool's result that wants an answer now instead. The last message
// may be the program's own, of the role system. One of the role user may hold a result and a prompt typed after it.
func (c call) prompt() (text string, result bool) {
	for _, m := range slices.Backward(c.Messages) {
		if m.Role != "user" {
			continue
		}
		if texts := m.typed(); len(texts) > 0 {
			return texts[len(texts)-1], false
		}
		if slices.ContainsFunc(blocks(m.Content), func(b block) bool { return b.Type == "tool_result" }) {
			return "", true
		}
	}
	return "", false
}

// fill makes a document that fits a JSON schema, as far as those of titles go.
func fill(schema json.RawMessage) string {
	var s struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s)
	doc := map[string]any{}
	for name, p := range s.Properties {
		switch p.Type {
		case "boolean":
			doc[name] = false
		case "integer", "number":
			doc[name] = 0
		case "array":
			doc[name] = []string{}
		default:
			doc[name] = "A title of the fake"
		}
	}
	text, _ := json.Marshal(doc)
	return string(text)
}
