package main

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost/sshd/command"
)

// doctorSchema is the schema of what doctor prints with --json.
//
//go:embed schemas/doctor.json
var doctorSchema []byte

// helpCommand is instead of cobra's own, which calls it a success when there is no such command.
func (p *program) helpCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "this list, or all about one command",
		Long: `With --schema it prints the JSON Schema of what doctor prints with --json, or what
"ssh host help --schema" prints about a verb that is given over SSH.`,
		Example: `  hitchpost help serve
  hitchpost help --schema doctor`,
		DisableFlagParsing: true, // for a schema the flags behind a verb are its own
		RunE: func(cmd *cobra.Command, words []string) error {
			if i := slices.Index(words, "--schema"); i >= 0 {
				return p.schema(cmd, slices.Delete(words, i, i+1))
			}
			if wantsHelp(words) {
				return cmd.Help()
			}
			found, rest, err := cmd.Root().Find(words)
			if err != nil || len(rest) > 0 {
				return noCommand(strings.Join(words, " "))
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, words []string, _ string) ([]string, cobra.ShellCompDirective) {
			found, _, err := cmd.Root().Find(words)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, c := range found.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().Bool("schema", false, "the schema of its JSON")
	return cmd
}

// schema prints a schema. Those of the verbs are known without a service.
func (p *program) schema(cmd *cobra.Command, words []string) error {
	if len(words) == 1 && words[0] == "doctor" {
		_, err := p.out.Write(doctorSchema)
		return err
	}
	status := command.Run(cmd.Context(), command.Invocation{
		Words: append([]string{"help", "--schema"}, words...), Program: "ssh host", Stdin: p.in, Stdout: p.out, Stderr: p.err,
		Version: version,
	})
	if status != 0 {
		return exitStatus(status)
	}
	return nil
}
