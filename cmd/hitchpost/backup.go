package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/durable"
)

func (p *program) backupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "write the store, the host keys and the evidence into one file",
		Long: `Writes the store, the identity and the host keys of this node, exit records, evidence,
tasks and your own presets into one file, also beside a running serve. The file holds private
keys: keep it like one. It appears whole or not at all, and takes the place of an older one
of that name.`,
		Example: `  hitchpost backup /mnt/elsewhere/hitchpost.backup`,
		Args:    oneWord("FILE"),
	}
	read := addFlags(cmd, storeOptions(p.getenv), p.getenv)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		set, err := read()
		if err != nil {
			return err
		}
		return p.backup(cmd.Context(), set, args[0])
	}
	return cmd
}

// oneWord is the Args of a command that takes one word.
func oneWord(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return hitchpost.Errorf(hitchpost.UsageError, "%s takes one word, %s", cmd.CommandPath(), name).
			Hinted("see %s --help", cmd.CommandPath())
	}
}

func (p *program) backup(ctx context.Context, set settings, path string) (err error) {
	if err := somethingToBackUp(set); err != nil {
		return err
	}
	// Beside a running serve this is one more user of the private cluster. The schema stays as it is: a backup before an
	// upgrade is one of the older version.
	db, err := connectDatabase(ctx, set, discard())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var made manifest
	err = writeWhole(path, func(f *os.File) error {
		made, err = writeBackup(ctx, f, set.DataDir, db.Store)
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s holds %s\n", path, made.summary())
	return err
}

// somethingToBackUp tells of a wrong data directory: with a private cluster nothing would be made there but to be backed
// up, and with a database URL the node's identity would be missing.
func somethingToBackUp(set settings) error {
	what := set.DataDir
	if set.DatabaseURL == "" {
		what = filepath.Join(what, "postgres", "data")
	}
	if _, err := os.Stat(what); err != nil {
		return hitchpost.Errorf(hitchpost.NotFoundError, "there is nothing to back up in %s: %w", set.DataDir, err).
			Hinted("name the right one with --data-dir, and a database of its own with --database-url")
	}
	return nil
}

// writeWhole has write fill a new file that gets the name path when it is complete and on disk.
func writeWhole(path string, write func(*os.File) error) error {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return hitchpost.Errorf(hitchpost.UsageError, "%s is not a plain file", path).Hinted("name a file")
	}
	f, err := os.CreateTemp(dir, "."+name+".*") // mode 0600
	if err != nil {
		return hitchpost.Errorf(hitchpost.FailedError, "%s cannot be written: %w", path, err).
			Hinted("name a file in a directory that this account may write to")
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(noSpace(path, err), os.Remove(f.Name()))
	}
	return durable.SyncDir(dir)
}

// writeBackup writes all that a restore needs. The files come first: what a session's end left in a file is taken into
// the store and the file removed, so the other way round it could be missing in both.
func writeBackup(ctx context.Context, f *os.File, dataDir string, db dumpable) (manifest, error) {
	a := newArchive(f)
	if err := a.addFiles(ctx, dataDir); err != nil {
		return manifest{}, err
	}
	at := time.Now().UTC().Truncate(time.Second)
	chunks := 0
	inventory, err := db.Dump(ctx, func(table string, rows []byte) error {
		chunks++
		return a.addBytes(storeMember(table, chunks), rows, at)
	})
	if err != nil {
		return manifest{}, err
	}
	return a.finish(manifest{Format: backupFormat, Version: version, MadeAt: at, Store: inventory})
}
