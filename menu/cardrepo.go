package menu

import (
	"fmt"
	"strings"
	"time"

	"github.com/hitchpost/hitchpost"
)

// repoLines is what git knows of the session's directory.
func (m *model) repoLines(c *hitchpost.Card) []pageLine {
	l := m.lines()
	r := c.Repo
	if !m.card.known || !r.Unknown.Known() {
		why := r.Unknown
		if !m.card.known {
			why = hitchpost.Unknown{Why: hitchpost.NotYet}
		}
		l.show("%s", c.Session.Cwd)
		l.faint("%s", why)
		return l.list
	}
	where := r.Name
	if r.Branch != "" {
		where += "@" + r.Branch
	} else if r.StatusWhy.Known() {
		where += ", on no branch"
	}
	if r.Linked {
		where += ", a worktree"
	}
	l.say("%s", where)
	l.unknown("its state", r.StatusWhy)
	if r.Upstream != "" {
		l.say("%d ahead of, %d behind %s", r.Ahead, r.Behind, r.Upstream)
	}
	if r.UpstreamGone {
		l.say("its upstream is gone")
	}
	if r.Operation != "" {
		l.warn("%s", unfinished(r))
	}
	l.files(r)
	l.commits(r)
	l.checkpoint(r, m.now)
	return l.list
}

func unfinished(r hitchpost.CardRepo) string {
	words := "unfinished " + r.Operation
	if r.Steps > 0 {
		words += fmt.Sprintf(", step %d of %d", r.Step, r.Steps)
	}
	if r.Of != "" {
		words += ", of " + r.Of
	}
	return words
}

// files tells of what no commit has.
func (l *lines) files(r hitchpost.CardRepo) {
	for _, f := range []struct {
		what string
		list hitchpost.NameList
		ink  ink
	}{
		{"conflict", r.Conflicted, l.theme.problem}, {"staged", r.Staged, ""}, {"changed", r.Changed, ""},
		{"untracked", r.Untracked, ""},
	} {
		l.unknown(f.what, f.list.Unknown)
		if f.list.Count == 0 {
			continue
		}
		names := f.list.First[:min(len(f.list.First), cardList)]
		text := fmt.Sprintf("%d %s: %s", f.list.Count, f.what, strings.Join(names, " "))
		if f.list.AtLeast || f.list.Count > len(names) {
			text += " " + ellipsis
		}
		l.add(f.ink, cardWrap, "%s", []any{text})
	}
	if r.StatusWhy.Known() && r.Untracked.Unknown.Known() && !r.Dirty() {
		l.say("nothing uncommitted")
	}
	if r.Stashes > 0 {
		l.say("%d stashed", r.Stashes)
	}
	l.stat("against its commit", r.FromHead)
}

// stat tells how much differs, where something does.
func (l *lines) stat(what string, d hitchpost.DiffStat) {
	if !d.Unknown.Known() {
		l.unknown(what, d.Unknown)
		return
	}
	if d.Files > 0 {
		l.say("%s: %s, +%d -%d", what, plural(d.Files, "file"), d.Insertions, d.Deletions)
	}
}

func (l *lines) commits(r hitchpost.CardRepo) {
	l.unknown("its commit", r.HeadWhy)
	if r.Head.Hash != "" {
		l.say("at %.10s %s", r.Head.Hash, r.Head.Subject)
	}
	l.unknown("commits since it began", r.Since.Unknown)
	if r.Since.Count > 0 {
		l.say("%s since it began", some(r.Since))
		for _, c := range r.Since.First[:min(len(r.Since.First), cardList)] {
			l.show(" %.10s %s", c.Hash, c.Subject)
		}
	}
	switch {
	case r.NoRemote:
		l.faint("it has no remote")
	case r.Unpushed.Count > 0:
		l.warn("%s on no remote", some(r.Unpushed))
	}
}

func some(c hitchpost.CommitList) string {
	if c.AtLeast {
		return fmt.Sprintf("%d commits and more", c.Count)
	}
	return plural(c.Count, "commit")
}

func (l *lines) checkpoint(r hitchpost.CardRepo, now time.Time) {
	l.unknown("its last checkpoint", r.CheckpointWhy)
	if p := r.Checkpoint; p != nil {
		words := fmt.Sprintf("checkpoint %d, %s", p.N, age(p.At, now))
		if p.Message != "" {
			words += ": " + p.Message
		}
		l.say("%s", words)
		l.stat("against that", r.FromCheckpoint)
	}
}
