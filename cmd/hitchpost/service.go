package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

func (p *program) serviceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service install|uninstall",
		Short: "have this machine run hitchpost serve: systemd, or launchd on macOS",
		Long: `Root gets a service of the machine, everybody else one of their own account. The flags of serve that are given
here, or stand in the environment, are those it will run with.`,
		Example: "  hitchpost service install --print",
		Args:    noWords,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(p.serviceInstallCommand(), p.serviceUninstallCommand())
	return cmd
}

func (p *program) serviceInstallCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "install",
		Short: "write the files of the service, and start it",
		Example: `  hitchpost service install --print
  hitchpost service install --listen 10.0.0.5:2222`,
		Args: noWords,
	}
	read := addFlags(cmd, serveOptions(p.getenv), p.getenv)
	show := cmd.Flags().Bool("print", false, "show what would be written, and do nothing")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		set, err := read()
		if err != nil {
			return err
		}
		place, err := p.place()
		if err != nil {
			return err
		}
		if err := place.checkDatabaseURL(set.DatabaseURL); err != nil {
			return err
		}
		in, err := p.installation(place, set, given(cmd, serveOptions(p.getenv), p.getenv))
		if err != nil {
			return err
		}
		files := place.files(in)
		if *show {
			return p.print(files)
		}
		return p.install(cmd.Context(), place, files)
	}
	return cmd
}

func (p *program) serviceUninstallCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "uninstall",
		Short:   "stop the service and remove its files; sessions go on and data stays",
		Example: "  hitchpost service uninstall",
		Args:    noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := p.place()
			if err != nil {
				return err
			}
			return p.uninstall(cmd.Context(), place)
		},
	}
}

// installation is what the files of a service are made from.
type installation struct {
	Binary  string   // absolute
	DataDir string   // absolute
	Flags   []string // of serve, besides --data-dir
	Path    string   // PATH of the service, and of the programs that sessions start
	EnvFile string   // absolute; settings that are nobody else's business
	LogFile string   // absolute; launchd only
	System  bool     // of the machine, not of one account
}

// serviceFile is one file of a service.
type serviceFile struct{ Path, Text string }

func (p *program) installation(place servicePlace, set settings, flags []string) (installation, error) {
	binary, err := stableBinary()
	if err != nil {
		return installation{}, err
	}
	in := installation{
		Binary: binary, DataDir: set.DataDir, Flags: flags, Path: p.getenv("PATH"), EnvFile: place.envFile,
		LogFile: place.logFile, System: place.system,
	}
	for _, word := range append([]string{in.Binary, in.DataDir, in.Path, in.EnvFile}, in.Flags...) {
		if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return in, hitchpost.Errorf(hitchpost.UsageError, "%q cannot stand in a service's file", word).
				Hinted("use names without control characters")
		}
	}
	return in, nil
}

// stableBinary is the path of this program that stays right when it is upgraded: the one in PATH where that is the
// same file, since it may be a link to a place that has the version in its name.
func stableBinary() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", hitchpost.Errorf(hitchpost.FailedError, "this program does not know its own path: %w", err)
	}
	found, err := exec.LookPath("hitchpost")
	if err != nil || !filepath.IsAbs(found) {
		return self, nil
	}
	mine, err1 := os.Stat(self)
	other, err2 := os.Stat(found)
	if err1 == nil && err2 == nil && os.SameFile(mine, other) {
		return found, nil
	}
	return self, nil
}

// given are the flags that were set by hand or by environment, as words for serve. The data directory is not among
// them, it is always named; nor is the database's URL, which may hold a password.
func given(cmd *cobra.Command, opts []option, getenv func(string) string) []string {
	var words []string
	for _, o := range opts {
		if o.flag == "data-dir" || o.flag == "database-url" {
			continue
		}
		if f := cmd.Flags().Lookup(o.flag); f.Changed {
			words = append(words, "--"+o.flag+"="+f.Value.String())
		} else if v := getenv(o.env); v != "" {
			words = append(words, "--"+o.flag+"="+v)
		}
	}
	return words
}

func (p *program) print(files []serviceFile) error {
	for i, f := range files {
		if i > 0 {
			fmt.Fprintln(p.out)
		}
		if _, err := fmt.Fprintf(p.out, "# %s\n%s", f.Path, f.Text); err != nil {
			return err
		}
	}
	return nil
}

// install writes the files and has the service manager take them up. What was written by hand is not written over.
func (p *program) install(ctx context.Context, place servicePlace, files []serviceFile) error {
	if err := place.manager.there(); err != nil {
		return err
	}
	if err := writeServiceFiles(files); err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintln(p.out, "wrote", f.Path)
	}
	if err := place.manager.start(ctx); err != nil {
		return err
	}
	for _, note := range place.manager.notes(ctx) {
		fmt.Fprintln(p.out, note)
	}
	return nil
}

// uninstall takes away what install wrote, and only that.
func (p *program) uninstall(ctx context.Context, place servicePlace) error {
	paths, err := ownServiceFiles(place.paths())
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return hitchpost.Errorf(hitchpost.NotFoundError, "no service of hitchpost is installed for this account").
			Hinted("as root it is the machine's, else your own")
	}
	running := place.manager.there() == nil
	if running {
		if err := place.manager.stop(ctx); err != nil {
			return err
		}
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			return hitchpost.Errorf(hitchpost.FailedError, "remove the service: %w", err)
		}
		fmt.Fprintln(p.out, "removed", path)
	}
	if running {
		if err := place.manager.forget(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintln(p.out, "your sessions go on, and all data stays")
	return nil
}
