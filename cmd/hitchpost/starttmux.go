package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost/runtime/tmux"
)

// startTmuxVerb is what the unit of the sessions starts this program with.
const startTmuxVerb = "start-tmux"

// startTmuxCommand starts the private tmux server and ends, so that the server belongs to whoever ran this: it lives
// in that control group, apart from serve. Where one runs already it changes nothing.
func (p *program) startTmuxCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:    startTmuxVerb,
		Short:  "start the tmux server of the sessions, for a service manager",
		Args:   noWords,
		Hidden: true,
	}
	read := addFlags(cmd, serveOptions(p.getenv)[:1], p.getenv) // the data directory
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		set, err := read()
		if err != nil {
			return err
		}
		if err := makeDataDir(set.DataDir); err != nil {
			return err
		}
		server, err := tmux.Open(cmd.Context(), tmux.Config{Dir: filepath.Join(set.DataDir, "tmux"), Log: p.logger("text")})
		if err != nil {
			return err
		}
		return server.Close()
	}
	return cmd
}
