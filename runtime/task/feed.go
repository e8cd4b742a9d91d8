package task

import (
	"context"
	"errors"
	"io"
)

// ErrFed says that somebody feeds the task's standard input already, or has done so.
var ErrFed = errors.New("the task's input has been given already")

// Feed copies r to the standard input of a task whose Spec has Stdin, and closes it at the end of r. It waits for the
// task to start, and blocks for as long as the command does not read. Input is given once: the end of Feed, for
// whatever reason, is the end of the command's input, also when the process that called it is killed.
//
// It is nil once all was given, and also once the command has ended or closed its input, whatever is left of r then. A
// Read of r may then still wait, in a goroutine of Feed's own, which ends with that Read: the caller closes what r reads
// from. Errors: ErrFed, where another Feed came before; the cause of ctx; what r failed with; one that wraps
// fs.ErrNotExist, where there is no task or it has no input.
func Feed(ctx context.Context, folder string, r io.Reader) error {
	return errors.ErrUnsupported
}
