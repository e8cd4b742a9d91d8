package runtime

import (
	"context"
	"sync"

	"github.com/hitchpost/hitchpost"
)

// views knows every open view of this service's sessions.
type views struct {
	mu        sync.Mutex
	bySession map[string]map[*View]bool
}

func newViews() *views { return &views{bySession: map[string]map[*View]bool{}} }

func (v *views) add(view *View) {
	v.mu.Lock()
	defer v.mu.Unlock()
	id := view.first.ID
	if v.bySession[id] == nil {
		v.bySession[id] = map[*View]bool{}
	}
	v.bySession[id][view] = true
}

func (v *views) remove(view *View) {
	v.mu.Lock()
	defer v.mu.Unlock()
	id := view.first.ID
	delete(v.bySession[id], view)
	if len(v.bySession[id]) == 0 {
		delete(v.bySession, id)
	}
}

// of returns the views of one session, or of all for the empty id.
func (v *views) of(id string) []*View {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []*View
	for sid, set := range v.bySession {
		if id != "" && sid != id {
			continue
		}
		for view := range set {
			out = append(out, view)
		}
	}
	return out
}

func (v *views) count(id string) int { return len(v.of(id)) }

// drain lets every view of a run that has ended take in its last output and end, until ctx ends.
func (v *views) drain(ctx context.Context, id string, run int) {
	var wg sync.WaitGroup
	for _, view := range v.of(id) {
		if view.first.Restarts == run {
			wg.Go(func() { view.finish(ctx) })
		}
	}
	wg.Wait()
}

// closeAll ends every view for the same reason.
func (v *views) closeAll(reason hitchpost.EndReason, message string) {
	var wg sync.WaitGroup
	for _, view := range v.of("") {
		wg.Go(func() { view.Close(reason, message) })
	}
	wg.Wait()
}
