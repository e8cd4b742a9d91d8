package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

func (c *call) sendVerb() *cobra.Command {
	var r hitchpost.SendRequest
	cmd := &cobra.Command{
		Use: "send REF [TEXT|-]", Short: "type text and keys into a live session",
		Long: "The text, or with - what stdin holds, arrives as it is, as a paste where the\n" +
			"program asks for pastes; then the keys in the order of their flags. A word\n" +
			"behind -- is always text. It says delivered once the screen shows the text, or\n" +
			"changed after keys alone; unconfirmed, and exit status 6, where nothing of it\n" +
			"is seen within 2 s, as in programs that do not show what is typed. Control\n" +
			"characters are refused in a text: give keys. Somebody who looks at earlier\n" +
			"output in tmux's copy mode is brought back to the live screen.\n" +
			"As JSON: id, handle, result and bytes, those of the text.",
		Example: `send api "'run the tests'" --enter`, Args: between(1, "a REF", "a TEXT"),
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 1 && len(r.Keys) == 0 {
				return usage("`send` needs a TEXT, --enter or a --key").Hinted("as in: %s", cmd.Example)
			}
			text, err := c.textWord(cmd, words[1:], 1, hitchpost.MaxSent)
			if err != nil {
				return err
			}
			r.Text = text
			result, err := c.Service.Send(cmd.Context(), c.Actor, words[0], r)
			if err != nil {
				return err
			}
			return c.sent(result, len(text))
		},
	}
	c.prints(cmd, "sent")
	f := cmd.Flags()
	f.Var(keyFlag{&r.Keys, ""}, "key", "key `K` as tmux names it: Enter, C-c, Escape, Up, F5, M-x; may be given again")
	f.Var(keyFlag{&r.Keys, "Enter"}, "enter", "the Enter key, as --key Enter")
	f.Lookup("enter").NoOptDefVal = "true"
	return cmd
}

// keyFlag adds a key to those that are sent, so that their order is that of the flags.
type keyFlag struct {
	keys  *[]string
	fixed string // the key of a flag that takes no value
}

func (k keyFlag) String() string { return "" }

func (k keyFlag) Type() string {
	if k.fixed != "" {
		return "bool" // as which pflag shows no value in the help
	}
	return "K"
}

func (k keyFlag) Set(value string) error {
	switch {
	case k.fixed == "":
		*k.keys = append(*k.keys, value)
	case value == "true":
		*k.keys = append(*k.keys, k.fixed)
	default:
		return fmt.Errorf("it takes no value")
	}
	return nil
}

// textWord is the text of the one word, from stdin where that is - and does not stand behind --; empty without a word.
// first is where the word stands in the line.
func (c *call) textWord(cmd *cobra.Command, words []string, first int, limit int64) (string, error) {
	if len(words) == 0 {
		return "", nil
	}
	dash := cmd.ArgsLenAtDash()
	if words[0] != "-" || dash >= 0 && dash <= first {
		return words[0], nil
	}
	return c.orInput(words[0], "text", limit)
}

// sent tells what became of what was sent. That nobody saw it arrive is told of twice: in the data, and as an error.
func (c *call) sent(r hitchpost.SendResult, bytes int) error {
	view := sentView{r.Session.ID, r.Session.Handle, "delivered", bytes}
	if !r.Seen {
		view.Result = string(hitchpost.UnconfirmedError)
	}
	var err error
	if c.json {
		err = c.document(view)
	} else {
		err = c.print(table([][]string{{view.ID, view.Handle, view.Result}}, 0))
	}
	if err != nil || r.Seen {
		return err
	}
	return hitchpost.Errorf(hitchpost.UnconfirmedError, "%s does not show what was sent", r.Session.Handle).
		Hinted("look at it with `capture %s` before you send it again", r.Session.Handle)
}

type sentView struct {
	ID     string `json:"id"`
	Handle string `json:"handle"`
	Result string `json:"result"` // delivered or unconfirmed
	Bytes  int    `json:"bytes"`  // of the text
}
