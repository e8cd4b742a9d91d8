package command

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// helpVerb is made last: it knows the verbs that root has by then.
func (c *call) helpVerb(root *cobra.Command) *cobra.Command {
	var schema bool
	cmd := &cobra.Command{
		Use: "help [VERB]", Short: "this list, or all about one verb", Example: "help new",
		Long: "With --schema it prints the JSON Schema (draft 2020-12) of what the verb\n" +
			"prints with --json, or without a verb that of errors, which go to stderr. A\n" +
			"flag with which the verb prints another document can be named too: `help\n" +
			"--schema events --follow` is about each of those lines. Documents may gain\n" +
			"fields, and lose none.",
		RunE: func(cmd *cobra.Command, words []string) error {
			verb, rest, err := root.Find(words)
			if err != nil || len(rest) > 0 {
				return c.unknown(verb, strings.Join(rest, " "))
			}
			form, err := formFlag(cmd)
			switch {
			case err != nil:
				return err
			case schema:
				return c.schema(verb, form)
			case form != "":
				return usage("--%s goes with --schema", form).Hinted("as in: help --schema events --follow")
			}
			return c.help(verb)
		},
	}
	c.printsNothing(cmd)
	cmd.Flags().BoolVar(&schema, "schema", false, "the schema of its JSON")
	addFormFlags(cmd, root)
	return cmd
}

// help prints all about one verb, or the list of them. It is data: it was asked for.
func (c *call) help(cmd *cobra.Command) error {
	columns := c.columns()
	narrow := columns > 0 && columns < helpColumns
	if !cmd.HasParent() {
		return c.print(folded(overview(cmd), columns))
	}
	var out bytes.Buffer
	use := strings.TrimSpace(path(cmd.Parent()) + " " + cmd.Use)
	fmt.Fprintf(&out, "%s %s\n\n  %s\n", c.Program, use, cmd.Short)
	if cmd.Long != "" {
		next := "\n  "
		if narrow {
			next = " "
		}
		fmt.Fprintf(&out, "\n  %s\n", strings.ReplaceAll(cmd.Long, "\n", next))
	}
	if cmd.HasSubCommands() {
		out.WriteString("\n")
		out.Write(verbTable(cmd))
	}
	cmd.InitDefaultHelpFlag() // cobra adds it only to the verb that it executes
	if flags := cmd.LocalFlags(); flags.HasAvailableFlags() {
		usages := flags.FlagUsagesWrapped(helpColumns - 2)
		if narrow {
			usages = flags.FlagUsages()
		}
		fmt.Fprintf(&out, "\n%s", usages)
	}
	fmt.Fprintf(&out, "\nexample: %s %s\n", c.Program, cmd.Example)
	return c.print(folded(out.Bytes(), columns))
}

// helpColumns is how wide a terminal must be for help as it is written.
const helpColumns = 80

// folded breaks lines between their words so that each fits into so many columns; 0 leaves them as they are. What stands
// beside a verb or a flag goes below it.
func folded(text []byte, columns int) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(string(text)) {
		if columns <= 0 || width(strings.TrimSuffix(line, "\n")) <= columns {
			out.WriteString(line)
			continue
		}
		words := strings.TrimLeft(line, " ")
		indent := min(len(line)-len(words), columns/4)
		name, about, _ := strings.Cut(words, "  ")
		fold(&out, name, indent, columns)
		fold(&out, about, min(indent+4, columns/2), columns)
	}
	return out.Bytes()
}

// fold writes text on lines of so many columns behind an indent.
func fold(out *bytes.Buffer, text string, indent, columns int) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = strings.Repeat(" ", indent) + word
		case width(line)+1+width(word) <= columns:
			line += " " + word
		default:
			out.WriteString(line + "\n")
			line = strings.Repeat(" ", indent) + word
		}
	}
	if line != "" {
		out.WriteString(line + "\n")
	}
}

// overview is the list of verbs; it fits one screen of 80x24.
func overview(root *cobra.Command) []byte {
	var out bytes.Buffer
	out.WriteString("ssh host VERB …, each with --help and, where it prints data, --json\n")
	var rows [][]string
	shared := sharedRows()
	for _, cmd := range root.Commands() {
		row, ok := shared[cmd.Name()]
		if !ok {
			row = []string{short(cmd.Use), cmd.Short}
		}
		if row != nil {
			rows = append(rows, []string{"  " + row[0], row[1]})
		}
	}
	out.Write(table(rows, 0))
	out.WriteString("\nREF: a handle, an id, 4 or more characters of one, or `last`.\n" +
		"ssh -t host REF attaches; ssh host with a terminal and no verb shows the picker.\n")
	return out.Bytes()
}

// sharedRows are the lines of the overview that tell of several verbs, at the place of the first.
func sharedRows() map[string][]string {
	return map[string][]string{
		"capture": {"capture, history REF", "its screen; all it showed, also of a lost one"}, "history": nil,
		"card": {"card, check REF", "what to know, and to do next; run its check"}, "check": nil,
		"checkpoint": {"checkpoint REF|ls|diff|…", "keep its files as they are; bring them back"},
		"help":       {"help, status, version, whoami", "this list; how it is; which it is; who you are"},
		"status":     nil, "version": nil, "whoami": nil,
		"node": {"node, worktree ls|…", "machines; what `new --worktree` has made"}, "worktree": nil,
		"task": {"task run|ls|log|wait|…", "background commands, see `task --help`"},
	}
}

func verbTable(parent *cobra.Command) []byte {
	var rows [][]string
	for _, cmd := range parent.Commands() {
		rows = append(rows, []string{"  " + short(cmd.Use), cmd.Short})
	}
	return table(rows, 0)
}

// short is a verb with its words but without its flags, which its own help lists.
func short(use string) string {
	before, _, _ := strings.Cut(use, " [-")
	return before
}
