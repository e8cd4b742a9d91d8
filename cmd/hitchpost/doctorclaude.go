package main

import (
	"context"
	"strings"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime"
	"github.com/hitchpost/hitchpost/runtime/claude"
	"github.com/hitchpost/hitchpost/runtime/launch"
)

// checkClaude looks for the Claude Code that a session of that kind would run here. Who has none can do without.
func checkClaude(ctx context.Context, a runtime.Account) check {
	c := check{Name: "claude", State: checkOK}
	env := launch.Environment(a.Getenv, a.Home, a.User, a.Shell, "", nil)
	search := ""
	for _, kv := range env {
		if dirs, ok := strings.CutPrefix(kv, "PATH="); ok {
			search = dirs
		}
	}
	path, err := launch.Program("claude", search, a.Home)
	if err != nil {
		c.State, c.Detail = checkWarn, "no Claude Code in "+search
		c.Hint = "install it where sessions of kind claude are wanted; others need none"
		return c
	}
	found, err := new(claude.Finder).Find(ctx, path, env)
	if err != nil {
		c = bad(c.Name, err)
		if hitchpost.KindOf(err) == hitchpost.UsageError {
			c.State = checkWarn
		}
		return c
	}
	c.Detail = "Claude Code " + found.Version + " at " + found.Path
	return c
}
