package command

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

// WorktreeService is what the verbs of worktrees drive.
type WorktreeService interface {
	// Worktrees lists those that are there.
	Worktrees(context.Context, hitchpost.Actor) ([]hitchpost.Worktree, error)
	RemoveWorktree(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.RemovedWorktree, error)
}

func (c *call) worktreeVerb() *cobra.Command {
	cmd := c.parent("worktree", "what `new --worktree` has made", c.worktreeLsVerb(), c.worktreeRmVerb())
	cmd.Long = "A worktree outlives its session, also one that is closed, which goes by its\n" +
		"id then. It stays until somebody removes it."
	cmd.Example = "worktree ls"
	return cmd
}

func (c *call) worktreeLsVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls", Short: "those that are there, and of which session", Example: "worktree ls --json", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := c.Service.Worktrees(cmd.Context(), c.Actor)
			if err != nil {
				return err
			}
			if c.json {
				return c.document(worktreeList{1, each(list, viewWorktree)})
			}
			rows := [][]string{{"ID", "HANDLE", "STATE", "CLOSED", "BRANCH", "PATH"}}
			for _, w := range list {
				s := w.Session
				rows = append(rows, []string{s.ID, s.Handle, string(s.State), c.age(s.ClosedAt), or(w.Branch), w.Path})
			}
			return c.print(table(rows, c.columns()))
		},
	}
	c.prints(cmd, "worktree-list")
	return cmd
}

func (c *call) worktreeRmVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use: "rm REF", Short: "remove that of an ended session; its branch stays", Example: "worktree rm api",
		Long: "It is refused while anything is uncommitted, untracked, stashed, unfinished or\n" +
			"on no remote and no other branch, and while something works there; with --json\n" +
			"the error lists what is in the way. Ignored files go with it.",
		Args: exactly("a REF"),
		RunE: func(cmd *cobra.Command, words []string) error {
			gone, err := c.Service.RemoveWorktree(cmd.Context(), c.Actor, words[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.document(removedWorktreeView{viewWorktree(gone.Worktree), viewNames(gone.Ignored)})
			}
			if gone.Ignored.Count > 0 {
				c.say("ignored files that went with it: %d, such as %s", gone.Ignored.Count,
					strings.Join(gone.Ignored.First, ", "))
			}
			return c.print(table([][]string{{gone.Session.ID, gone.Session.Handle, or(gone.Branch), gone.Path}}, 0))
		},
	}
	c.prints(cmd, "worktree-removed")
	return cmd
}

type worktreeView struct {
	SessionID string          `json:"session_id"`
	Handle    string          `json:"handle"`
	State     hitchpost.State `json:"state"`
	ClosedAt  stamp           `json:"closed_at"`
	Path      string          `json:"path"`
	Of        string          `json:"of"`
	Branch    *string         `json:"branch"`
}

func viewWorktree(w hitchpost.Worktree) worktreeView {
	s := w.Session
	return worktreeView{s.ID, s.Handle, s.State, at(s.ClosedAt), w.Path, w.Of, orNull(w.Branch)}
}

type worktreeList struct {
	Version   int            `json:"version"`
	Worktrees []worktreeView `json:"worktrees"`
}

type removedWorktreeView struct {
	worktreeView
	Ignored namesView `json:"ignored"`
}

type obstacleView struct {
	What    string   `json:"what"`
	Count   int      `json:"count"`
	First   []string `json:"first"`
	Unknown *string  `json:"unknown"`
}

// viewObstacles is null where nothing is in the way.
func viewObstacles(list []hitchpost.Obstacle) []obstacleView {
	if len(list) == 0 {
		return nil
	}
	return each(list, func(o hitchpost.Obstacle) obstacleView {
		return obstacleView{o.What, o.Count, orEmpty(o.First), orNull(o.Unknown)}
	})
}

type clashView struct {
	Agent   string  `json:"agent"`
	Session *string `json:"session"`
	Pid     *int    `json:"pid"`
	Since   stamp   `json:"since"`
	Dir     *string `json:"dir"`
}

// viewClash is null where nobody clashes.
func viewClash(list []hitchpost.OtherProcess) []clashView {
	if len(list) == 0 {
		return nil
	}
	return each(list, func(p hitchpost.OtherProcess) clashView {
		v := clashView{Agent: p.Agent, Session: orNull(p.Session), Since: at(p.Since), Dir: orNull(p.Dir)}
		if p.Pid != 0 {
			v.Pid = &p.Pid
		}
		return v
	})
}

// worktreeFlag is a flag that may stand alone or give a branch.
type worktreeFlag struct{ r *hitchpost.StartRequest }

// anyBranch is what the flag is given where it stands alone; no branch can be called so.
const anyBranch = "a new one"

// Set implements pflag.Value.
func (f worktreeFlag) Set(branch string) error {
	if branch == "" {
		return errors.New("a branch has a name")
	}
	f.r.Worktree, f.r.Branch = true, branch
	if branch == anyBranch {
		f.r.Branch = ""
	}
	return nil
}

// String implements pflag.Value.
func (f worktreeFlag) String() string {
	if f.r == nil {
		return ""
	}
	return f.r.Branch
}

// Type implements pflag.Value.
func (worktreeFlag) Type() string { return "branch" }
