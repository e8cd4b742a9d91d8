package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/inside"
	"github.com/hitchpost/hitchpost/runtime/launch"
)

func (p *program) noteCommand() *cobra.Command {
	var set, add string
	cmd := &cobra.Command{
		Use:   "note",
		Short: "inside a session: its handoff text, to read or to write",
		Long: `For programs and people in a session, who need no key for it. Without a flag it prints the
note. --set= clears it. Of many that add at the same time each one's text is kept. A note is
text of up to 64 KiB, without control characters but line feeds and tabs. From outside of a
session: "ssh host note REF".`,
		Example: `  hitchpost note
  hitchpost note --append 'tests pass, docs are missing'
  git diff --stat | hitchpost note --append -`,
		Args: noWords,
	}
	cmd.Flags().StringVar(&set, "set", "", "this `TEXT` in its place, or - to read it from stdin")
	cmd.Flags().StringVar(&add, "append", "", "this `TEXT` on a line of its own below it, or - to read it from stdin")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		setting, adding := cmd.Flags().Changed("set"), cmd.Flags().Changed("append")
		if setting && adding {
			return hitchpost.Errorf(hitchpost.UsageError, "--set and --append do not go together").Hinted("give one of them")
		}
		n := inside.Note{Change: setting || adding, Append: adding, Text: set}
		if adding {
			n.Text = add
		}
		if n.Text == "-" {
			text, err := io.ReadAll(io.LimitReader(p.in, hitchpost.MaxNote+1)) // one that is longer is refused
			if err != nil {
				return hitchpost.Errorf(hitchpost.FailedError, "the note could not be read from stdin: %w", err)
			}
			n.Text = string(text)
		}
		note, err := inside.Call(cmd.Context(), p.getenv, p.getenv(launch.Mark), n)
		if err != nil || n.Change {
			return err
		}
		if note = hitchpost.ShownNote(note); note != "" && !strings.HasSuffix(note, "\n") {
			note += "\n"
		}
		_, err = io.WriteString(p.out, note)
		return err
	}
	return cmd
}
