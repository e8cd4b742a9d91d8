package command

import (
	"fmt"
	"strings"

	"github.com/hitchpost/hitchpost"
)

// repoText is what git knows, without what there is nothing of.
func repoText(p *page, c *call, card hitchpost.Card) {
	r := card.Repo
	p.section("repository")
	if !r.Unknown.Known() {
		p.row("git", r.Unknown.String())
		return
	}
	where := r.Top
	if r.Linked {
		where += " (a worktree)"
	}
	p.row("top", where)
	if r.StatusWhy.Known() {
		p.row("branch", branchText(r))
	} else {
		p.row("status", "not known: "+r.StatusWhy.String())
	}
	if r.Operation != "" {
		text := "in the middle of a " + r.Operation
		if r.Of != "" {
			text += " of " + r.Of
		}
		if r.Steps > 0 {
			text += fmt.Sprintf(", step %d of %d", r.Step, r.Steps)
		}
		p.row("unfinished", text)
	}
	namesText(p, "conflicts", r.Conflicted)
	namesText(p, "staged", r.Staged)
	namesText(p, "changed", r.Changed)
	namesText(p, "untracked", r.Untracked)
	if r.StatusWhy.Known() && r.Untracked.Unknown.Known() && !r.Dirty() {
		p.row("files", "clean")
	}
	if r.Stashes > 0 {
		p.row("stashes", fmt.Sprint(r.Stashes))
	}
	switch {
	case !r.HeadWhy.Known():
		p.row("head", "not known: "+r.HeadWhy.String())
	case r.Head.Hash == "":
		p.row("head", "no commit yet")
	default:
		p.row("head", commitText(r.Head)+" ("+c.age(r.Head.At)+" ago)")
	}
	commitsText(p, "since start", r.Since)
	if r.NoRemote {
		p.row("unpushed", "there is no remote")
	} else {
		commitsText(p, "unpushed", r.Unpushed)
	}
	p.row("diff", diffText(r.FromHead))
	checkpointText(p, c, r)
}

func branchText(r hitchpost.CardRepo) string {
	text := r.Branch
	if text == "" {
		text = "none: HEAD is a commit"
	}
	switch {
	case r.Upstream == "":
	case r.UpstreamGone:
		text += fmt.Sprintf(", follows %s, which is gone", r.Upstream)
	default:
		text += fmt.Sprintf(", %d ahead and %d behind %s", r.Ahead, r.Behind, r.Upstream)
	}
	return text
}

// namesShown and commitsShown are how many of a list are shown to people.
const namesShown, commitsShown = 8, 5

func namesText(p *page, label string, n hitchpost.NameList) {
	switch {
	case !n.Unknown.Known():
		p.row(label, "not known: "+n.Unknown.String())
	case n.Count > 0:
		first := n.First[:min(len(n.First), namesShown)]
		text := fmt.Sprintf("%s: %s", countText(n.Count, n.AtLeast), strings.Join(each(first, nameText), ", "))
		if n.Count > len(first) {
			text += ", …"
		}
		p.row(label, text)
	}
}

// nameText is a file's name, quoted where it could be taken for several or does harm.
func nameText(name string) string {
	if name != hitchpost.OneLine(name) || strings.ContainsAny(name, ", \"\ufffd") {
		return fmt.Sprintf("%q", name)
	}
	return name
}

func countText(n int, atLeast bool) string {
	if atLeast {
		return fmt.Sprintf("at least %d", n)
	}
	return fmt.Sprint(n)
}

func commitsText(p *page, label string, list hitchpost.CommitList) {
	if !list.Unknown.Known() {
		p.row(label, "not known: "+list.Unknown.String())
		return
	}
	lines := []string{"commits: " + countText(list.Count, list.AtLeast)}
	for _, one := range list.First[:min(len(list.First), commitsShown)] {
		lines = append(lines, commitText(one))
	}
	p.rows(label, lines)
}

func commitText(c hitchpost.Commit) string { return fmt.Sprintf("%.10s %s", c.Hash, c.Subject) }

func diffText(d hitchpost.DiffStat) string {
	switch {
	case !d.Unknown.Known():
		return "not known: " + d.Unknown.String()
	case d.Files == 0:
		return "none"
	}
	text := fmt.Sprintf("files: %s, +%d -%d", countText(d.Files, d.AtLeast), d.Insertions, d.Deletions)
	if d.Binary > 0 {
		text += fmt.Sprintf(", %d not text", d.Binary)
	}
	return text
}

func checkpointText(p *page, c *call, r hitchpost.CardRepo) {
	switch k := r.Checkpoint; {
	case !r.CheckpointWhy.Known():
		p.row("checkpoint", "not known: "+r.CheckpointWhy.String())
	case k == nil:
		p.row("checkpoint", "none")
	default:
		p.row("checkpoint", fmt.Sprintf("%d, %s ago: %s", k.N, c.age(k.At), k.Message))
		if k.LeftOut > 0 {
			p.row("", fmt.Sprintf("files left out of it: %d", k.LeftOut))
		}
		p.row("since it", diffText(r.FromCheckpoint))
	}
}

func (c *call) evidenceText(p *page, card hitchpost.Card) {
	e := card.Evidence
	p.section("evidence")
	switch {
	case !e.ScreenWhy.Known():
		p.row("screen", "not known: "+e.ScreenWhy.String())
	case e.ScreenAt.IsZero():
		p.row("screen", "now")
	default:
		p.row("screen", "as it last was, "+c.when(e.ScreenAt))
	}
	p.quote(e.Screen)
	if a := card.Session.Agent; a != nil {
		p.row("agent", c.agentStatus(card.Session))
		p.row("last prompt", or(a.LastPrompt))
		p.row("last answer", or(a.LastAnswer))
		if counted(a) {
			p.row("tokens", fmt.Sprintf("%d in, %d out, %d in use", a.TokensIn, a.TokensOut, a.ContextTokens))
		}
	}
	if !e.EventsWhy.Known() {
		p.row("events", "not known: "+e.EventsWhy.String())
	}
	var lines []string
	for _, event := range e.Events {
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("%s ago, %s: %s", c.age(event.At), event.Kind, event.Reason), ": "))
	}
	p.rows("events", lines)
	if !e.TasksWhy.Known() {
		p.row("tasks", "not known: "+e.TasksWhy.String())
	}
	for _, t := range e.Tasks {
		c.cardTaskText(p, t)
	}
	if e.TasksMore > 0 {
		p.row("", fmt.Sprintf("older: %d", e.TasksMore))
	}
}

func (c *call) cardTaskText(p *page, t hitchpost.CardTask) {
	p.row("task", fmt.Sprintf("%s %s, exit %s, %s ago: %s", t.Task.ID, t.Task.State, taskExit(t.Task), c.age(t.Task.StartedAt),
		t.Task.Called()))
	if !t.LogWhy.Known() {
		p.row("", "its log is not known: "+t.LogWhy.String())
	}
	p.quote(t.Log)
}
