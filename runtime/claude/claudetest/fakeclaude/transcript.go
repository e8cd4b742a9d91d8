package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/google/uuid"
)

// transcriptPath is where this directory's conversation of that id belongs.
func (p *program) transcriptPath(id string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(p.dir)) {
		if u < 0x80 && (u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9') {
			b.WriteByte(byte(u))
		} else {
			b.WriteByte('-')
		}
	}
	name := b.String()
	if len(name) > 200 {
		sum := fnv.New32a()
		_, _ = sum.Write([]byte(p.dir))
		name = fmt.Sprintf("%s-%x", name[:200], sum.Sum32())
	}
	return filepath.Join(p.config, "projects", name, id+".jsonl")
}

// find is the transcript of a conversation, of any directory, or empty.
func (p *program) find(id string) string {
	found, _ := filepath.Glob(filepath.Join(p.config, "projects", "*", id+".jsonl"))
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// newest is the id of this directory's newest conversation, or empty.
func (p *program) newest() string {
	found, _ := filepath.Glob(p.transcriptPath("*"))
	var id string
	var at time.Time
	for _, name := range found {
		if info, err := os.Stat(name); err == nil && info.ModTime().After(at) {
			id, at = strings.TrimSuffix(filepath.Base(name), ".jsonl"), info.ModTime()
		}
	}
	return id
}

// line is as much of a transcript's line as is read back.
type line struct {
	Type    string `json:"type"`
	Title   string `json:"customTitle"`
	AITitle string `json:"aiTitle"`
	Message struct {
		Content any `json:"content"`
	} `json:"message"`
}

// take makes the conversation in the file at path the present one. It fails where nobody has said anything in it.
func (p *program) take(id, path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	var prompts []string
	title, messages := "", 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var l line
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			continue
		}
		switch l.Type {
		case "user", "assistant":
			messages++
			if text, ok := l.Message.Content.(string); ok && l.Type == "user" && !strings.HasPrefix(text, "<") {
				prompts = append(prompts, text)
			}
		case "custom-title":
			title = l.Title
		case "ai-title":
			if title == "" {
				title = l.AITitle
			}
		}
	}
	if messages == 0 {
		return false
	}
	p.mu.Lock()
	p.id, p.path, p.prompts, p.title = id, path, prompts, title
	p.mu.Unlock()
	return true
}

// copyTo gives the present conversation a new id and a file of its own.
func (p *program) copyTo(id string) {
	text, _ := os.ReadFile(p.path)
	p.mu.Lock()
	old := p.id
	p.id, p.path = id, p.transcriptPath(id)
	p.mu.Unlock()
	p.append(strings.ReplaceAll(string(text), old, id))
}

// begin starts a new conversation in this process.
func (p *program) begin() {
	p.mu.Lock()
	p.id, p.prompts, p.title = uuid.NewString(), nil, ""
	p.path = p.transcriptPath(p.id)
	p.mu.Unlock()
}

// write appends lines to the transcript. Those of the conversation get what each of them carries.
func (p *program) write(lines ...map[string]any) {
	var b strings.Builder
	for _, l := range lines {
		l["sessionId"] = p.id
		switch l["type"] {
		case "user", "assistant", "system":
			l["uuid"], l["parentUuid"], l["isSidechain"] = uuid.NewString(), p.parent, false
			l["timestamp"] = time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
			l["cwd"], l["version"], l["gitBranch"], l["entrypoint"], l["userType"] = p.dir, version(), "HEAD", "cli", "external"
			p.parent = l["uuid"]
		}
		doc, _ := json.Marshal(l)
		b.Write(doc)
		b.WriteByte('\n')
	}
	p.append(b.String())
}

func (p *program) append(text string) {
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return
	}
	file, err := os.OpenFile(p.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = file.WriteString(text)
	_ = file.Close()
}

// user and assistant are the lines of what was said.
func user(text string) map[string]any {
	return map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}}
}

func assistant(text string) map[string]any {
	return map[string]any{"type": "assistant", "requestId": "req_" + uuid.NewString(), "message": map[string]any{
		"id": "msg_" + uuid.NewString(), "type": "message", "role": "assistant", "model": "claude-opus-5-5",
		"stop_reason": "end_turn", "content": []any{map[string]any{"type": "text", "text": text}},
		"usage": map[string]any{"input_tokens": 11, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 3000,
			"output_tokens": 7},
	}}
}
