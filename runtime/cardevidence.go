package runtime

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/task"
)

const (
	// cardLines is how many lines of a screen a card has, and cardLog of each task's log.
	cardLines, cardLog = 20, 5
	// cardEvents and cardTasks are how many of the newest a card has.
	cardEvents, cardTasks = 10, 5
	// cardLine bounds a line, in bytes: a task may write megabytes without an end of line.
	cardLine = 1 << 10
)

// screen takes the last that the session showed.
func (g *cardGather) screen(ctx context.Context, found chan<- func(*cardGather)) {
	ctx, cancel := context.WithTimeout(ctx, cardStore)
	defer cancel()
	got, err := g.s.Capture(ctx, g.actor, g.card.Session.ID, hitchpost.CaptureRequest{Lines: 2 * cardLines})
	found <- func(g *cardGather) {
		e := &g.card.Evidence
		e.ScreenWhy, e.Screen, e.ScreenAt = unknownBecause(err), lastShown(got.Text, cardLines), got.At
	}
}

// lastShown are the last lines of a text, at most n, without the blank ones at their end and runs of them between.
func lastShown(text []byte, n int) []string {
	var lines []string
	blank := false
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line[:min(len(line), cardLine)], " \t\r\n")
		if len(line) == 0 {
			blank = len(lines) > 0
			continue
		}
		if blank {
			lines, blank = append(lines, ""), false
		}
		lines = append(lines, strings.ToValidUTF8(string(line), "\uFFFD"))
	}
	return slices.Clone(lines[max(0, len(lines)-n):])
}

func (g *cardGather) events(ctx context.Context, found chan<- func(*cardGather)) {
	ctx, cancel := context.WithTimeout(ctx, cardStore)
	defer cancel()
	var list []hitchpost.Event
	q := hitchpost.EventQuery{Ref: g.card.Session.ID, Count: cardEvents}
	err := g.s.Events(ctx, g.actor, q, func(page []hitchpost.Event) error {
		list = append(list, page...)
		return nil
	})
	found <- func(g *cardGather) { g.card.Evidence.Events, g.card.Evidence.EventsWhy = list, unknownBecause(err) }
}

// tasks finds the newest tasks of the session and the ends of what they wrote.
func (g *cardGather) tasks(ctx context.Context, found chan<- func(*cardGather)) {
	ctx, cancel := context.WithTimeout(ctx, cardStore)
	defer cancel()
	all, err := g.s.Tasks(ctx, g.actor, hitchpost.TaskListRequest{Session: g.card.Session.ID})
	older := max(0, len(all)-cardTasks)
	list := make([]hitchpost.CardTask, 0, cardTasks)
	for _, t := range all[older:] {
		one := hitchpost.CardTask{Task: t}
		text, err := g.s.taskTail(ctx, t)
		one.Log, one.LogWhy = lastShown(text, cardLog), unknownBecause(err)
		list = append(list, one)
	}
	found <- func(g *cardGather) {
		e := &g.card.Evidence
		e.Tasks, e.TasksMore, e.TasksWhy = list, older, unknownBecause(err)
	}
}

// taskTail is the end of what a task wrote.
func (s *Service) taskTail(ctx context.Context, t hitchpost.Task) ([]byte, error) {
	if err := s.taskHere(t); err != nil {
		return nil, err
	}
	return ask(ctx, s.disk, func() ([]byte, error) {
		log, err := task.OpenLog(s.folder.task(t.ID))
		if err != nil {
			return nil, err
		}
		end := &lastWritten{ctx: ctx}
		if err = log.Tail(2 * cardLog); err == nil {
			_, err = log.WriteTo(end)
		}
		return end.text, errors.Join(err, log.Close())
	})
}

// lastWritten keeps the end of what is written to it while ctx lasts: the last lines of a log may be all of it.
type lastWritten struct {
	ctx  context.Context //nolint:containedctx // it is one call long
	text []byte
}

func (l *lastWritten) Write(p []byte) (int, error) {
	const keep = 2 * cardLog * cardLine
	l.text = append(l.text, p[max(0, len(p)-keep):]...)
	l.text = l.text[max(0, len(l.text)-keep):]
	return len(p), l.ctx.Err()
}
