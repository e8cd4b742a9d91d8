package claude

import (
	"encoding/json"
	"errors"
	"strings"
)

// transcriptLine is what the lines of a transcript are read into; each kind has some of it.
type transcriptLine struct {
	Type        string `json:"type"`
	Subtype     string `json:"subtype"`
	CustomTitle string `json:"customTitle"`
	AITitle     string `json:"aiTitle"`
	LastPrompt  string `json:"lastPrompt"`
	Sidechain   bool   `json:"isSidechain"` // a subagent's
	Meta        bool   `json:"isMeta"`      // not typed by a person
	Compact     struct {
		PostTokens int64 `json:"postTokens"`
	} `json:"compactMetadata"`
	Message struct {
		ID      string  `json:"id"`
		Usage   usage   `json:"usage"`
		Content content `json:"content"`
	} `json:"message"`
}

// parseLine is false for a line that is no JSON object. Fields of an unexpected type count as absent.
func parseLine(line []byte) (transcriptLine, bool) {
	var l transcriptLine
	var wrongType *json.UnmarshalTypeError
	err := json.Unmarshal(line, &l)
	return l, err == nil || errors.As(err, &wrongType)
}

// prompt is what a person typed; empty where it is no such line: the answers of tools, what Claude Code tells the model by
// itself, and what it notes of commands and interruptions are user's lines too.
func (l transcriptLine) prompt() string {
	if l.Type != "user" || l.Meta || l.Sidechain {
		return ""
	}
	text := strings.TrimSpace(l.Message.Content.text())
	for _, own := range []string{
		"[Request interrupted by user", "<command-", "<local-command-", "<bash-", "<task-notification>",
	} {
		if strings.HasPrefix(text, own) {
			return ""
		}
	}
	return text
}

// content is what a message says: parts, of which a plain text is one.
type content []part

type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
	Name string `json:"name"` // of a tool
}

// UnmarshalJSON takes a string or a list; anything else is no content.
func (c *content) UnmarshalJSON(data []byte) error {
	*c = nil
	if len(data) > 0 && data[0] == '"' {
		*c = content{{Type: "text", Text: text(data)}}
		return nil
	}
	var parts []json.RawMessage
	if json.Unmarshal(data, &parts) != nil {
		return nil
	}
	for _, p := range parts {
		var one part
		if json.Unmarshal(p, &one) == nil {
			*c = append(*c, one)
		}
	}
	return nil
}

// text is the texts of all parts.
func (c content) text() string {
	var texts []string
	for _, p := range c {
		if p.Type == "text" && p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// usage is what one answer of the model took.
type usage struct {
	Input         int64 `json:"input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	Output        int64 `json:"output_tokens"`
}

func (u usage) in() int64  { return tokens(u.Input) + tokens(u.CacheCreation) + tokens(u.CacheRead) }
func (u usage) out() int64 { return tokens(u.Output) }

// tokens is n, where it can be a number of tokens: sums of what somebody made up must not run over.
func tokens(n int64) int64 { return min(max(n, 0), 1_000_000_000) }
