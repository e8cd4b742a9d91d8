package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An agent of a preset tells by its hook when it waits and when it works, and which conversation it has, which a Restart
// names again. One that only asks for attention has no state from that.
func TestPresetHooks(t *testing.T) {
	t.Parallel()
	s := start(t)
	dir := s.path("data/presets")
	must(t, os.MkdirAll(dir, 0o700))
	agent := s.path("home/agent")
	must(t, os.WriteFile(agent, fmt.Appendf(nil, `#!/bin/sh
echo "up with $*"
while read -r line; do
	%s hook --preset mine "{\"type\":\"$line\",\"id\":\"ses:1\",\"tool\":\"sh\"}" && echo "told $line"
done
`, built), 0o700))
	doc, err := json.Marshal(map[string]any{
		"version": 1, "program": agent, "start": []string{"new"}, "restart": []string{"again"},
		"restart_conversation": []string{"again", "${conversation}"},
		"hook": map[string]any{"input": "argument", "event": "type", "conversation": "id", "events": map[string]any{
			"ask": map[string]string{"means": "waits", "reason": "permission", "detail": "tool"}, "busy": map[string]string{"means": "works"},
			"idle": map[string]string{"means": "finished", "reason": "turn finished"}, "ping": map[string]string{"means": "attention", "reason": "look"},
		}},
	})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "mine.json"), doc, 0o600))

	s.ok("new", "--preset", "mine", "--title", "job")
	tells := func(event, state, reason string) {
		t.Helper()
		s.ok("send", "job", event, "--enter")
		s.eventually(event+" gives "+state+", "+reason, func() bool {
			got := s.show("job")
			return got.State == state && strings.Contains(s.ok("show", "job"), reason)
		})
	}
	tells("ask", "WAITING_FOR_INPUT", "permission: sh")
	tells("busy", "DETACHED", "works")
	tells("idle", "WAITING_FOR_INPUT", "turn finished")
	s.ok("send", "job", "ping", "--enter")
	s.eventually("the notice", func() bool { return strings.Contains(s.ok("events", "job"), "attention") })
	if got := s.show("job"); got.State != "WAITING_FOR_INPUT" {
		t.Errorf("after a notice: %+v", got)
	}
	s.killTmux()
	s.becomes("job", "RECOVERABLE")
	s.ok("restart", "job")
	s.eventually("its conversation", func() bool { return strings.Contains(s.ok("capture", "job"), "up with again ses:1") })
	tells("idle", "WAITING_FOR_INPUT", "turn finished")
}
