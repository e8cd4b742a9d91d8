package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// writers are people and scripts who change sessions, all at the same time and without pause, and what they were
// promised: whatever a command that answered 0 has done must be there for ever.
type writers struct {
	*stack
	mu       sync.Mutex
	promised map[string]*promise // by session id

	stop context.CancelFunc
	work sync.WaitGroup
}

// promise is what is known of a session from the commands that answered 0.
type promise struct {
	title, note string
	open        map[string]bool // titles and notes that were asked for without an answer: they may have come true, or not
	lives       bool            // its program ends by nothing but a kill
	restarts    int             // at least so many
	since       time.Time       // its program has printed since then; zero where it is not known to run
}

// printer prints numbered lines without end; brief ends by itself soon.
const (
	printer = `i=0; while :; do i=$((i+1)); echo "tick $i"; sleep 0.3; done`
	brief   = `echo begun; sleep 1.3; exit 3`
)

func newWriters(s *stack) *writers { return &writers{stack: s, promised: map[string]*promise{}} }

// begin sets them to work until halt.
func (w *writers) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	w.stop = cancel
	for _, act := range []func(context.Context){w.makes, w.makes, w.ends, w.changes, w.attaches, w.restarts} {
		w.work.Go(func() {
			for ctx.Err() == nil {
				act(ctx)
			}
		})
	}
}

// madeOne waits until they have made one more session.
func (w *writers) madeOne() {
	w.t.Helper()
	count := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.promised)
	}
	before := count()
	w.eventually("a session is made", func() bool { return count() > before })
}

// halt waits for them. Commands that wait for an answer have lost their connection by now, or get it.
func (w *writers) halt() {
	w.t.Helper()
	w.stop()
	w.work.Wait()
}

// try runs one command; false where it was not carried out for sure.
func (w *writers) try(ctx context.Context, args ...string) (string, bool) {
	cmd := exec.CommandContext(ctx, "ssh", w.sshArgs(args...)...)
	var out bytes.Buffer
	cmd.Env, cmd.Stdout = w.env, &out
	err := cmd.Run()
	return out.String(), err == nil
}

func (w *writers) makes(ctx context.Context) { w.make(ctx, true, printer) }
func (w *writers) ends(ctx context.Context)  { w.make(ctx, false, brief) }

func (w *writers) make(ctx context.Context, lives bool, script string) {
	title := fmt.Sprintf("made %d", rand.Int64())
	out, ok := w.try(ctx, "new", "--json", "--title", title, "--cwd", w.dir, "--env", "KEPT=yes", "--", "sh", "-c", script)
	var made seen
	if !ok || json.Unmarshal([]byte(out), &made) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.promised[made.ID] = &promise{title: title, open: map[string]bool{}, lives: lives, since: time.Now()}
}

// pick is one of the sessions that ok accepts, with what is asked of it noted under the lock; "" where there is none.
func (w *writers) pick(ok func(*promise) bool) (string, *promise) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ids []string
	for id, p := range w.promised {
		if ok(p) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return "", nil
	}
	slices.Sort(ids)
	id := ids[rand.IntN(len(ids))]
	return id, w.promised[id]
}

// changes gives one of the sessions another title, or another note.
func (w *writers) changes(ctx context.Context) {
	defer idle(ctx)
	id, p := w.pick(func(*promise) bool { return true })
	if id == "" {
		return
	}
	value, words, of := fmt.Sprintf("changed %d", rand.Int64()), []string{"rename", id}, &p.title
	if rand.IntN(2) == 0 {
		words, of = []string{"note", id, "--set"}, &p.note
	}
	w.mu.Lock()
	p.open[value] = true
	w.mu.Unlock()
	if _, ok := w.try(ctx, append(words, value)...); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		*of = value
	}
}

// attaches looks at a living session for a moment, and leaves without a word.
func (w *writers) attaches(ctx context.Context) {
	defer idle(ctx)
	id, _ := w.pick(func(p *promise) bool { return !p.since.IsZero() })
	if id == "" {
		return
	}
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	cmd := exec.CommandContext(short, "ssh", w.sshArgs("-tt", "attach", id)...)
	cmd.Env, cmd.Stdout = w.env, io.Discard
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Run()
		_ = in.Close()
	}
	if err != nil && !errors.As(err, new(*exec.ExitError)) && ctx.Err() == nil && short.Err() == nil {
		w.t.Errorf("attach: %v", err)
	}
}

// restarts brings back one of the sessions that are not known to run.
func (w *writers) restarts(ctx context.Context) {
	id, p := w.pick(func(p *promise) bool { return p.lives && p.since.IsZero() })
	if id == "" {
		idle(ctx)
		return
	}
	if _, ok := w.try(ctx, "restart", id); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		p.since = time.Now()
		p.restarts++
	}
}

// idle leaves a moment to the others.
func idle(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(50 * time.Millisecond):
	}
}

// found is a session as it was found again.
type found struct {
	seen
	Note *string `json:"note"`
}

// find looks for all that was promised, and fails where a session, a title or a note is not there, or a handle is
// there twice. It returns the sessions by id.
func (w *writers) find() map[string]found {
	w.t.Helper()
	var all struct{ Sessions []found }
	must(w.t, json.Unmarshal([]byte(w.ok("ls", "--json", "--all")), &all))
	byID, handles := map[string]found{}, map[string]string{}
	for _, s := range all.Sessions {
		if other, twice := handles[s.Handle]; twice {
			w.t.Errorf("%s and %s are both called %s", other, s.ID, s.Handle)
		}
		handles[s.Handle], byID[s.ID] = s.ID, s
	}
	for id, p := range w.promised {
		s, ok := byID[id]
		note := ""
		if s.Note != nil {
			note = *s.Note
		}
		if !ok || s.Cwd != w.dir || s.Title != p.title && !p.open[s.Title] || note != p.note && !p.open[note] || s.Restarts < p.restarts {
			w.t.Errorf("found %+v (note %q), promised %+v", s, note, p)
		}
		p.title, p.note, p.restarts, p.open = s.Title, note, s.Restarts, map[string]bool{} // what is found is there to stay
	}
	return byID
}
