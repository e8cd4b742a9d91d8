package main

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
)

// key does what a key does, and reports whether that ends the session.
func (p *program) key(k key) (leave bool) {
	p.mu.Lock()
	dialog := p.dialog
	p.mu.Unlock()
	switch {
	case k.name == keyEsc || k.name == keyInterrupt:
		if p.cancel != nil {
			p.cancel()
		}
	case dialog != nil:
		if k.name == keyEnter {
			k.text = "1"
		}
		select {
		case dialog <- k.text:
		default:
		}
	case k.name == keyBackspace:
		p.screen.edit(func(s string) string { r := []rune(s); return string(r[:max(len(r)-1, 0)]) })
	case k.name == keyKill:
		p.screen.edit(func(string) string { return "" })
	case k.name == keyLeft:
		p.agentView()
	case k.name == keyEnter:
		return p.submit(strings.TrimSpace(p.screen.enter()))
	default:
		p.screen.edit(func(s string) string { return s + k.text })
	}
	return false
}

// agentView takes the conversation out of this terminal, unless that is switched off.
func (p *program) agentView() {
	off := p.settings.DisableAgentView != nil && *p.settings.DisableAgentView || envSet("CLAUDE_CODE_DISABLE_AGENT_VIEW")
	if off || p.screen.typed != "" || p.picking {
		return
	}
	p.unregister()
	p.picking = true
	p.screen.print("the conversation moved to the agent view")
}

// submit does what a typed line says.
func (p *program) submit(line string) (leave bool) {
	if p.picking || line == "" {
		return false
	}
	verb, rest, _ := strings.Cut(line, " ")
	if !strings.HasPrefix(line, "/") {
		p.queue = append(p.queue, line)
		return false
	}
	if p.cancel != nil {
		p.queue = append(p.queue, line)
		return false
	}
	p.screen.print("❯ " + line)
	switch verb {
	case "/exit", "/quit":
		return true
	case "/clear":
		p.start(func(context.Context) { p.moves("clear", "clear", p.cleared) })
	case "/resume":
		if path := p.find(rest); uuid.Validate(rest) != nil || path == "" {
			p.screen.print("Session " + rest + " was not found.")
		} else {
			p.start(func(context.Context) { p.moves("resume", "resume", func() { p.take(rest, path) }) })
		}
	case "/branch":
		p.start(func(context.Context) {
			p.moves("resume", "fork", func() { p.copyTo(uuid.NewString()); p.retitle(p.title + " (Branch)") })
		})
	case "/compact":
		p.start(func(context.Context) { p.compact() })
	case "/rename":
		p.retitle(rest)
	case "/model":
		p.start(func(ctx context.Context) { p.choice(ctx, "dialog open", "Select model"); p.status("idle", "") })
	default:
		p.screen.print("Unknown command: " + verb)
	}
	return false
}

// moves changes the conversation of this process. The process goes on: that a conversation ended is not its end.
func (p *program) moves(ended, begun string, move func()) {
	p.status("busy", "")
	p.hooks.run("SessionEnd", map[string]any{"reason": ended}, ended)
	move()
	p.status("busy", "")
	p.hooks.run("SessionStart", map[string]any{"source": begun, "model": "claude-opus-5-5"}, begun)
	p.screen.print("now in " + p.id)
	p.status("idle", "")
}

// cleared begins a conversation, whose file is there at once and can be resumed.
func (p *program) cleared() {
	p.begin()
	p.write(user("<command-name>/clear</command-name>"))
}

// compact makes a summary in place of what was said.
func (p *program) compact() {
	p.status("busy", "")
	p.hooks.run("PreCompact", map[string]any{"trigger": "manual", "custom_instructions": nil}, "manual")
	agent := uuid.NewString()
	p.hooks.run("SubagentStop", map[string]any{"agent_id": agent, "agent_type": "", "agent_transcript_path": filepath.Join(
		strings.TrimSuffix(p.path, ".jsonl"), "subagents", "agent-"+agent+".jsonl")}, "")
	p.write(map[string]any{"type": "system", "subtype": "compact_boundary", "compactMetadata": map[string]any{
		"trigger": "manual", "preTokens": 3218, "postTokens": 500}})
	p.hooks.run("SessionStart", map[string]any{"source": "compact", "model": "claude-opus-5-5"}, "compact")
	p.hooks.run("PostCompact", map[string]any{"trigger": "manual", "compact_summary": "a summary"}, "manual")
	p.screen.print("Compacted")
	p.status("idle", "")
}

func (p *program) retitle(title string) {
	p.mu.Lock()
	p.title, p.entry.Name = title, title
	p.register()
	p.mu.Unlock()
	p.write(map[string]any{"type": "custom-title", "customTitle": title})
}

// choice opens a dialog and waits for a digit. It is empty when the dialog was interrupted.
func (p *program) choice(ctx context.Context, waitingFor string, lines ...string) string {
	answer := make(chan string, 1)
	p.mu.Lock()
	p.dialog = answer
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.dialog = nil
		p.mu.Unlock()
	}()
	p.screen.print(strings.Join(lines, "\n") + "\nEsc to cancel")
	p.status("waiting", waitingFor)
	for {
		select {
		case <-ctx.Done():
			return ""
		case digit := <-answer:
			if len(digit) == 1 && digit >= "1" && digit <= "9" {
				return digit
			}
		}
	}
}

// pause waits, and reports whether nobody interrupted it.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
