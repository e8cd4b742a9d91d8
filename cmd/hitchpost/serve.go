package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"
	"golang.org/x/sync/errgroup"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/hostkeys"
	"github.com/hitchpost/hitchpost/runtime"
	"github.com/hitchpost/hitchpost/runtime/tmux"
	"github.com/hitchpost/hitchpost/sshd"
)

func (p *program) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "let people in and keep their sessions",
		Example: `  hitchpost serve
  hitchpost serve --listen 0.0.0.0:2222 --database-url postgres://hitchpost@db/hitchpost`,
		Args: noWords,
	}
	read := addFlags(cmd, serveOptions(p.getenv), p.getenv)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		set, err := read()
		if err != nil {
			return err
		}
		return p.serve(cmd.Context(), set)
	}
	return cmd
}

// serve runs the whole server until ctx ends. Sessions live on after it.
func (p *program) serve(ctx context.Context, set settings) (err error) {
	// Without this, a Go program dies of SIGPIPE where nobody reads its log any more, such as a tee that Ctrl-C ended too.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	log := p.logger(set.LogFormat)
	detach, err := sshd.ParseDetachKey(set.DetachKey)
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
	if err := restoreUnfinished(set.DataDir); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", set.Listen)
	if err != nil {
		return hitchpost.Errorf(hitchpost.FailedError, "cannot listen at %s: %w", set.Listen, err).
			Hinted("stop what uses the port, or give another with --listen")
	}
	defer func() { _ = listener.Close() }() // mostly closed already
	db, err := openDatabase(ctx, set, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	signers, err := hostKeys(set, log)
	if err != nil {
		return err
	}
	if set.ImportKeys {
		if err := p.importKeys(ctx, db.Store, log); err != nil {
			return err
		}
	}
	server, err := tmux.Open(ctx, tmux.Config{Dir: filepath.Join(set.DataDir, "tmux"), Log: log, Patient: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	service, err := p.newService(ctx, set, db, server, log)
	if err != nil {
		return err
	}
	door, err := newDoor(service, signers, detach, log)
	if err != nil {
		return err
	}
	if p.getenv("GOMAXPROCS") == "" { // else somebody has chosen
		defer fitProcessors()()
	}
	return runAll(ctx, db, service, door, listener, log)
}

// runAll serves until ctx ends or a part fails, then tells everyone attached and stops the parts in order: people
// first, then the service, so that what their leaving changes is still written down.
func runAll(
	ctx context.Context, db *database, service *runtime.Service, door *sshd.Server, listener net.Listener, log *slog.Logger,
) error {
	running, stopService := context.WithCancel(context.WithoutCancel(ctx))
	defer stopService()
	g, failed := errgroup.WithContext(ctx)
	g.Go(func() error { return service.Run(running) })
	g.Go(func() error {
		select {
		case <-service.Ready():
		case <-failed.Done():
			return listener.Close()
		}
		log.Info("listening", "address", listener.Addr().String())
		return door.Serve(context.WithoutCancel(ctx), listener)
	})
	g.Go(func() error {
		db.keep(failed, log)
		return nil
	})
	g.Go(func() error {
		recheck(failed, service, door)
		return nil
	})
	g.Go(func() error {
		<-failed.Done()
		log.Info("stopping")
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err := door.Shutdown(limited)
		stopService()
		return err
	})
	return g.Wait()
}

// recheckEvery is how often the keys of those who are in are looked at although nothing told of a change: one may have
// expired, and a notice may have been missed.
const recheckEvery = 30 * time.Second

// recheck shows out whoever's key is no longer good, until ctx ends.
func recheck(ctx context.Context, service *runtime.Service, door *sshd.Server) {
	t := time.NewTicker(recheckEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-service.KeysChanged():
		case <-t.C:
		}
		door.Recheck()
	}
}

func (p *program) newService(
	ctx context.Context, set settings, db *database, server *tmux.Server, log *slog.Logger,
) (*runtime.Service, error) {
	id, err := nodeID(set.DataDir)
	if err != nil {
		return nil, err
	}
	name, err := nodeName()
	if err != nil {
		return nil, err
	}
	node, err := db.Node(ctx, id, name)
	if err != nil {
		return nil, err
	}
	account, err := p.account()
	if err != nil {
		return nil, err
	}
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return runtime.New(ctx, runtime.Config{
		Store: db.Store, Tmux: server, Node: node, DataDir: set.DataDir, Wrapper: []string{binary, wrapperVerb},
		Runner: []string{binary, runnerVerb}, TaskRetention: set.TaskRetention, TaskSpace: set.TaskSpace,
		Account: account, Version: version, Log: log, ReconcileEvery: set.ReconcileEvery,
		EventRetention: set.EventRetention, ReplayLines: set.ReplayLines,
	})
}

// account is whose sessions this node runs: the one that the service runs as. Its home is $HOME.
func (p *program) account() (runtime.Account, error) {
	a := runtime.Account{Home: p.getenv("HOME"), Shell: p.getenv("SHELL"), Getenv: p.getenv}
	u, err := user.Current()
	if err != nil {
		return a, hitchpost.Errorf(hitchpost.FailedError, "this account is not known to the system: %w", err).
			Hinted("run hitchpost as an account of /etc/passwd")
	}
	a.User = u.Username
	if !filepath.IsAbs(a.Home) {
		a.Home = u.HomeDir
	}
	if !filepath.IsAbs(a.Shell) {
		a.Shell = "/bin/sh"
	}
	return a, nil
}

// hostKeys are the host keys, made at the first start; their fingerprints go to the log, to be compared with what a
// client shows at its first connection.
func hostKeys(set settings, log *slog.Logger) ([]ssh.Signer, error) {
	keys, err := hostkeys.Ensure(filepath.Join(set.DataDir, "hostkeys"))
	if err != nil {
		return nil, err
	}
	first := !slices.ContainsFunc(keys, func(k hostkeys.Key) bool { return !k.Made })
	for _, k := range keys {
		if k.Made && !first {
			log.Warn("host key was missing and is made anew: clients that knew the old one will be warned", "file", k.Path)
		}
		log.Info("host key", "type", k.Type, "fingerprint", k.Fingerprint)
	}
	return hostkeys.Signers(keys), nil
}
