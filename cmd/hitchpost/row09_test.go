package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRow09ClientTakesNothing stops a client whose session prints without end: it is cut, for taking nothing or for not
// answering, whichever is seen first, and another client of the same session goes on meanwhile.
func TestRow09ClientTakesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "flood", "--", "sh", "-c", "while :; do date +%s; done")
	stuck := s.open(80, 24, "attach", "flood")
	s.becomes("flood", "RUNNING")
	eventually(t, "the flood is seen", func() bool { return strings.Count(stuck.screen(), "\n") > 10 }, stuck.screen)
	must(t, syscall.Kill(stuck.ssh(), syscall.SIGSTOP))
	other := s.open(80, 24, "attach", "flood")
	s.eventually("both are attached", func() bool { return s.show("flood").Attached == 2 })
	within(t, 90*time.Second, "the stuck client is cut", func() bool {
		now := time.Now().Unix()
		shown := strings.Fields(other.screen())
		if len(shown) > 0 && now-newest(shown) > 10 { // 1 s on a calm machine
			t.Errorf("the other client shows what is %d s old", now-newest(shown))
		}
		return s.show("flood").Attached == 1
	}, s.log.String)
	if log := s.log.String(); !strings.Contains(log, "reason=cut") && !strings.Contains(log, "client does not answer") {
		t.Errorf("the log does not tell why")
	}
	other.keys("C-c") // interrupts within seconds
	other.sees("ended (")
}

// newest is the largest number among words.
func newest(words []string) int64 {
	var most int64
	for _, w := range words {
		var n int64
		for _, r := range w {
			if r < '0' || r > '9' {
				n = 0
				break
			}
			n = 10*n + int64(r-'0')
		}
		most = max(most, n)
	}
	return most
}
