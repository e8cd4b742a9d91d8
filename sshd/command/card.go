package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

func (c *call) cardVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use: "card REF", Short: "the facts after an interruption, and the next safe command",
		Long: "In the order of recovery: machine and process, repository, evidence, note,\n" +
			"check and its last result, and what to do next. What is not known in time says\n" +
			"so. Names and texts of others are shown with � in place of what could do harm.",
		Example: "card api --json", Args: exactly("a REF"),
		RunE: func(cmd *cobra.Command, words []string) error {
			card, err := c.Service.Card(cmd.Context(), c.Actor, words[0], nil)
			if err != nil {
				return err
			}
			if c.json {
				return c.document(viewCard(card))
			}
			return c.print(c.cardText(card))
		},
	}
	c.prints(cmd, "card")
	return cmd
}

func (c *call) cardText(card hitchpost.Card) []byte {
	p := &page{columns: c.columns()}
	s := card.Session
	p.section(fmt.Sprintf("%s (%s)", s.Handle, s.Kind))
	p.row("title", s.Title)
	state := string(s.State)
	if s.StateReason != "" {
		state += ": " + s.StateReason
	}
	p.row("state", fmt.Sprintf("%s (%s, %s)", state, or(string(s.StateSource)), c.age(s.StateSince)))
	if !card.Database.OK {
		p.row("database", "away, so that this is as last known: "+card.Database.Reason)
	}
	c.processText(p, card.Process)
	repoText(p, c, card)
	c.evidenceText(p, card)
	if s.Note != "" {
		p.section("note")
		p.quote(strings.Split(strings.TrimRight(hitchpost.ShownNote(s.Note), "\n"), "\n"))
	}
	c.checkText(p, card)
	c.adviceText(p, card.Advice)
	return p.out.Bytes()
}

func (c *call) processText(p *page, f hitchpost.CardProcess) {
	p.section("process")
	node := fmt.Sprintf("%s %s", f.Node.Name, f.Node.State)
	if f.Node.Reason != "" {
		node += ": " + f.Node.Reason
	}
	p.row("node", node)
	p.row("process", string(f.Alive)+": "+f.How)
	switch {
	case f.Unknown.Known():
		if len(f.Tree) > 0 {
			p.row("uses", fmt.Sprintf("%s CPU, %.0f %% of a core, %s", lasting(f.CPU), 100*f.Share, bytesOf(f.RSS)))
		}
		var lines []string
		for _, l := range f.Tree {
			lines = append(lines, strings.Repeat("  ", min(l.Depth, maxDepth))+liveLine(l))
		}
		if f.More > 0 {
			lines = append(lines, fmt.Sprintf("and %d more", f.More))
		}
		p.quote(lines)
	case f.Unknown.Why != hitchpost.NotAsked:
		p.row("tree", "not known: "+f.Unknown.String())
	}
	p.rows("left behind", othersLines(f.Left, f.LeftWhy, c))
	others := othersLines(f.Others, f.OthersWhy, c)
	if f.Hidden > 0 {
		others = append(others, fmt.Sprintf("perhaps more: of %d it is not known where they work", f.Hidden))
	}
	p.rows("in its tree", others)
}

// maxDepth is how far a process is set in from the first of its tree.
const maxDepth = 8

func liveLine(l hitchpost.LiveProcess) string {
	return fmt.Sprintf("%d %s (%s, %.0f %% CPU, %s)", l.Pid, commandOr(l.Command, l.Program), lasting(l.Runs), 100*l.Share,
		bytesOf(l.RSS))
}

func othersLines(list []hitchpost.OtherProcess, unknown hitchpost.Unknown, c *call) []string {
	if !unknown.Known() {
		return []string{"not known: " + unknown.String()}
	}
	if len(list) == 0 {
		return []string{"no other process"}
	}
	var lines []string
	for _, o := range list {
		var about []string
		if !o.Since.IsZero() {
			about = append(about, "begun "+c.age(o.Since)+" ago")
		}
		if o.Agent != "" {
			about = append(about, "agent "+o.Agent)
		}
		if o.Session != "" {
			about = append(about, "session "+o.Session)
		}
		if o.Account != "" {
			about = append(about, "account "+o.Account)
		}
		line := fmt.Sprintf("%d %s", o.Pid, commandOr(o.Command, o.Program))
		if len(about) > 0 {
			line += " (" + strings.Join(about, ", ") + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// commandOr is a command line, cut to a moderate length, or the program's name where there is none.
func commandOr(words []string, program string) string {
	if len(words) == 0 {
		return program
	}
	return fit(hitchpost.OneLine(quoted(words)), commandShown)
}

// commandShown is how much of another's command line is shown, in cells.
const commandShown = 100

func (c *call) checkText(p *page, card hitchpost.Card) {
	p.section("check")
	p.row("command", or(card.Session.Check))
	last := card.Check.Last
	switch {
	case !card.Check.Unknown.Known():
		p.row("result", "not known: "+card.Check.Unknown.String())
		return
	case last == nil:
		p.row("result", "it never ran")
		return
	}
	result := string(last.State)
	if last.Exit != nil {
		result += ", " + last.Exit.String()
	}
	p.row("result", fmt.Sprintf("%s, begun %s; task %s", result, c.when(last.StartedAt), last.TaskID))
	saw := last.Saw
	if saw == "" {
		saw = "commit " + last.Commit
		if last.Branch != "" {
			saw += " on " + last.Branch
		}
		if last.Dirty {
			saw += ", with changes"
		}
	}
	p.row("it saw", saw)
	p.row("now", strings.TrimPrefix(string(card.Check.Stale)+": "+card.Check.Why, ": "))
}

func (c *call) adviceText(p *page, a hitchpost.Advice) {
	p.section("next")
	switch r := a.Restart; {
	case r.Refused != "":
		p.row("restart", "would be refused: "+r.Refused)
	case len(r.Argv) > 0:
		p.row("restart", fmt.Sprintf("would run %s in %s", quoted(r.Argv), r.Dir))
	case r.Unknown.Why != hitchpost.NotAsked:
		p.row("restart", "not known: "+r.Unknown.String())
	}
	p.row(string(a.Do), a.Why)
	p.row("command", or(c.typed(a.Command)))
	if len(a.Then) > 0 {
		p.row("then", c.typed(a.Then))
	}
}

// typed is a command as people type it.
func (c *call) typed(words []string) string {
	if len(words) == 0 {
		return ""
	}
	program := c.Program
	if words[0] == "attach" {
		program = strings.Replace(program, "ssh ", "ssh -t ", 1)
	}
	return program + " " + quoted(words)
}

// lasting is a duration for people.
func lasting(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d < 48*time.Hour:
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

func bytesOf(n uint64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
