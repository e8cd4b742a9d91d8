package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// task is a command in the background.
type task struct{ id, command string }

// bash runs the command of a call of Bash, in the background where the input asks for that.
func (p *program) bash(ctx context.Context, input string) (string, error) {
	var in struct {
		Command    string `json:"command"`
		Background bool   `json:"run_in_background"`
	}
	if err := json.Unmarshal([]byte(input), &in); err != nil {
		return "", err
	}
	if !in.Background {
		return p.shell(ctx, in.Command)
	}
	t := task{id: "b" + uuid.NewString()[:8], command: in.Command}
	p.mu.Lock()
	p.tasks = append(p.tasks, t)
	p.mu.Unlock()
	go func() {
		_, err := p.shell(context.Background(), in.Command)
		p.mu.Lock()
		p.tasks = slices.DeleteFunc(p.tasks, func(o task) bool { return o == t })
		p.mu.Unlock()
		p.wake <- fmt.Sprintf("<task-notification>\n<task-id>%s</task-id>\n<status>completed</status>\n%v\n</task-notification>", t.id, err)
	}()
	return "Running in the background", nil
}

// bang runs a command that was typed after an exclamation mark.
func (p *program) bang(ctx context.Context, command string) {
	p.screen.print("! " + command)
	out, err := p.shell(ctx, command)
	p.write(user("<bash-input>" + command + "</bash-input>"))
	if out == "" {
		out = "(Bash completed with no output)"
	}
	if err != nil {
		out += "\n" + err.Error()
	}
	p.screen.print(out)
	if ctx.Err() == nil {
		p.write(assistant("noted"))
		p.stop("noted")
	}
	p.rest()
}

// shell runs a command in a session of its own, as the real program does: it outlives a killed one.
func (p *program) shell(ctx context.Context, command string) (string, error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = p.dir, &out, &out, time.Second
	cmd.Env = append(os.Environ(), "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID="+p.id)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		return "", err
	}
	group := cmd.Process.Pid
	p.mu.Lock()
	p.groups[group] = true
	p.mu.Unlock()
	err := cmd.Wait()
	p.mu.Lock()
	delete(p.groups, group)
	p.mu.Unlock()
	return out.String(), err
}
