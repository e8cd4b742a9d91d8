// Command hitchpost is the whole product: the SSH server, the administration on the machine itself, what tmux starts for
// each session and each task, and what Claude Code calls at its events. main parses, wires and waits; run does the rest,
// so that tests call the same code.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/hitchpost/hitchpost/runtime/launch"
	"github.com/hitchpost/hitchpost/runtime/task"
)

// What tmux starts this program with: before the path of a session's spec, and before that of a task's folder.
const (
	wrapperVerb = "run-session"
	runnerVerb  = "run-task"
)

// hookVerb is what Claude Code in a session starts this program with.
const hookVerb = "hook"

// version is set at link time.
var version = "dev"

func main() {
	// These three come first: they are light because nothing else is set up for them.
	if len(os.Args) >= 2 && os.Args[1] == hookVerb {
		hook()
		return
	}
	if len(os.Args) == 3 && os.Args[1] == wrapperVerb {
		os.Exit(launch.Run(os.Args[2]))
	}
	if len(os.Args) == 3 && os.Args[1] == runnerVerb {
		os.Exit(task.Run(os.Args[2]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), enders()...)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process at once
	}()
	status := run(ctx, os.Args[1:], os.Getenv, streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(status)
}

// enders are the signals that ask the program to end. The hangup of a closed terminal is one of them, but not where it is
// ignored, as nohup(1) has it: listening for it would undo that.
func enders() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// streams are the three that every program has.
type streams struct {
	in       io.Reader
	out, err io.Writer
}
