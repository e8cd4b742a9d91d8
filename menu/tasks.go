package menu

import (
	"context"
	"log/slog"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// tasks runs everything that may take time, outside of Update. Bubble Tea does not wait for the commands it has
// started; tasks does, so that nothing of a picker is left when Run returns.
type tasks struct {
	ctx        context.Context //nolint:containedctx // ends with the picker
	cancel     context.CancelFunc
	background func(func())
	log        *slog.Logger

	mu    sync.Mutex
	ended bool
	reads sync.WaitGroup
	acts  sync.WaitGroup // used where no background was given
}

func newTasks(ctx context.Context, background func(func()), log *slog.Logger) *tasks {
	t := &tasks{background: background, log: log}
	t.ctx, t.cancel = context.WithCancel(ctx)
	if background == nil {
		t.background = func(work func()) { t.acts.Go(work) }
	}
	return t
}

// begin counts one more read, unless the picker has ended.
func (t *tasks) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	t.reads.Add(1)
	return true
}

// read is a command that looks something up. It is cancelled after limit, where that is not 0, and when the picker ends.
func (t *tasks) read(limit time.Duration, f func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		if !t.begin() {
			return nil
		}
		defer t.reads.Done()
		ctx := t.ctx
		if limit > 0 {
			limited, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			ctx = limited
		}
		return t.guard(ctx, f)
	}
}

// after is a command that gives msg after d.
func (t *tasks) after(d time.Duration, msg tea.Msg) tea.Cmd {
	return t.read(0, func(ctx context.Context) tea.Msg {
		if !pause(ctx, d) {
			return nil
		}
		return msg
	})
}

// pause waits for d and reports whether ctx let it.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// act does what a person asked for, at once and whatever becomes of the picker: who confirms a stop and leaves in the
// same moment has still asked for it. That is why the work starts here and not in the command, which a program that
// ends may drop. The command only waits for the result.
func (t *tasks) act(limit time.Duration, f func(ctx context.Context) tea.Msg) tea.Cmd {
	result := make(chan tea.Msg, 1)
	ctx := context.WithoutCancel(t.ctx)
	t.background(func() {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		result <- t.guard(ctx, f)
	})
	return func() tea.Msg {
		select {
		case msg := <-result:
			return msg
		case <-t.ctx.Done():
			return nil
		}
	}
}

// end cancels the reads and waits for them, and for the acts that nobody else waits for.
func (t *tasks) end() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.cancel()
	t.reads.Wait()
	t.acts.Wait()
}

// crashed tells the model of a panic in a task.
type crashed struct{ err error }

// guard runs f and makes a panic in it a message to the model.
func (t *tasks) guard(ctx context.Context, f func(ctx context.Context) tea.Msg) (msg tea.Msg) {
	err := guarded(t.log, func() error {
		msg = f(ctx)
		return nil
	})
	if err != nil {
		return crashed{err}
	}
	return msg
}
