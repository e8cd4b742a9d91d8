package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd/command"
)

// program is one run of the binary.
type program struct {
	streams
	getenv func(string) string
}

// run executes the command line and returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, std streams) int {
	p := &program{streams: std, getenv: getenv}
	root := p.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	return tell(std, err)
}

// tell says what went wrong in one line and returns the exit status that stands for it.
func tell(std streams, err error) int {
	var said exitStatus
	if errors.As(err, &said) {
		return int(said)
	}
	kind := hitchpost.KindOf(err)
	var plain *hitchpost.Error
	var usage usageError
	switch {
	case errors.As(err, &plain):
		err = plain
	case errors.As(err, &usage):
		kind = hitchpost.UsageError
	}
	_, _ = fmt.Fprintf(std.err, "hitchpost: %v\n", err) // nobody is left to tell
	return kind.ExitStatus()
}

// usageError marks an error of cobra's own about the words of a command line.
type usageError struct{ error }

// noWords refuses words after a command that takes none.
func noWords(cmd *cobra.Command, words []string) error {
	if len(words) == 0 {
		return nil
	}
	return hitchpost.Errorf(hitchpost.UsageError, "%s takes no %q", cmd.CommandPath(), words[0]).
		Hinted("see %s --help", cmd.CommandPath())
}

func (p *program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "hitchpost",
		Short:         "an SSH server for terminal sessions that outlive the connection",
		Long:          rootText,
		Example:       "  hitchpost serve",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,

		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand(args[0])
			}
			return cmd.Help()
		},
	}
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w: see %s --help", err, cmd.CommandPath())}
	})
	root.SetHelpCommand(p.helpCommand())
	root.AddCommand(p.serveCommand(), p.keyCommand(), p.migrateCommand(), p.doctorCommand(), p.versionCommand(),
		p.connectCommand(), p.serviceCommand(), p.startTmuxCommand(), p.backupCommand(), p.restoreCommand(),
		p.completionCommand(), p.manCommand(), p.noteCommand())
	root.InitDefaultHelpCmd() // cobra would add it only when it executes
	return root
}

const rootText = `An SSH server for terminal sessions that outlive the connection.

These commands are for the machine itself, and connect for any. Sessions and tasks are handled
over SSH: "ssh host help" lists those verbs, and hitchpost-verbs(7) tells of each.`

// noCommand is the error for a word that is no command here. Many look for a verb of the SSH side.
func noCommand(word string) error {
	err := hitchpost.Errorf(hitchpost.UsageError, "no command %q", word)
	if slices.Contains(command.Verbs(), word) {
		return err.Hinted("that is given over SSH, as in: ssh host %s", word)
	}
	return err.Hinted("see hitchpost --help")
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version",
		Example: "  hitchpost version",
		Args:    noWords,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(p.out, "hitchpost", version)
			return err
		},
	}
}

func (p *program) migrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "migrate",
		Short:   "bring the database to this version's schema",
		Example: "  hitchpost migrate --database-url postgres://hitchpost@db/hitchpost",
		Args:    noWords,
	}
	read := addFlags(cmd, storeOptions(p.getenv), p.getenv)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		set, err := read()
		if err != nil {
			return err
		}
		db, err := openDatabase(cmd.Context(), set, p.logger(set.LogFormat))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.out, "the database has the schema of this version")
		return errors.Join(err, db.Close())
	}
	return cmd
}

func (p *program) logger(format string) *slog.Logger {
	if format == "json" {
		return slog.New(slog.NewJSONHandler(p.err, nil))
	}
	return slog.New(slog.NewTextHandler(p.err, nil))
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
