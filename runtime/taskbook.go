package runtime

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"

	"github.com/hitchpost/hitchpost/runtime/task"
)

func (f folder) tasks() string         { return filepath.Join(f.root, "tasks") }
func (f folder) task(id string) string { return filepath.Join(f.tasks(), id) }

// taskBook is what the service knows of tasks beside the store and their folders: which it is starting just now, and
// when somebody who waits for an end should look again.
type taskBook struct {
	ended *bell // a task may have ended

	mu       sync.Mutex
	starting map[string]bool   // by id
	scanned  bool              // the folders were held against the store
	watcher  *fsnotify.Watcher // nil where Run is not at work
}

func newTaskBook() *taskBook {
	return &taskBook{ended: newBell(), starting: map[string]bool{}}
}

// begin notes that a task is being started, until the returned function is called.
func (b *taskBook) begin(id string) (begun func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.starting[id] = true
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.starting, id)
	}
}

func (b *taskBook) begins(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.starting[id]
}

// scan reports whether the folders must still be held against the store.
func (b *taskBook) scan() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.scanned
}

func (b *taskBook) scanDone() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.scanned = true
}

// watch has the end of the task in a folder seen at once. Where the system has no more watches to give, the end is seen
// when tmux tells of it, or at the next pass.
func (b *taskBook) watch(folder string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watcher == nil {
		return nil // Run is over, or begins by watching all
	}
	return b.watcher.Add(folder)
}

// unwatch ends a watch, if there is one. One of a folder that was removed ends by itself.
func (b *taskBook) unwatch(folder string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watcher != nil {
		_ = b.watcher.Remove(folder) // not watched, or gone
	}
}

func (b *taskBook) setWatcher(w *fsnotify.Watcher) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watcher = w
}

// watchTasks wakes the reconciler, and those who wait, when the record of a task's end has arrived.
func (s *Service) watchTasks(ctx context.Context) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch tasks: %w", err)
	}
	s.tasks.setWatcher(w)
	defer func() {
		s.tasks.setWatcher(nil)
		_ = w.Close() // nothing is lost by it
	}()
	s.Wake() // the pass watches every running task
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-w.Events:
			if e.Has(fsnotify.Create) && filepath.Base(e.Name) == task.RecordName {
				s.tasks.ended.ring()
				s.Wake()
			}
		case err := <-w.Errors:
			s.Log.Warn("watch of tasks", "err", err)
			s.tasks.ended.ring()
			s.Wake()
		}
	}
}
