package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/hitchpost/hitchpost/runtime/claude"
)

// hookTime is how long a hook may take. Claude Code holds the person's turn for as long.
const hookTime = 1500 * time.Millisecond

// hook is what Claude Code runs at its events. Whatever happens, it prints nothing and succeeds in time: output would go
// into the conversation, and a failure onto the person's screen. An event that cannot be kept is dropped.
func hook() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1) // what is read is bounded, and gone in a moment
	done := make(chan struct{})
	go func() { // not waited for where stdin or the disk hangs: the process ends
		defer close(done)
		defer func() { _ = recover() }()
		_ = claude.Hook(os.Getenv, os.Stdin, time.Now())
	}()
	limit := time.NewTimer(hookTime)
	select {
	case <-done:
	case <-limit.C:
	}
}
