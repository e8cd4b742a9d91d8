package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

// CheckpointService is what the verbs of checkpoints drive.
type CheckpointService interface {
	Checkpoint(ctx context.Context, a hitchpost.Actor, ref, message string) (hitchpost.MadeCheckpoint, error)
	// Checkpoints lists them, oldest first.
	Checkpoints(ctx context.Context, a hitchpost.Actor, ref string) ([]hitchpost.Checkpoint, error)
	CheckpointDiff(ctx context.Context, a hitchpost.Actor, ref string, n int) (hitchpost.CheckpointDiff, error)
	RestoreCheckpoint(ctx context.Context, a hitchpost.Actor, ref string, n int, branch string) (
		hitchpost.RestoredCheckpoint, error)
}

func (c *call) checkpointVerb() *cobra.Command {
	var message string
	cmd := &cobra.Command{
		Use: "checkpoint REF", Short: "keep its files as they are, beside git's history",
		Long: "All files that git tracks or does not ignore, as a hidden reference of the\n" +
			"repository; index, files, branches and stash stay as they are. Where nothing\n" +
			"has changed since the last one none is made. Before a restart, when an agent\n" +
			"waits or ends, and every 10 minutes while files change one is made by itself;\n" +
			"the newest 50 are kept for 30 days.",
		Example: `checkpoint api -m "'before I try'"`, Args: exactly("a REF"),
		SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, words []string) error {
			made, err := c.Service.Checkpoint(cmd.Context(), c.Actor, words[0], message)
			if err != nil {
				return err
			}
			return c.madeCheckpoint(made)
		},
	}
	c.prints(cmd, "checkpoint-made")
	cmd.Flags().StringVarP(&message, "message", "m", "", "what it is, `TEXT`")
	cmd.AddCommand(c.checkpointLsVerb(), c.checkpointDiffVerb(), c.checkpointRestoreVerb())
	return cmd
}

func (c *call) madeCheckpoint(made hitchpost.MadeCheckpoint) error {
	if c.json {
		return c.document(viewMade(made))
	}
	for _, l := range made.Left {
		c.say("left out: %s (%s)", l.Path, l.Why)
	}
	if more := made.LeftOut - len(made.Left); made.New && more > 0 && len(made.Left) > 0 {
		c.say("left out: %d more", more)
	}
	what := "new"
	if !made.New {
		what = "nothing has changed since"
	}
	return c.print(table([][]string{{strconv.Itoa(made.N), shortCommit(made.Commit), what}}, 0))
}

func shortCommit(hash string) string { return hash[:min(len(hash), 12)] }

func (c *call) checkpointLsVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls REF", Short: "those of a session, oldest first", Example: "checkpoint ls api", Args: exactly("a REF"),
		RunE: func(cmd *cobra.Command, words []string) error {
			list, err := c.Service.Checkpoints(cmd.Context(), c.Actor, words[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.document(listCheckpoints(list))
			}
			rows := [][]string{{"N", "AGE", "FILES", "COMMIT", "MESSAGE"}}
			for _, k := range list {
				files := strconv.Itoa(k.Files)
				if k.LeftOut > 0 {
					files += fmt.Sprintf(" (%d left out)", k.LeftOut)
				}
				rows = append(rows, []string{strconv.Itoa(k.N), c.age(k.At), files, shortCommit(k.Commit), k.Message})
			}
			return c.print(table(rows, c.columns()))
		},
	}
	c.prints(cmd, "checkpoint-list")
	return cmd
}

func (c *call) checkpointDiffVerb() *cobra.Command {
	var raw bool
	cmd := &cobra.Command{
		Use: "diff REF N", Short: "what has changed since", Example: "checkpoint diff api 3",
		Long: "A patch from the checkpoint to the files as they are now, untracked ones\n" +
			"included. What would do something to a terminal is shown as U+FFFD; --raw\n" +
			"leaves every byte as it is, for a program such as git apply.",
		Args: exactly("a REF", "a number N"),
		RunE: func(cmd *cobra.Command, words []string) error {
			n, err := parseNumber(words[1])
			if err != nil {
				return err
			}
			d, err := c.Service.CheckpointDiff(cmd.Context(), c.Actor, words[0], n)
			switch {
			case err != nil:
				return err
			case c.json:
				return c.document(viewCheckpointDiff(d))
			case !raw:
				d.Patch = hitchpost.ShownNote(strings.ToValidUTF8(d.Patch, "\uFFFD"))
			}
			if d.Cut {
				c.say("only the first %d bytes are shown", len(d.Patch))
			}
			return c.print([]byte(d.Patch))
		},
	}
	c.prints(cmd, "checkpoint-diff")
	cmd.Flags().BoolVar(&raw, "raw", false, "every byte as it is")
	return cmd
}

// parseNumber reads the number of a checkpoint.
func parseNumber(word string) (int, error) {
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 {
		return 0, usage("%q is no number of a checkpoint", word).Hinted("`checkpoint ls REF` lists them")
	}
	return n, nil
}

func (c *call) checkpointRestoreVerb() *cobra.Command {
	var branch string
	cmd := &cobra.Command{
		Use: "restore REF N", Short: "make a branch of it", Example: "checkpoint restore api 3 --branch before",
		Long: "A new branch holds the files as they were; `git switch` goes there when you\n" +
			"want to. No file is overwritten and no branch is moved.",
		Args: exactly("a REF", "a number N"),
		RunE: func(cmd *cobra.Command, words []string) error {
			n, err := parseNumber(words[1])
			if err != nil {
				return err
			}
			r, err := c.Service.RestoreCheckpoint(cmd.Context(), c.Actor, words[0], n, branch)
			switch {
			case err != nil:
				return err
			case c.json:
				return c.document(restoredView{viewKept(r.Checkpoint), r.Branch})
			}
			return c.print(table([][]string{{r.Branch, shortCommit(r.Checkpoint.Commit)}}, 0))
		},
	}
	c.prints(cmd, "checkpoint-restored")
	cmd.Flags().StringVar(&branch, "branch", "", "`B` as its name (default REF-checkpoint-N)")
	return cmd
}
