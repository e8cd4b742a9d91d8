package command

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// tree is the verbs of this one invocation. Nothing of it is shared: cobra keeps the values of flags in it.
func (c *call) tree() *cobra.Command {
	root := &cobra.Command{
		SilenceErrors: true, SilenceUsage: true, Args: cobra.ArbitraryArgs,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true},
		SuggestionsMinimumDistance: 2,
	}
	root.SetIn(strings.NewReader(""))
	root.SetOut(c.Stderr) // nothing but print and document reaches stdout
	root.SetErr(c.Stderr)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if err := c.help(cmd); err != nil {
			c.status = 1
		}
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		e := usage("%s", strings.ReplaceAll(flagText(err), "\n", " "))
		e.Cause = err
		return e.Hinted("see `%s %s --help`", c.Program, path(cmd))
	})
	root.AddCommand(
		c.lsVerb(), c.showVerb(), c.newVerb(), c.attachVerb(), c.restartVerb(), c.stopVerb(), c.closeVerb(), c.renameVerb(),
		c.captureVerb(), c.historyVerb(), c.sendVerb(), c.waitVerb(), c.noteVerb(), c.cardVerb(), c.checkVerb(),
		c.checkpointVerb(), c.eventsVerb(), c.taskVerb(), c.worktreeVerb(), c.nodeVerb(),
		c.keyVerb(), c.whoamiVerb(), c.statusVerb(), c.versionVerb(),
	)
	root.SetHelpCommand(c.helpVerb(root))
	root.InitDefaultHelpCmd() // cobra would add it only when it executes
	return root
}

// flagText is err for people: without the names of functions that read numbers.
func flagText(err error) string {
	var of *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &of) || !errors.As(err, &number) {
		return err.Error()
	}
	why := "no whole number"
	switch {
	case of.GetFlag().Value.Type() == "bool":
		why = "it takes no value"
	case errors.Is(number, strconv.ErrRange):
		why = "too large a number"
	}
	return fmt.Sprintf("invalid argument %q for %q flag: %s", of.GetValue(), "--"+of.GetFlag().Name, why)
}

// Tree is the verbs for whoever lists them or writes their documents. It cannot be executed; see Run.
func Tree() *cobra.Command { return (&call{}).tree() }

// parent is a verb that is followed by another.
func (c *call) parent(name, short string, verbs ...*cobra.Command) *cobra.Command {
	names := make([]string, len(verbs))
	for i, v := range verbs {
		names[i] = v.Name()
	}
	cmd := &cobra.Command{
		Use: name + " " + strings.Join(names, "|"), Short: short, Args: cobra.ArbitraryArgs,
		SuggestionsMinimumDistance: 2,
	}
	c.printsNothing(cmd)
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if len(words) > 0 {
			return c.unknown(cmd, words[0])
		}
		return usage("`%s` needs another word", name).Hinted("use one of: %s", strings.Join(names, ", "))
	}
	cmd.AddCommand(verbs...)
	return cmd
}

// exactly is the check for verbs that take so many words, named by what they are.
func exactly(names ...string) cobra.PositionalArgs { return between(len(names), names...) }

// between is the check for verbs that can do without the last of those words.
func between(needed int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, words []string) error {
		switch {
		case len(words) < needed:
			return usage("`%s` needs %s", path(cmd), names[len(words)]).Hinted("as in: %s", cmd.Example)
		case len(words) > len(names):
			return usage("`%s` does not take %q", path(cmd), words[len(names)]).
				Hinted("words with blanks need quotes for your own shell and for this one, as in: %s", cmd.Example)
		}
		return nil
	}
}

// behindDashes is the check for verbs that take the words of a program.
func behindDashes(cmd *cobra.Command, words []string) error {
	if before := cmd.ArgsLenAtDash(); before != 0 && len(words) > 0 {
		return usage("`%s` does not take %q", path(cmd), words[0]).Hinted("put the program and its words behind --")
	}
	return nil
}

// path is a verb with the verb that it belongs to, as typed.
func path(cmd *cobra.Command) string { return strings.TrimSpace(cmd.CommandPath()) }
