package menu

import (
	"log/slog"
	"runtime/debug"

	tea "charm.land/bubbletea/v2"

	"github.com/hitchpost/hitchpost"
)

// guarded runs f, and turns a panic in it into an error: one person's fault must not end the process, and with it
// everybody else's session. The log gets the panic, the person the error.
func guarded(log *slog.Logger, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			log.Error("panic in the picker", "err", r, "stack", string(debug.Stack()))
			err = hitchpost.Errorf(hitchpost.FailedError, wordCrash).Hinted(wordCrashHint)
		}
	}()
	return f()
}

// guardedModel is the model with a panic in it kept from Bubble Tea, which would print it on the process's own stderr.
// The program then ends with crash.
type guardedModel struct {
	tea.Model
	log   *slog.Logger
	crash func(error) // cancels the program; may be called more than once
}

func (g guardedModel) Init() (cmd tea.Cmd) {
	g.guard(func() { cmd = g.Model.Init() })
	return cmd
}

func (g guardedModel) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	g.guard(func() { _, cmd = g.Model.Update(msg) })
	return g, cmd
}

func (g guardedModel) View() (v tea.View) {
	g.guard(func() { v = g.Model.View() })
	return v
}

func (g guardedModel) guard(f func()) {
	if err := guarded(g.log, func() error { f(); return nil }); err != nil {
		g.crash(err)
	}
}
