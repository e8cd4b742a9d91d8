package sshd_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain fails the tests where a goroutine of the server outlives them.
func TestMain(m *testing.M) {
	status := m.Run()
	if left := leftOvers(); status == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines are left:\n%s\n", left)
		status = 1
	}
	os.Exit(status)
}

// leftOvers is the stacks of the server's goroutines that have not ended some time after the last test.
func leftOvers() string {
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		buf := make([]byte, 16<<20)
		var left []string
		for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "hitchpost/sshd.") || strings.Contains(g, "hitchpost/menu.") {
				left = append(left, g)
			}
		}
		if len(left) == 0 {
			return ""
		}
		select {
		case <-tick.C:
		case <-deadline:
			return strings.Join(left, "\n\n")
		}
	}
}
