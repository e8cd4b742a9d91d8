package command

import (
	"fmt"
	"strings"
	"time"

	shellquote "github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hitchpost/hitchpost"
)

// watch is how long a new process is stayed with, so that one that ends at once is told of.
const watch = time.Second

func (c *call) newVerb() *cobra.Command {
	var r hitchpost.StartRequest
	var kind string
	var attach bool
	cmd := &cobra.Command{
		Use: "new [-- ARG…]", Short: "start a session; prints its id and handle",
		Long: "Without words it is a login shell, with words it runs them: no shell reads\n" +
			"them again. A program that ends within a second is told of.\n" +
			"With --kind claude it is Claude Code, and the words are flags of it and the\n" +
			"first prompt, as in: new --kind claude -- --model opus 'fix the tests'\n" +
			"With --preset it is another agent: aider, codex, gemini, opencode or one\n" +
			"that was added, and the words are that one's.\n" +
			"Of agents one works in a tree at a time: another is refused, unless --force\n" +
			"starts it all the same or --worktree gives it a tree of its own.",
		Example: "new --title api --cwd src/api -- make watch", Args: behindDashes,
		RunE: func(cmd *cobra.Command, words []string) error {
			r.Kind, r.Args = hitchpost.Kind(kind), words
			if err := checkNew(r); err != nil {
				return err
			}
			if attach {
				if err := c.needsTerminal("new --attach"); err != nil {
					return err
				}
			} else {
				r.Watch = watch
			}
			note, err := c.orInput(r.Note, "note", hitchpost.MaxNote)
			if err != nil {
				return err
			}
			r.Note = note
			r.Size = c.size()
			result, err := c.Service.Start(cmd.Context(), c.Actor, r)
			if err != nil {
				return err
			}
			if attach {
				return c.attach(cmd, hitchpost.AttachRequest{Ref: result.Session.ID})
			}
			return c.started(result)
		},
	}
	c.prints(cmd, "session")
	newFlags(cmd.Flags(), &r)
	cmd.Flags().StringVar(&kind, "kind", "", "`KIND`: claude, shell or command; shell or command if not given")
	cmd.Flags().BoolVar(&attach, "attach", false, "attach to it; needs a terminal")
	return cmd
}

// newFlags are the flags that a request is made of.
func newFlags(f *pflag.FlagSet, r *hitchpost.StartRequest) {
	f.StringVar(&r.Title, "title", "", "title `T`; the handle is made from it")
	f.StringVar(&r.Cwd, "cwd", "", "directory `DIR`, which exists; seen from the home if relative")
	f.StringVar(&r.Project, "project", "", "project `P`")
	f.StringVar(&r.Node, "node", "", "machine `N`")
	f.StringVar(&r.Preset, "preset", "", "agent `NAME` that is known; its words and restart command")
	f.StringVar(&r.Note, "note", "", "handoff `TEXT`, or - to read it from stdin")
	f.StringVar(&r.Check, "check", "", "command `CMD` that checks the work")
	f.StringVar(&r.RestartCommand, "restart-command", "", "command `CMD` that a restart runs instead")
	f.StringArrayVar(&r.Env, "env", nil, "environment variable `K=V`, may be given again")
	f.Var(worktreeFlag{r}, "worktree", "in a worktree of its own, on `BRANCH` or a new one; see `worktree`")
	f.Lookup("worktree").NoOptDefVal = anyBranch
	f.BoolVar(&r.Force, "force", false, "an agent also beside another that works in the same tree")
	f.BoolVar(&r.IfAbsent, "if-absent", false, "not where an open session has that title's handle: print that one")
}

// checkNew refuses what could not mean anything.
func checkNew(r hitchpost.StartRequest) error {
	for _, v := range r.Env {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" {
			return usage("%q is no environment variable", v).Hinted("give --env NAME=VALUE")
		}
	}
	if r.IfAbsent && r.Title == "" {
		return usage("--if-absent needs a title to look for").Hinted("give one with --title")
	}
	return nil
}

// size is the size of the client's terminal, the zero value without one.
func (c *call) size() hitchpost.Size {
	if c.Terminal == nil {
		return hitchpost.Size{}
	}
	return c.Terminal.Size
}

// started prints a session whose process is up, or tells of one that ended at once. Ending well is no error.
func (c *call) started(r hitchpost.StartResult) error {
	if r.Early != nil && !r.Early.Well() {
		return early(r)
	}
	if r.Early != nil {
		c.endedWell(r)
	}
	return c.session(r.Session, table([][]string{{r.Session.ID, r.Session.Handle}}, 0))
}

// early is the error for a process that ended badly at once.
func early(r hitchpost.StartResult) error {
	return hitchpost.Errorf(hitchpost.FailedError, "%s", endedAtOnce(r)).
		Hinted("see it with `show %[1]s`; `restart %[1]s` or `close %[1]s`", r.Session.Handle)
}

func endedAtOnce(r hitchpost.StartResult) string {
	text := fmt.Sprintf("%s ended at once: %s", r.Session.Handle, r.Early)
	var lines []string
	for _, line := range r.FirstLines {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > 0 {
		text += " (" + strings.Join(lines, " / ") + ")"
	}
	return text
}

func quoted(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return shellquote.Join(words...)
}
