package task

import (
	"context"
	"errors"
	"io"
)

// Log reads the output of a task, during its life and after it. It has a position, at the start at first, which Tail,
// WriteTo and Follow move. Where bytes were left out of the log, because it reached its limit or the disk was full, the
// reader gets one line of its own that says how many: see gapLine. It is for one goroutine.
type Log struct {
	folder string
}

// OpenLog opens the log of the task in folder. It wraps fs.ErrNotExist where there is no task. The caller closes it.
func OpenLog(folder string) (*Log, error) { return nil, errors.ErrUnsupported }

// Close lets go of the log. It does not end a Follow in flight: the context does.
func (l *Log) Close() error { return nil }

// Tail moves the position to where the last n lines begin that the log holds now, a last line without an end and the
// line of a gap being lines as well; to the end for n of 0.
func (l *Log) Tail(n int) error { return errors.ErrUnsupported }

// WriteTo writes what the log holds now from the position on, and moves the position behind it.
func (l *Log) WriteTo(w io.Writer) (int64, error) { return 0, errors.ErrUnsupported }

// Follow writes what the log holds from the position on, and what comes, until the end: it is nil once the task is over
// (see Seen.Over) and all that was written before is out. It waits for a task that has not been started. Otherwise it
// is the cause of ctx, or what w or the folder failed with. A Write of w that blocks is not ended by ctx. Output that
// leaves the log before it was read is a gap.
func (l *Log) Follow(ctx context.Context, w io.Writer) error { return errors.ErrUnsupported }

// written is how much the command has written so far, as far as the log tells.
func written(folder string) (int64, error) { return 0, nil }
