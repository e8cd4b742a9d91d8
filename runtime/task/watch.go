package task

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// lookAgain is how often a watcher looks by itself: a runner that is killed leaves no trace in its folder.
	lookAgain = time.Second
	// lookOften is the same where the system gives no more watches, of which an account has a few (inotify(7)).
	lookOften = 100 * time.Millisecond
)

// watch tells that something in a folder may have changed.
type watch struct {
	watcher *fsnotify.Watcher // nil: there is none to be had
	events  <-chan fsnotify.Event
	errors  <-chan error
	ticker  *time.Ticker
}

// watchFolder begins to watch: changes from now on are told. The caller closes it.
func watchFolder(folder string) *watch {
	w := &watch{}
	if watcher, err := fsnotify.NewWatcher(); err == nil {
		if err := watcher.Add(folder); err == nil {
			w.watcher, w.events, w.errors = watcher, watcher.Events, watcher.Errors
			w.ticker = time.NewTicker(lookAgain)
			return w
		}
		_ = watcher.Close()
	}
	w.ticker = time.NewTicker(lookOften)
	return w
}

func (w *watch) close() {
	w.ticker.Stop()
	if w.watcher != nil {
		_ = w.watcher.Close()
	}
}

// next waits for a change, or for the time to look without one. Changes that came together are told once. It fails with
// the cause of ctx alone.
func (w *watch) next(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.ticker.C:
	case <-w.events:
	case <-w.errors: //nolint:errcheck // a queue that ran over is a change like another
	}
	for {
		select {
		case <-w.events:
		case <-w.errors: //nolint:errcheck // the same
		default:
			return nil
		}
	}
}
