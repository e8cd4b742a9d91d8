package command

import (
	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

func (c *call) stopVerb() *cobra.Command {
	var r hitchpost.StopRequest
	var timeout duration
	cmd := &cobra.Command{
		Use: "stop REF", Short: "end its process; KILL after --timeout", Example: "stop api --signal INT --timeout 30s",
		Args: exactly("a REF"),
		RunE: func(cmd *cobra.Command, words []string) error {
			r.Timeout = timeout.given(cmd, "timeout")
			s, err := c.Service.Stop(cmd.Context(), c.Actor, words[0], r)
			return c.done(s, err)
		},
	}
	c.prints(cmd, "session")
	cmd.Flags().StringVar(&r.Signal, "signal", "", "signal `S` instead of what ends this kind politely")
	cmd.Flags().Var(&timeout, "timeout", "time until KILL, `D` like 30s (default 10s)")
	return cmd
}

func (c *call) closeVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use: "close REF", Short: "take an ended session off the list; files stay", Example: "close api",
		Args: exactly("a REF"),
		RunE: func(cmd *cobra.Command, words []string) error {
			s, err := c.Service.CloseSession(cmd.Context(), c.Actor, words[0])
			return c.done(s, err)
		},
	}
	c.prints(cmd, "session")
	return cmd
}

func (c *call) renameVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use: "rename REF TITLE", Short: "new title and handle", Example: `rename api "'api, second try'"`,
		Args: exactly("a REF", "a TITLE"),
		RunE: func(cmd *cobra.Command, words []string) error {
			s, err := c.Service.Rename(cmd.Context(), c.Actor, words[0], words[1])
			return c.done(s, err)
		},
	}
	c.prints(cmd, "session")
	return cmd
}

// done prints where a session stands after an act.
func (c *call) done(s hitchpost.Session, err error) error {
	if err != nil {
		return err
	}
	return c.session(s, table([][]string{{s.ID, s.Handle, string(s.State)}}, 0))
}
