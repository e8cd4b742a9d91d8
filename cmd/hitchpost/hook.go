package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/hitchpost/hitchpost/runtime/claude"
	"github.com/hitchpost/hitchpost/runtime/preset"
)

// hookTime is how long a hook may take. Claude Code holds the person's turn for as long.
const hookTime = 1500 * time.Millisecond

// hook is what Claude Code and other agents run at their events. Whatever happens, it prints nothing and succeeds in time:
// output would go into the conversation, and a failure onto the person's screen. An event that cannot be kept is dropped.
func hook() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1) // what is read is bounded, and gone in a moment
	done := make(chan struct{})
	go func() { // not waited for where stdin or the disk hangs: the process ends
		defer close(done)
		defer func() { _ = recover() }()
		if len(os.Args) > 3 && os.Args[2] == "--preset" {
			_ = claude.Leave(os.Getenv, time.Now(), func() (claude.Event, error) { return presetEvent(os.Args[3], os.Args[4:]) })
			return
		}
		_ = claude.Hook(os.Getenv, os.Stdin, time.Now())
	}()
	limit := time.NewTimer(hookTime)
	select {
	case <-done:
	case <-limit.C:
	}
}

// presetEvent reads an event of another agent as its preset says. The presets of a person lie beside the spool.
func presetEvent(name string, words []string) (claude.Event, error) {
	set, err := preset.Load(filepath.Join(filepath.Dir(os.Getenv(claude.SpoolVariable)), "presets"))
	if err != nil {
		return claude.Event{}, err
	}
	p, err := set.Find(name)
	if err != nil {
		return claude.Event{}, err
	}
	n, err := p.Decode(words, os.Stdin)
	return claude.Event{
		Name: claude.HookOther, Source: claude.OneText(n.Event), Notification: string(n.Means), Message: claude.OneText(n.Reason),
		Conversation: claude.OneText(n.Conversation),
	}, err
}
