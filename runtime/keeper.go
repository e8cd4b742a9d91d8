package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/tmux"
)

const (
	// evidenceEvery is the least time between two savings of one session.
	evidenceEvery = 5 * time.Second
	// evidenceBatch is how many sessions one tmux call captures. tmux serves nobody else meanwhile, and takes about
	// 15 ms for each: more of them together would be felt by whoever types.
	evidenceBatch = 2
	// evidencePerRound bounds the work of a round; those that saved longest ago come first.
	evidencePerRound = 64
)

// evidenceLog is when the screen of each session was last saved. Its lock is held from a capture to the end of its
// writing, so that an older screen never replaces a newer one.
type evidenceLog struct {
	mu   sync.Mutex
	of   map[string]saving
	full bool // the last try found a full disk, and the log tells so
}

// saving is the last saving of one session's screen.
type saving struct {
	at     time.Time // of its capture; zero: there was none yet
	output time.Time // of the last output, as tmux tells it: whole seconds of a clock that may be set
	since  time.Time // when tmux first told of that output
}

// holds reports whether the last output that is known is in what was saved. What was printed in the second of the
// capture may have come after it. Where the clock was set back tmux tells of an output in the future, and nobody knows
// when its second is over; but it is within a second of the look that found it.
func (k saving) holds() bool {
	return !k.at.Before(k.since) && (k.at.Unix() > k.output.Unix() || k.at.Sub(k.since) >= time.Second)
}

// evidenceLoop keeps what live sessions show, while they show something new, for the day their process is lost.
func (s *Service) evidenceLoop(ctx context.Context) error {
	return every(ctx, evidenceEvery, func() {
		panes, err := s.Tmux.Panes(ctx)
		if err != nil {
			return // the reconciler tells of it
		}
		for batch := range slices.Chunk(s.kept.due(time.Now(), panes), evidenceBatch) {
			if fullDisk(s.keepEvidence(ctx, batch, whileRunning())) {
				return // the others would find no space either
			}
		}
	})
}

// due are the live panes that have printed since they were saved, and forgets those that are gone.
func (l *evidenceLog) due(now time.Time, panes []tmux.Pane) []tmux.Pane {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := make(map[string]saving, len(panes))
	var due []tmux.Pane
	for _, p := range panes {
		last, ok := l.of[p.Session]
		if !ok || !last.output.Equal(p.LastOutput) {
			last.output, last.since = p.LastOutput, now
		}
		of[p.Session] = last
		if !p.Dead && !last.holds() {
			due = append(due, p)
		}
	}
	l.of = of
	slices.SortFunc(due, func(a, b tmux.Pane) int { return of[a.Session].at.Compare(of[b.Session].at) })
	return due[:min(len(due), evidencePerRound)]
}

// captured notes that a screen was saved as it was at that time. The lock is held.
func (l *evidenceLog) captured(session string, at time.Time) {
	last := l.of[session]
	last.at = at
	l.of[session] = last
}

// whileRunning and atEnd are how much of the history is saved, over and over while a session prints and once when it has
// ended: styles cost tmux most of its time, so that while it prints only the newest rows have them.
func whileRunning() tmux.TailRows { return tmux.TailRows{All: evidenceLines, Styled: 500} }
func atEnd() tmux.TailRows        { return tmux.TailRows{All: evidenceLines, Styled: evidenceLines} }

// keepEvidence saves what the panes show. A failure is logged here; the error is for those who would otherwise let go of
// a pane that is not saved.
func (s *Service) keepEvidence(ctx context.Context, panes []tmux.Pane, rows tmux.TailRows) error {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	var ids []string
	for _, p := range panes {
		ids = append(ids, p.Session)
	}
	now := time.Now()
	tails, err := s.Tmux.Tails(ctx, ids, rows)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, tmux.ErrNoSession) {
		return nil // one ended just now; the next round has the others
	}
	if err != nil {
		s.Log.Warn("last screens not kept", "err", err)
		return err
	}
	for _, p := range panes {
		tail := tails[p.Session]
		err = writeEvidence(s.folder.evidence(p.Session), evidence{At: now, Run: p.Run, All: tail.All, Screen: tail.Screen})
		if full := fullDisk(err); full != s.kept.full {
			s.kept.full = full
			s.Log.Warn("disk of the last screens", "full", full)
		}
		if fullDisk(err) {
			return err
		}
		if err != nil {
			s.Log.Warn("last screen not kept", "session", p.Session, "err", err)
			continue
		}
		s.kept.captured(p.Session, now)
	}
	return nil
}

// setAside makes what was kept of the run that is over the evidence of the run before.
func (s *Service) setAside(id string) error {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	err := os.Rename(s.folder.evidence(id), s.folder.before(id))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// before is what a restarted session showed before its restart, as lines for the replay, marked as such; nil where
// there is nothing, or no replay is wanted.
func (s *Service) before(session hitchpost.Session, lines int) []byte {
	if session.Restarts == 0 || lines <= 0 {
		return nil
	}
	e, err := readEvidence(s.folder.before(session.ID))
	if err != nil || len(e.All) == 0 {
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			s.Log.Warn("screen before the restart not read", "session", session.ID, "err", err)
		}
		return nil
	}
	text := bytes.Clone(lastLines(e.All, lines))
	return fmt.Appendf(text, "\x1b[m-- above: before the restart, as seen at %s --\n", e.At.UTC().Format("2006-01-02 15:04:05Z"))
}
