package command

import (
	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

func (c *call) noteVerb() *cobra.Command {
	var set, add string
	cmd := &cobra.Command{
		Use: "note REF", Short: "its handoff text: read it, or write it",
		Long: "Without a flag it prints the note and nothing else. --set= clears it. Of many\n" +
			"that add at the same time each one's text is kept. A note is text of up to\n" +
			"64 KiB, without control characters but line feeds and tabs.\n" +
			"As JSON: the session, with the note as it is then.",
		Example: `note api --append "'tests pass, docs are missing'"`, Args: exactly("a REF"),
		RunE: func(cmd *cobra.Command, words []string) error {
			setting, adding := cmd.Flags().Changed("set"), cmd.Flags().Changed("append")
			switch {
			case setting && adding:
				return usage("--set and --append do not go together").Hinted("give one of them")
			case !setting && !adding:
				s, err := c.Service.Show(cmd.Context(), c.Actor, words[0])
				if err != nil {
					return err
				}
				return c.session(s, withNewline([]byte(hitchpost.ShownNote(s.Note))))
			}
			r := hitchpost.NoteRequest{Text: set, Append: adding}
			if adding {
				r.Text = add
			}
			text, err := c.orInput(r.Text, "note", hitchpost.MaxNote)
			if err != nil {
				return err
			}
			r.Text = text
			s, err := c.Service.Note(cmd.Context(), c.Actor, words[0], r)
			return c.done(s, err)
		},
	}
	c.prints(cmd, "session")
	cmd.Flags().StringVar(&set, "set", "", "this `TEXT` in its place, or - to read it from stdin")
	cmd.Flags().StringVar(&add, "append", "", "this `TEXT` on a line of its own below it, or - to read it from stdin")
	return cmd
}
