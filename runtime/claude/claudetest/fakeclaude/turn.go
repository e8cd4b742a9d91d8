package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// errRefused ends a turn whose tool was not allowed; no hook hears of it.
var errRefused = errors.New("refused")

// apiError ends a turn that the API failed.
type apiError struct{ kind, text string }

func (e apiError) Error() string { return e.text }

// turn answers one prompt, from its first hook to its last. An interruption ends it without any hook.
func (p *program) turn(ctx context.Context, prompt string) {
	p.status("busy", "")
	if command, ok := strings.CutPrefix(prompt, "!"); ok {
		p.bang(ctx, command)
		return
	}
	p.screen.print("❯ " + prompt)
	context, blocked := p.hooks.run("UserPromptSubmit", map[string]any{"prompt": prompt}, "")
	if blocked {
		p.screen.print("the prompt was blocked by a hook")
		p.screen.edit(func(string) string { return prompt })
		p.status("idle", "")
		return
	}
	if context != "" {
		p.screen.print("a hook added to the context: " + context)
	}
	p.remember(prompt)
	answer, err := p.answer(ctx, prompt)
	var failed apiError
	switch {
	case errors.Is(err, errRefused) || ctx.Err() != nil:
		p.interrupted(prompt, answer)
	case errors.As(err, &failed):
		p.screen.print("● " + failed.text)
		p.write(assistant(failed.text))
		p.hooks.run("StopFailure", map[string]any{"error": failed.kind, "last_assistant_message": failed.text}, failed.kind)
	default:
		p.write(assistant(answer), map[string]any{"type": "last-prompt", "lastPrompt": prompt})
		p.stop(answer)
	}
	p.rest()
}

// stop is the normal end of a turn.
func (p *program) stop(answer string) {
	p.mu.Lock()
	running := make([]map[string]any, 0, len(p.tasks))
	for _, t := range p.tasks {
		running = append(running, map[string]any{"id": t.id, "type": "shell", "status": "running", "description": t.command,
			"command": t.command})
	}
	p.mu.Unlock()
	p.hooks.run("Stop", map[string]any{"stop_hook_active": false, "last_assistant_message": answer, "background_tasks": running,
		"session_crons": []any{}}, "")
}

// rest tells the state between turns.
func (p *program) rest() {
	p.mu.Lock()
	working := len(p.tasks) > 0
	p.mu.Unlock()
	if working {
		p.status("shell", "")
	} else {
		p.status("idle", "")
	}
}

// interrupted is the end of a turn that somebody ended. Before any answer the prompt is put back to be changed.
func (p *program) interrupted(prompt, answer string) {
	p.screen.print("Interrupted · What should Claude do instead?")
	p.write(user("[Request interrupted by user]"))
	if answer == "" && !strings.HasPrefix(prompt, "@tool") && !strings.HasPrefix(prompt, "@ask") {
		p.screen.edit(func(string) string { return prompt })
	}
}

// remember writes down a prompt; with the first one the transcript begins.
func (p *program) remember(prompt string) {
	if p.find(p.id) == "" {
		p.write(map[string]any{"type": "mode", "mode": "normal"})
		p.write(map[string]any{"type": "permission-mode", "permissionMode": p.mode})
		if p.name != "" {
			p.write(map[string]any{"type": "custom-title", "customTitle": p.name})
		} else {
			p.write(map[string]any{"type": "ai-title", "aiTitle": "A title of the fake"})
		}
	}
	p.write(user(prompt))
	if !strings.HasPrefix(prompt, "<") {
		p.prompts = append(p.prompts, prompt)
	}
}

// answer does what the prompt says. What it returns beside an error is what it had said by then.
func (p *program) answer(ctx context.Context, prompt string) (string, error) {
	first, _, _ := strings.Cut(prompt, "\n")
	verb, rest, _ := strings.Cut(first, " ")
	n, _ := strconv.Atoi(rest)
	switch verb {
	case "@hang":
		<-ctx.Done()
		return "", ctx.Err()
	case "@slow":
		return p.slow(ctx, n)
	case "@status":
		kind := "unknown"
		if n == 429 || n >= 500 {
			kind = "server_error"
		}
		return "", apiError{kind, fmt.Sprintf("API Error: %d the fake was told to fail", n)}
	case "@tool":
		name, input, _ := strings.Cut(rest, " ")
		return p.tool(ctx, name, input)
	case "@ask":
		yes, no := map[string]string{"label": "Yes", "description": ""}, map[string]string{"label": "No", "description": ""}
		question := map[string]any{"question": rest, "header": "Question", "options": []any{yes, no}, "multiSelect": false}
		input, _ := json.Marshal(map[string]any{"questions": []any{question}})
		return p.tool(ctx, "AskUserQuestion", string(input))
	}
	text := map[string]string{"@say": rest, "@recall": "recall: " + strings.Join(p.prompts, " | "), "@lines": lines(n)}[verb]
	switch {
	case strings.HasPrefix(first, "<"):
		text = "tool done"
	case text == "":
		text = "echo: " + first
	}
	p.screen.print("● " + text)
	return text, nil
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (p *program) slow(ctx context.Context, n int) (string, error) {
	var said []string
	for i := range n {
		said = append(said, fmt.Sprintf("word%d", i+1))
		p.screen.print("● " + said[i])
		if !pause(ctx, 100*time.Millisecond) {
			return strings.Join(said, " "), ctx.Err()
		}
	}
	return strings.Join(said, " "), nil
}

// tool calls a tool, with a dialog where the mode or the tool asks for one.
func (p *program) tool(ctx context.Context, name, input string) (string, error) {
	if !json.Valid([]byte(input)) {
		return "the fake was given no JSON for " + name, nil
	}
	use := map[string]any{"tool_name": name, "tool_input": json.RawMessage(input), "tool_use_id": "toolu_" + uuid.NewString()}
	with := func(more map[string]any) map[string]any {
		all := map[string]any{}
		for _, m := range []map[string]any{use, more} {
			for k, v := range m {
				all[k] = v
			}
		}
		return all
	}
	p.screen.print("● " + name + " " + input)
	if _, blocked := p.hooks.run("PreToolUse", use, name); blocked {
		return "a hook did not allow it", nil
	}
	asks := slices.Contains([]string{"AskUserQuestion", "ExitPlanMode"}, name)
	if asks || slices.Contains([]string{"manual", "default", "plan"}, p.mode) && name != "Read" {
		p.hooks.run("PermissionRequest", with(map[string]any{"permission_suggestions": []any{}}), name)
		waitingFor := "permission prompt"
		if asks {
			waitingFor = "input needed"
		}
		digit := p.choice(ctx, waitingFor, "Do you want to proceed?", "1. Yes", "2. No")
		if digit == "" || digit != "1" && !asks {
			return "", errRefused
		}
		p.status("busy", "")
	}
	began := time.Now()
	out, err := "", error(nil)
	if name == "Bash" {
		out, err = p.bash(ctx, input)
	}
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	took := map[string]any{"duration_ms": time.Since(began).Milliseconds()}
	if err != nil {
		took["error"], took["is_interrupt"] = err.Error(), false
		p.hooks.run("PostToolUseFailure", with(took), name)
	} else {
		took["tool_response"] = map[string]any{"stdout": out, "stderr": "", "interrupted": false}
		p.hooks.run("PostToolUse", with(took), name)
	}
	p.screen.print(out + "\n● tool done")
	return "tool done", nil
}

func envSet(name string) bool { return os.Getenv(name) != "" && os.Getenv(name) != "0" }
