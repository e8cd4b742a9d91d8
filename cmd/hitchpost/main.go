// Command hitchpost is the whole product: the SSH server, the administration on the machine itself, and the wrapper
// that tmux starts for each session. main parses, wires and waits; run does the rest, so that tests call the same code.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/hitchpost/hitchpost/runtime/launch"
)

// wrapperVerb is what tmux starts this program with, before the path of a session's spec.
const wrapperVerb = "run-session"

// version is set at link time.
var version = "dev"

func main() {
	// The wrapper comes first: it is light because nothing else is set up for it.
	if len(os.Args) == 3 && os.Args[1] == wrapperVerb {
		os.Exit(launch.Run(os.Args[2]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process at once
	}()
	status := run(ctx, os.Args[1:], os.Getenv, streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(status)
}

// streams are the three that every program has.
type streams struct {
	in       io.Reader
	out, err io.Writer
}
