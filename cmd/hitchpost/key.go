package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd"
	"github.com/hitchpost/hitchpost/sshd/command"
	"github.com/hitchpost/hitchpost/store"
)

// keyCommand is the verb key of command mode, for whoever may use the store on this machine: as admin, beside a
// running serve or without one.
func (p *program) keyCommand() *cobra.Command {
	opts := storeOptions(p.getenv)
	cmd := &cobra.Command{
		Use:   "key add|ls|revoke",
		Short: "say who may come in",
		Example: `  hitchpost key ls
  hitchpost key add --actor ada --role operator - < ada.pub
  hitchpost key revoke SHA256:…`,
	}
	p.runsKeys(cmd, opts, nil)
	verb, _, err := command.Tree().Find([]string{"key"})
	if err != nil {
		return cmd // it works without: those below tell people and shells of what there is
	}
	for _, verb := range verb.Commands() {
		below := &cobra.Command{
			Use: verb.Use, Short: verb.Short, Long: verb.Long, Example: "  hitchpost " + verb.Example,
		}
		below.Flags().AddFlagSet(verb.Flags())
		p.runsKeys(below, opts, []string{verb.Name()})
		cmd.AddCommand(below)
	}
	return cmd
}

// runsKeys has cmd run the verb key with those words before its own.
func (p *program) runsKeys(cmd *cobra.Command, opts []option, before []string) {
	cmd.DisableFlagParsing = true // the words after our own flags are the verb's
	cmd.Args = cobra.ArbitraryArgs
	read := addFlags(cmd, opts, p.getenv)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		own, words := splitOwnFlags(opts, args)
		if wantsHelp(words) {
			return cmd.Help()
		}
		if err := cmd.Flags().Parse(own); err != nil {
			return usageError{err}
		}
		set, err := read()
		if err != nil {
			return err
		}
		return p.key(cmd.Context(), set, slices.Concat(before, words))
	}
}

// splitOwnFlags takes the flags of opts out of args.
func splitOwnFlags(opts []option, args []string) (own, words []string) {
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		mine := false
		for _, o := range opts {
			mine = mine || strings.HasPrefix(args[i], "--") && name == o.flag
		}
		switch {
		case !mine:
			words = append(words, args[i])
		case joined || i+1 == len(args):
			own = append(own, args[i])
		default:
			own = append(own, args[i], args[i+1])
			i++
		}
	}
	return own, words
}

// key runs the verb with those words. Nothing is opened, and no cluster is made, for words that mean nothing.
func (p *program) key(ctx context.Context, set settings, words []string) error {
	var db *database
	keys := keyService{open: func(ctx context.Context, first bool) (*store.Store, error) {
		if _, err := os.Stat(set.DataDir); errors.Is(err, os.ErrNotExist) && set.DatabaseURL == "" && !first {
			return nil, hitchpost.Errorf(hitchpost.NotFoundError, "there is no data directory %s", set.DataDir).
				Hinted("give the one that serve uses with --data-dir")
		}
		var err error
		if db, err = openDatabase(ctx, set, discard()); err != nil {
			return nil, err
		}
		return db.Store, nil
	}}
	err := p.keyVerb(ctx, keys, words)
	if db != nil {
		err = errors.Join(err, db.Close())
	}
	return err
}

func wantsHelp(words []string) bool {
	return slices.Contains(words, "--help") || slices.Contains(words, "-h")
}

func (p *program) keyVerb(ctx context.Context, keys keyService, words []string) error {
	account, err := p.account()
	if err != nil {
		return err
	}
	status := command.Run(ctx, command.Invocation{
		Words:   append([]string{"key"}, words...),
		Program: "hitchpost",
		Actor:   hitchpost.Actor{Name: account.User, Role: hitchpost.Admin},
		Service: keys, Stdin: p.in, Stdout: p.out, Stderr: p.err, Version: version, ParseKey: sshd.ParseKey,
	})
	if status != 0 {
		return exitStatus(status)
	}
	return nil
}

// exitStatus is an error that has been told already.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// keyService is as much of the service as the verb key needs, straight on the store: there may be no service to ask.
type keyService struct {
	command.Service // nil: only the verb key is run
	// open is called once. With first it may make what is not there.
	open func(ctx context.Context, first bool) (*store.Store, error)
}

func (k keyService) Keys(ctx context.Context, _ hitchpost.Actor) ([]hitchpost.Key, error) {
	s, err := k.open(ctx, false)
	if err != nil {
		return nil, err
	}
	return s.Keys(ctx)
}

func (k keyService) AddKey(ctx context.Context, a hitchpost.Actor, key hitchpost.Key) (hitchpost.Key, error) {
	s, err := k.open(ctx, true)
	if err != nil {
		return hitchpost.Key{}, err
	}
	return s.AddKey(ctx, key, store.By{Actor: a.Name, Source: hitchpost.FromPerson, Reason: "added on the machine"})
}

func (k keyService) RevokeKey(ctx context.Context, a hitchpost.Actor, fingerprint string) (hitchpost.Key, error) {
	s, err := k.open(ctx, false)
	if err != nil {
		return hitchpost.Key{}, err
	}
	return s.RevokeKey(ctx, fingerprint, store.By{
		Actor: a.Name, Source: hitchpost.FromPerson, Reason: "revoked on the machine",
	})
}

func (k keyService) RevokeActor(ctx context.Context, a hitchpost.Actor, name string) ([]hitchpost.Key, error) {
	s, err := k.open(ctx, false)
	if err != nil {
		return nil, err
	}
	return s.RevokeActor(ctx, name, store.By{
		Actor: a.Name, Source: hitchpost.FromPerson, Reason: "actor revoked on the machine",
	})
}

// importKeys lets the account's own keys in as admin where the store holds no key at all, so that a first start needs
// no preparation. What cannot be used is named in the log and left out.
func (p *program) importKeys(ctx context.Context, s *store.Store, log *slog.Logger) error {
	known, err := s.Keys(ctx)
	if err != nil || len(known) > 0 {
		return err
	}
	account, err := p.account()
	if err != nil {
		return err
	}
	imported := 0
	for _, path := range ownKeyFiles(account.Home) {
		for _, line := range keyLines(path, log) {
			key, err := sshd.ParseKey(line)
			if err != nil {
				log.Warn("key not imported", "file", path, "err", err)
				continue
			}
			key.Actor, key.Role = account.User, hitchpost.Admin
			if _, err := s.AddKey(ctx, key, store.By{Reason: "imported at the first start"}); err != nil {
				if hitchpost.KindOf(err) == hitchpost.ConflictError {
					continue // the same key stands in two files
				}
				return err
			}
			imported++
			log.Info("key imported as admin", "file", path, "fingerprint", key.Fingerprint, "comment", key.Comment)
		}
	}
	if imported == 0 {
		log.Warn("no key lets anybody in yet: make one with ssh-keygen, then run hitchpost key add", "home", account.Home)
	}
	return nil
}

func ownKeyFiles(home string) []string {
	files := []string{filepath.Join(home, ".ssh", "authorized_keys")}
	own, err := filepath.Glob(filepath.Join(home, ".ssh", "id_*.pub"))
	if err != nil { // a home with a broken pattern in its name
		return files
	}
	return append(files, own...)
}

// keyLines are the lines of a key file that hold keys; sshd(8), AUTHORIZED_KEYS FILE FORMAT.
func keyLines(path string, log *slog.Logger) []string {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var raw []byte
	if err == nil {
		raw, err = io.ReadAll(io.LimitReader(f, 1<<20))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		log.Warn("keys not read", "file", path, "err", err)
		return nil
	}
	var out []string
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}
