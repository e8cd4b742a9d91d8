package claude

import (
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// lookAgain is how often a watched directory is held against the one that stands at its path now.
	lookAgain = time.Second
	// lookOften is the same while there is no watch on it: it is not there, or the system gives no more watches, of which
	// an account has a few (inotify(7)).
	lookOften = 250 * time.Millisecond
)

// Watch wakes whoever waits for changes in a directory, which need not be there yet and may be removed and made anew.
// One may serve any number of sessions of the same config directory.
type Watch struct {
	dir  string
	wake chan struct{}
	stop chan struct{}
	done chan struct{}
}

// WatchDir begins to watch: changes from now on are told. The caller closes it.
func WatchDir(dir string) *Watch {
	w := &Watch{dir: dir, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	l := &lookout{dir: dir}
	l.look()
	go w.run(l)
	return w
}

// Wake gets something when the directory may have changed since the last time. Changes that come together wake once.
// The passing of time and the death of a process change nothing in a directory: who waits for these has a clock too.
func (w *Watch) Wake() <-chan struct{} { return w.wake }

// Close ends the watch and waits until it has ended. It is called once.
func (w *Watch) Close() {
	close(w.stop)
	<-w.done
}

func (w *Watch) run(l *lookout) {
	defer close(w.done)
	defer l.drop()
	timer := time.NewTimer(l.pause())
	defer timer.Stop()
	for {
		changed := true
		select {
		case <-w.stop:
			return
		case e := <-l.events:
			if l.gone(e) {
				l.drop()
				timer.Reset(l.pause())
			}
		case <-l.errors: //nolint:errcheck // a queue that ran over is a change like another
		case <-timer.C:
			changed = l.look()
			timer.Reset(l.pause())
		}
		if changed {
			select {
			case w.wake <- struct{}{}:
			default:
			}
		}
	}
}

// lookout is what a Watch has of the directory that stands at its path.
type lookout struct {
	dir     string
	seen    os.FileInfo       // the directory that is watched; nil: none is there
	watcher *fsnotify.Watcher // nil: there is none to be had
	events  <-chan fsnotify.Event
	errors  <-chan error
}

// look holds the watch against the directory, and tells whether something may have changed that no watch told of.
func (l *lookout) look() bool {
	now, err := os.Stat(l.dir)
	if err != nil {
		was := l.seen
		l.drop()
		return was != nil
	}
	if l.watcher != nil && os.SameFile(l.seen, now) {
		return false
	}
	l.drop()
	l.seen = now
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return true
	}
	if err := watcher.Add(l.dir); err != nil {
		_ = watcher.Close()
		return true
	}
	l.watcher, l.events, l.errors = watcher, watcher.Events, watcher.Errors
	return true
}

// gone reports whether an event says that the directory itself is gone. One that is made in its place may get its number,
// and would be taken for it.
func (l *lookout) gone(e fsnotify.Event) bool {
	return filepath.Clean(e.Name) == filepath.Clean(l.dir) && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename))
}

func (l *lookout) drop() {
	if l.watcher != nil {
		_ = l.watcher.Close()
	}
	*l = lookout{dir: l.dir}
}

func (l *lookout) pause() time.Duration {
	if l.watcher == nil {
		return lookOften
	}
	return lookAgain
}
