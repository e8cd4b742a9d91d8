package sshd

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestFloodOfConnectionsIsNoFloodOfTheLog turns a thousand connections away within a minute, and one after it.
func TestFloodOfConnectionsIsNoFloodOfTheLog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	var tt turned
	begin := time.Now()
	for i := range 1000 {
		tt.tell(log, begin.Add(time.Duration(i)*time.Millisecond))
	}
	tt.tell(log, begin.Add(turnedEvery))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "others=0") || !strings.Contains(lines[1], "others=999") {
		t.Errorf("logged %q", lines)
	}
}
