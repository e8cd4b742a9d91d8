package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

func (p *program) restoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "bring back what backup wrote",
		Long: `Brings back the store, the identity and the host keys of this node, exit records, evidence
and tasks from a file that backup wrote, of this version or an older one. The service must be
stopped. Sessions that ran at the time of the backup are RECOVERABLE at the next serve, and
those that still run and that the backup does not know are taken in. Nothing is changed
unless the whole file is sound; a restore that was interrupted is finished by another one.`,
		Example: `  hitchpost restore /mnt/elsewhere/hitchpost.backup`,
		Args:    oneWord("FILE"),
	}
	force := cmd.Flags().Bool("force", false, "replace what the store and the data directory hold")
	read := addFlags(cmd, storeOptions(p.getenv), p.getenv)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		set, err := read()
		if err != nil {
			return err
		}
		return p.restore(cmd.Context(), set, args[0], *force)
	}
	return cmd
}

// restore reads the file twice: first to see that it is sound, then to bring back what it holds. Files are laid beside
// their places, rows are in a transaction, and when both are complete the transaction is committed and the files are
// moved to their places. Between those two a mark in the data directory keeps serve from starting with half of it.
func (p *program) restore(ctx context.Context, set settings, path string, force bool) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return hitchpost.Errorf(hitchpost.NotFoundError, "the backup cannot be read: %w", err).
			Hinted("name a file that backup wrote")
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	m, err := readBackup(ctx, f, nil)
	if err != nil {
		return err
	}
	if err := makeDataDir(set.DataDir); err != nil {
		return err
	}
	lock, err := lockDataDir(ctx, set.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	db, err := connectDatabase(ctx, set, discard())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	again := restoreUnfinished(set.DataDir) != nil
	if err := p.bringBack(ctx, f, m, db.Store, staging{set.DataDir, force || again, again}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "restored %s\n", m.summary())
	return err
}

func (p *program) bringBack(ctx context.Context, f *os.File, m manifest, db *store.Store, files staging) error {
	account, err := p.account()
	if err != nil {
		return err
	}
	if err := files.begin(); err != nil {
		return err
	}
	marked := false
	err = db.Restore(ctx, store.Restoring{
		Inventory: m.Store,
		Replace:   files.replace,
		By: store.By{Actor: account.User, Source: hitchpost.FromPerson,
			Reason: "from a backup of " + m.MadeAt.Format("2006-01-02 15:04:05Z")},
		Feed: func(load func(string, io.Reader) error) error {
			_, err := readBackup(ctx, f, func(h *tar.Header, r io.Reader) error {
				if name, ok := fileOf(h.Name); ok {
					return files.lay(name, h, r)
				}
				if table, ok := tableOf(h.Name); ok {
					return load(table, r)
				}
				return nil // of a later version, which this format allows
			})
			return err
		},
		Ready: func() error {
			if err := files.ready(); err != nil {
				return err
			}
			marked = true
			return nil
		},
	})
	switch {
	case errors.Is(err, store.ErrNotEmpty):
		err = hitchpost.Errorf(hitchpost.ConflictError, "%w", store.ErrNotEmpty).
			Hinted("restore into an empty data directory and database, or replace what is there with --force")
	case err != nil && marked:
		// Whether the commit was made is not known, so the mark stays: another run finishes either way.
		return hitchpost.Errorf(hitchpost.UnavailableError, "the restore may be half done: %w", err).Hinted("run it again")
	case err == nil:
		return files.finish()
	}
	return errors.Join(err, files.drop())
}
