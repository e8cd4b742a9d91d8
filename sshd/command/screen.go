package command

import (
	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

func (c *call) captureVerb() *cobra.Command {
	var r hitchpost.CaptureRequest
	cmd := &cobra.Command{
		Use: "capture REF", Short: "what its screen shows", Example: "capture api --lines 5", Args: exactly("a REF"),
		RunE: func(cmd *cobra.Command, words []string) error {
			if cmd.Flags().Changed("lines") && r.Lines < 1 {
				return usage("--lines is at least 1").Hinted("leave it out for the whole screen")
			}
			return c.text(cmd, words[0], r)
		},
	}
	cmd.Flags().IntVar(&r.Lines, "lines", 0, "only the last `N` lines")
	c.textFlags(cmd, &r)
	return cmd
}

func (c *call) historyVerb() *cobra.Command {
	r := hitchpost.CaptureRequest{History: true}
	cmd := &cobra.Command{
		Use: "history REF", Short: "all it ever showed, also of a lost session", Example: "history api > api.log",
		Args: exactly("a REF"),
		RunE: func(cmd *cobra.Command, words []string) error { return c.text(cmd, words[0], r) },
	}
	c.textFlags(cmd, &r)
	return cmd
}

func (c *call) textFlags(cmd *cobra.Command, r *hitchpost.CaptureRequest) {
	c.prints(cmd, "text")
	cmd.Flags().BoolVar(&r.ANSI, "ansi", false, "with colours, as escape sequences")
}

// text prints text of a session's terminal. It is what a program wrote, so it is not cleaned: tmux lets nothing but
// letters through, and colours where they were asked for.
func (c *call) text(cmd *cobra.Command, ref string, r hitchpost.CaptureRequest) error {
	got, err := c.Service.Capture(cmd.Context(), c.Actor, ref, r)
	if err != nil {
		return err
	}
	if c.json {
		return c.document(textView{string(got.Text), at(got.At)})
	}
	if !got.At.IsZero() {
		c.say("this is what it last showed: %s", c.when(got.At))
	}
	return c.print(withNewline(got.Text))
}
