package command

import (
	"github.com/spf13/cobra"
)

func (c *call) checkVerb() *cobra.Command {
	var set string
	cmd := &cobra.Command{
		Use: "check REF", Short: "run its check and keep the result",
		Long: "The check is a command, given by `new --check` or --set and split like a shell\n" +
			"splits words; no shell reads it unless it is one: sh -c '…'. It runs as a task\n" +
			"in the session's directory. You see what it prints, and the exit status is its\n" +
			"own. The card keeps the result with the commit and the files that it saw, also\n" +
			"when you leave before the end.\n" +
			"As JSON: the task, or with --set the session.",
		Example: `check api --set "'make test'"`, Args: exactly("a REF"),
		RunE: func(cmd *cobra.Command, words []string) error {
			if cmd.Flags().Changed("set") {
				s, err := c.Service.SetCheck(cmd.Context(), c.Actor, words[0], set)
				return c.done(s, err)
			}
			t, err := c.Service.RunCheck(cmd.Context(), c.Actor, words[0])
			if err != nil {
				return err
			}
			return c.stay(cmd.Context(), t, false)
		},
	}
	c.prints(cmd, "task")
	c.printsWith(cmd, "set", "session")
	cmd.Flags().StringVar(&set, "set", "", "run nothing: this `CMD` is its check from now on; none if empty")
	return cmd
}
