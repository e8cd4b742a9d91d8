package command

import (
	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

func (c *call) waitVerb() *cobra.Command {
	var r hitchpost.WaitRequest
	var states string
	var timeout duration
	cmd := &cobra.Command{
		Use: "wait REF", Short: "until it is in a state, or needs a person",
		Long: "Returns at once where the session is in one of the states already, and prints\n" +
			"it as it was then. A state that lasts for a moment only counts too. Without\n" +
			"--for it waits for WAITING_FOR_INPUT, STOPPED, FAILED or RECOVERABLE. A\n" +
			"session that is closed in another state ends the wait with exit status 4.",
		Example: "wait api --for STOPPED,FAILED --timeout 10m", Args: exactly("a REF"),
		RunE: func(cmd *cobra.Command, words []string) (err error) {
			if r.States, err = parseStates(cmd, "for", states, hitchpost.States()); err != nil {
				return err
			}
			r.Timeout = timeout.given(cmd, "timeout")
			s, err := c.Service.Wait(cmd.Context(), c.Actor, words[0], r)
			return c.done(s, err)
		},
	}
	c.prints(cmd, "session")
	cmd.Flags().StringVar(&states, "for", "", "these states, `LIST` with commas")
	cmd.Flags().Var(&timeout, "timeout", "give up after `D` like 10m, with exit status 124 (default never)")
	return cmd
}
