package runtime

import (
	"context"
	"strings"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/git"
)

// repository asks git.
func (g *cardGather) repository(ctx context.Context, found chan<- func(*cardGather)) {
	session := g.card.Session
	facts, err := ask(ctx, g.s.disk, func() (git.Facts, error) {
		ctx, cancel := context.WithTimeout(ctx, cardGit)
		defer cancel()
		return git.Look(ctx, session.Cwd, git.Question{Since: session.CreatedAt, Session: session.ID, Files: true}), nil
	})
	found <- func(g *cardGather) {
		if err != nil {
			g.card.Repo = hitchpost.CardRepo{Unknown: unknownBecause(err)}
			return
		}
		g.card.Repo = repoOf(facts)
	}
}

// repoOf is what git knows in the card's words.
func repoOf(f git.Facts) hitchpost.CardRepo {
	s := f.Status
	r := hitchpost.CardRepo{
		Unknown: asUnknown(f.Place), At: f.At, Name: f.Repo, Top: f.Top, Linked: f.Linked, Filters: f.Filters,
		StatusWhy: asUnknown(s.Unknown), Branch: s.Branch, Upstream: s.Upstream, UpstreamGone: s.UpstreamGone,
		Ahead: s.Ahead, Behind: s.Behind, Staged: asNames(s.Staged), Changed: asNames(s.Changed),
		Conflicted: asNames(s.Conflicted), Stashes: s.Stashes, Untracked: asNames(f.Untracked),
		Operation: string(f.Unfinished.Operation), Step: f.Unfinished.Step, Steps: f.Unfinished.Steps, Of: f.Unfinished.Branch,
		Head: hitchpost.Commit(f.Head), HeadWhy: asUnknown(f.HeadKnown), Since: asCommits(f.Since),
		Unpushed: asCommits(f.Unpushed), NoRemote: f.NoRemote, FromHead: asDiff(f.FromHead), FromCheckpoint: asDiff(f.FromBase),
		CheckpointWhy: asUnknown(f.LastKnown), Tree: f.Files, TreeWhy: asUnknown(f.FilesKnown),
	}
	if !r.Unknown.Known() {
		return hitchpost.CardRepo{Unknown: r.Unknown, At: r.At}
	}
	if last := f.Last; last != nil {
		kept := asCheckpoint(*last)
		r.Checkpoint = &kept
	}
	return r
}

// asUnknown keeps the words of package git, of which the root package has the ones that code goes by. A detail that only
// says the reason again is left out.
func asUnknown(u git.Unknown) hitchpost.Unknown {
	detail := strings.TrimPrefix(strings.TrimPrefix(u.Detail, string(u.Reason)), ": ")
	return hitchpost.Unknown{Why: string(u.Reason), Detail: detail}
}

func asNames(n git.Names) hitchpost.NameList {
	return hitchpost.NameList{Unknown: asUnknown(n.Unknown), Count: n.Count, AtLeast: n.AtLeast, First: n.First}
}

func asCommits(c git.Commits) hitchpost.CommitList {
	list := hitchpost.CommitList{Unknown: asUnknown(c.Unknown), Count: c.Count, AtLeast: c.AtLeast}
	for _, one := range c.First {
		list.First = append(list.First, hitchpost.Commit(one))
	}
	return list
}

func asDiff(d git.Diff) hitchpost.DiffStat {
	stat := hitchpost.DiffStat{Unknown: asUnknown(d.Unknown), Files: d.Files, Binary: d.Binary, Insertions: d.Insertions,
		Deletions: d.Deletions, AtLeast: d.AtLeast}
	for _, f := range d.First {
		stat.First = append(stat.First, hitchpost.FileStat(f))
	}
	return stat
}
