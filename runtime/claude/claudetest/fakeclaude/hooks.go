package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// hooks runs the commands that the settings have for events.
type hooks struct {
	program  *program
	settings settings
}

// run runs an event's hooks, all at once, and waits for them. about is what a matcher is held against. It reports what
// they said for the model to read, and whether one of them blocked what is about to happen.
func (h hooks) run(event string, fields map[string]any, about string) (context string, blocked bool) {
	p := h.program
	p.mu.Lock()
	id, path, title := p.id, p.path, p.title
	p.mu.Unlock()
	payload := map[string]any{"session_id": id, "transcript_path": path, "cwd": p.dir, "hook_event_name": event}
	if event != "SessionEnd" && title != "" {
		payload["session_title"] = title
	}
	if event != "SessionStart" && event != "SessionEnd" {
		payload["permission_mode"] = strings.ReplaceAll(p.mode, "manual", "default")
	}
	for k, v := range fields {
		payload[k] = v
	}
	doc, _ := json.Marshal(payload)

	var done sync.WaitGroup
	var mu sync.Mutex
	var said []string
	for _, m := range h.settings.Hooks[event] {
		if !matches(m.Matcher, about) {
			continue
		}
		for _, c := range m.Hooks {
			if c.Async {
				go h.one(event, id, c, doc)
				continue
			}
			done.Add(1)
			go func() {
				defer done.Done()
				out, code := h.one(event, id, c, doc)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case code == 2 && (event == "UserPromptSubmit" || event == "PreToolUse"):
					blocked = true
				case code != 0:
					p.screen.print(event + " hook failed")
				case out != "" && (event == "SessionStart" || event == "UserPromptSubmit"):
					said = append(said, out)
				}
			}()
		}
	}
	done.Wait()
	return strings.Join(said, "\n"), blocked
}

// one runs one command.
func (h hooks) one(event, id string, c command, doc []byte) (out string, code int) {
	limit := 60 * time.Second
	switch {
	case c.Timeout > 0:
		limit = time.Duration(c.Timeout * float64(time.Second))
	case event == "UserPromptSubmit":
		limit = 30 * time.Second
	case event == "SessionEnd":
		limit = 1500 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", c.Command)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = h.program.dir, bytes.NewReader(doc), time.Second
	cmd.Env = append(os.Environ(), "CLAUDE_CODE_SESSION_ID="+id, "CLAUDE_PID="+strconv.Itoa(os.Getpid()),
		"CLAUDE_PROJECT_DIR="+h.program.dir, "CLAUDECODE=1")
	text, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return "", exit.ExitCode()
	case err != nil:
		return "", 127
	}
	return strings.TrimSpace(string(text)), 0
}

func matches(matcher, about string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	ok, err := regexp.MatchString("^(?:"+matcher+")$", about)
	return ok && err == nil
}
