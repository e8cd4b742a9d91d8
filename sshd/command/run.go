package command

import "context"

// Run executes the verb of inv and returns the exit status. It returns when the verb is done, ctx ends or the client
// takes no more output. It starts nothing that outlives it.
func Run(ctx context.Context, inv Invocation) (exitStatus int) {
	panic("not yet")
}

// Verbs lists the words that begin a command line, sorted. Any other word is a REF where there is a terminal.
func Verbs() []string {
	return []string{"attach", "capture", "close", "help", "history", "key", "ls", "new", "node", "rename", "restart",
		"show", "status", "stop", "version", "whoami"}
}
