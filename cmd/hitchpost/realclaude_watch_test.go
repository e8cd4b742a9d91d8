//go:build realclaude

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// arrival is an event of the log, and when one who follows the log had it.
type arrival struct {
	at        time.Time
	Event     string
	SessionID string `json:"session_id"`
	Reason    string
}

// gate is a script that waits, once it is run, until the test opens it.
type gate struct {
	c      *claudeStack
	script string
}

func (c *claudeStack) gate(name string) gate {
	c.t.Helper()
	g := gate{c, filepath.Join(c.home.Project, name+".sh")}
	must(c.t, writeFile(g.script, fmt.Sprintf(
		"echo $$ > %[1]s.new; mv %[1]s.new %[1]s.up; until [ -e %[1]s.go ]; do sleep 0.1; done; echo through %[2]s\n", g.script, name)))
	return g
}

// reached waits until the script runs, and returns its pid.
func (g gate) reached() (pid int) {
	g.c.t.Helper()
	eventually(g.c.t, g.script+" runs", func() bool {
		text, err := os.ReadFile(g.script + ".up")
		if err != nil {
			return false
		}
		_, err = fmt.Sscan(string(text), &pid)
		return err == nil
	}, func() string { return g.c.screen("api") })
	return pid
}

func (g gate) open() { must(g.c.t, writeFile(g.script+".go", "")) }

// bash is the prompt that has the script run by Claude Code's tool for commands.
func (g gate) bash(more string) string {
	return fmt.Sprintf(`@tool Bash {"command":"sh %s"%s}`, filepath.Base(g.script), more)
}

// follow begins to follow the event log.
func (c *claudeStack) follow() {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "ssh", c.sshArgs("events", "--follow", "--json")...)
	cmd.Env = c.env
	out, err := cmd.StdoutPipe()
	must(c.t, err)
	must(c.t, cmd.Start())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			a := arrival{at: time.Now()}
			if json.Unmarshal(lines.Bytes(), &a) == nil {
				c.mu.Lock()
				c.arrived = append(c.arrived, a)
				c.mu.Unlock()
			}
		}
		_ = cmd.Wait()
	}()
	c.t.Cleanup(func() { <-done })
}

// seenSoon fails where the change that a session is in now was not told at once to one who follows the event log. The
// limit is for a machine that is busy with other tests; what it took is logged.
func (c *claudeStack) seenSoon(now talk) {
	c.t.Helper()
	source := now.Agent.StatusAt // when hook or register told of it
	var told time.Time
	c.eventually("the log tells of "+now.Reason, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for i, a := range c.arrived {
			if a.SessionID == now.ID && a.Reason == now.Reason && (a.Event == "waiting" || a.Event == "answered") {
				told, c.arrived = a.at, c.arrived[i+1:]
				return true
			}
		}
		return false
	})
	took := told.Sub(source)
	c.mu.Lock()
	c.slowest = max(c.slowest, took)
	c.mu.Unlock()
	c.t.Logf("%-40s by the %-8s after %v", now.Reason, now.Agent.StatusSource, took.Round(time.Millisecond))
	if took > 10*time.Second {
		c.t.Errorf("%s of %v was told at %v", now.Reason, source, told)
	}
}
