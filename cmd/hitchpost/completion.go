package main

import (
	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

func (p *program) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "print what a shell needs to complete the words of hitchpost",
		Long: `Packages and make install put it where the shells look for it. By hand it is for the
running bash, or goes into a file of zsh or fish.`,
		Example: `  source <(hitchpost completion bash)
  hitchpost completion zsh > "${fpath[1]}/_hitchpost"
  hitchpost completion fish > ~/.config/fish/completions/hitchpost.fish`,
		ValidArgs: []string{"bash", "zsh", "fish"},
		Args:      oneWord("bash, zsh or fish"),
		RunE: func(cmd *cobra.Command, words []string) error {
			switch words[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(p.out, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(p.out)
			case "fish":
				return cmd.Root().GenFishCompletion(p.out, true)
			}
			return hitchpost.Errorf(hitchpost.UsageError, "nothing completes words in %q", words[0]).
				Hinted("use bash, zsh or fish")
		},
	}
}
