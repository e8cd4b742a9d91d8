package command

import (
	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

func (c *call) attachVerb() *cobra.Command {
	var r hitchpost.AttachRequest
	cmd := &cobra.Command{
		Use: "attach REF", Short: "into a session; needs a terminal", Example: "attach last --read-only",
		Args: exactly("a REF"),
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := c.needsTerminal("attach"); err != nil {
				return err
			}
			r.Ref = words[0]
			return c.attach(cmd, r)
		},
	}
	c.printsNothing(cmd)
	cmd.Flags().BoolVar(&r.ReadOnly, "read-only", false, "look and type nothing")
	cmd.Flags().BoolVar(&r.NoReplay, "no-replay", false, "without the history, from the live screen on")
	return cmd
}

// needsTerminal is nil where there is a terminal to draw on.
func (c *call) needsTerminal(what string) error {
	if c.Terminal == nil || c.Attach == nil {
		return usage("%s needs a terminal", what).Hinted("ask for one with ssh -t")
	}
	return c.Terminal.CheckDrawing()
}

func (c *call) attach(cmd *cobra.Command, r hitchpost.AttachRequest) error {
	r.Terminal = *c.Terminal
	c.status = c.Attach(cmd.Context(), r)
	return nil
}
