package runtime

import (
	"context"
	"time"

	"github.com/hitchpost/hitchpost"
)

const (
	// diskTime is how long a person waits for a disk. A network disk that is gone answers never, and the call to the
	// system cannot be cut off.
	diskTime = 2 * time.Second
	// diskCalls bounds how many calls may hang so.
	diskCalls = 8
)

// disk asks the file system for people, that of the disks or that of the processes.
type disk struct {
	slots  chan struct{}
	silent error // what is told of one that does not answer
}

func newDisk() disk      { return disk{make(chan struct{}, diskCalls), errDisk()} }
func newProcesses() disk { return disk{make(chan struct{}, diskCalls), errProcesses()} }

// ask runs f, which looks at d, and gives up waiting for it after diskTime or when ctx ends. f then runs on to its end,
// and its answer is dropped.
func ask[T any](ctx context.Context, d disk, f func() (T, error)) (T, error) {
	return askFor(ctx, d, diskTime, f)
}

// askFor is ask with another limit.
func askFor[T any](ctx context.Context, d disk, most time.Duration, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	limit := time.NewTimer(most)
	defer limit.Stop()
	select {
	case d.slots <- struct{}{}:
	case <-limit.C:
		return none, d.silent
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
	got := make(chan answer, 1)
	go func() { // not waited for: it ends when the disk answers
		defer func() { <-d.slots }()
		value, err := f()
		got <- answer{value, err}
	}()
	select {
	case a := <-got:
		return a.value, a.err
	case <-limit.C:
		return none, d.silent
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

func errDisk() error {
	return hitchpost.Errorf(hitchpost.TimeoutError, "the disk does not answer").For("cwd").
		Hinted("look whether a network disk is away, or choose another directory")
}
