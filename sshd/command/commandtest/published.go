package commandtest

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hitchpost/hitchpost/sshd/command"
)

// Verbs calls see for every verb of the tree below parent, with its path such as "key add".
func Verbs(parent *cobra.Command, see func(path string, cmd *cobra.Command)) {
	for _, cmd := range parent.Commands() {
		see(strings.TrimSpace(cmd.CommandPath()), cmd)
		Verbs(cmd, see)
	}
}

// Published is every schema that help prints, by what it is asked for: "ls", "events --follow", and "" for errors.
func Published(ctx context.Context) (map[string]*Schema, error) {
	asked := []string{""}
	Verbs(command.Tree(), func(path string, cmd *cobra.Command) {
		asked = append(asked, path)
		cmd.Flags().VisitAll(func(f *pflag.Flag) { asked = append(asked, path+" --"+f.Name) })
	})
	out := map[string]*Schema{}
	for _, form := range asked {
		if strings.HasSuffix(form, "--help") || strings.HasSuffix(form, "--json") {
			continue // these are flags of help as well
		}
		var text, errs strings.Builder
		status := command.Run(ctx, command.Invocation{
			Words: append([]string{"help", "--schema"}, strings.Fields(form)...), Stdout: &text, Stderr: &errs,
		})
		if status != 0 {
			continue
		}
		s, err := Compile([]byte(text.String()))
		if err != nil {
			return nil, fmt.Errorf("help --schema %s: %w", form, err)
		}
		out[form] = s
	}
	return out, nil
}
