package runtime

import (
	"context"
	"time"

	"github.com/hitchpost/hitchpost/store"
)

// storeTime is how long the store may take for all that one command asks of it: no longer than for one call. With the way
// to the client and back that is less than the five seconds after which a command has failed where the database is away.
const storeTime = store.Deadline

// patience is how much of storeTime is left to one command. Its statements share it, however many there are and whatever
// else the command does in between. It belongs to one goroutine at a time.
type patience struct{ left time.Duration }

func newPatience() *patience { return &patience{storeTime} }

// spend runs ask, which asks the store, for as long as p is left.
func spend[T any](ctx context.Context, p *patience, ask func(context.Context) (T, error)) (T, error) {
	begin := time.Now()
	defer func() { p.left -= time.Since(begin) }()
	ctx, cancel := context.WithTimeout(ctx, p.left)
	defer cancel()
	return ask(ctx)
}
