package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/hostkeys"
	"github.com/hitchpost/hitchpost/runtime/tmux"
	"github.com/hitchpost/hitchpost/store"
	"github.com/hitchpost/hitchpost/store/local"
)

// The states of a check.
const (
	checkOK   = "ok"
	checkWarn = "warn" // works now, and something is to be known or done
	checkBad  = "bad"  // does not work
)

// check is one thing that doctor looked at.
type check struct {
	Name   string
	State  string
	Detail string
	Hint   string // what to do; empty where there is nothing to do
}

// MarshalJSON shows a missing hint as null.
func (c check) MarshalJSON() ([]byte, error) {
	doc := struct {
		Name   string  `json:"name"`
		State  string  `json:"state"`
		Detail string  `json:"detail"`
		Hint   *string `json:"hint"`
	}{c.Name, c.State, c.Detail, nil}
	if c.Hint != "" {
		doc.Hint = &c.Hint
	}
	return json.Marshal(doc)
}

// diagnosis is all that doctor found, as --json prints it.
type diagnosis struct {
	Version    int      `json:"version"`
	OK         bool     `json:"ok"`
	DataDir    string   `json:"data_dir"`
	TmuxSocket string   `json:"tmux_socket"`
	HostKeys   []string `json:"host_keys"` // fingerprints
	Checks     []check  `json:"checks"`
}

func (p *program) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "look at what hitchpost needs on this machine, and say what to do",
		Example: "  hitchpost doctor --json",
		Args:    noWords,
	}
	read := addFlags(cmd, storeOptions(p.getenv), p.getenv)
	asJSON := cmd.Flags().Bool("json", false, "print one JSON document")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		set, err := read()
		if err != nil {
			return err
		}
		d := diagnose(cmd.Context(), set)
		if account, err := p.account(); err != nil {
			d.add(bad("claude", err))
		} else {
			d.add(checkClaude(cmd.Context(), account))
		}
		if *asJSON {
			err = json.NewEncoder(p.out).Encode(d)
		} else {
			err = d.print(p.out)
		}
		if err == nil && !d.OK {
			err = exitStatus(1)
		}
		return err
	}
	return cmd
}

// diagnose changes nothing on the machine.
func diagnose(ctx context.Context, set settings) diagnosis {
	d := diagnosis{Version: 1, OK: true, DataDir: set.DataDir, HostKeys: []string{}}
	report, err := tmux.Inspect(ctx, tmux.Config{Dir: filepath.Join(set.DataDir, "tmux")})
	d.TmuxSocket = report.Socket
	keys, keysCheck := checkHostKeys(set)
	d.HostKeys = append(d.HostKeys, keys...) // an empty list, not null
	d.Checks = []check{
		checkDataDir(set), checkServe(set.DataDir), checkTmux(report, err), checkSurvival(ctx, report.Pid),
		checkPostgreSQL(ctx, set), keysCheck,
	}
	for _, c := range d.Checks {
		d.OK = d.OK && c.State != checkBad
	}
	return d
}

func (d *diagnosis) add(c check) {
	d.Checks = append(d.Checks, c)
	d.OK = d.OK && c.State != checkBad
}

func (d *diagnosis) print(w io.Writer) error {
	var errs []error
	for _, c := range d.Checks {
		_, err := fmt.Fprintf(w, "%-4s  %-14s  %s\n", c.State, c.Name, c.Detail)
		if errs = append(errs, err); c.Hint != "" {
			_, err = fmt.Fprintf(w, "%-4s  %-14s  -> %s\n", "", "", c.Hint)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// bad is a check that failed with err, whose hint it shows where it has one.
func bad(name string, err error) check {
	c := check{Name: name, State: checkBad, Detail: err.Error()}
	var told *hitchpost.Error
	if errors.As(err, &told) {
		c.Detail, c.Hint = told.Message, told.Hint
	}
	return c
}

func checkDataDir(set settings) check {
	c := check{Name: "data directory", State: checkOK, Detail: set.DataDir}
	info, err := os.Stat(set.DataDir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		c.Detail += ", made at the first start"
	case err != nil:
		return bad(c.Name, err)
	case !info.IsDir():
		c.State, c.Detail, c.Hint = checkBad, set.DataDir+" is not a directory", "move it away, or give another with --data-dir"
	case info.Mode().Perm()&0o066 != 0:
		c.State, c.Detail = checkWarn, fmt.Sprintf("%s is open to others, mode %04o", set.DataDir, info.Mode().Perm())
		c.Hint = "the next start of serve closes it"
	}
	return c
}

func checkTmux(r tmux.Report, err error) check {
	if err != nil {
		return bad("tmux", err)
	}
	c := check{Name: "tmux", State: checkOK, Detail: fmt.Sprintf("%s at %s, socket %s", r.Version, r.Binary, r.Socket)}
	if r.Pid != 0 {
		c.Detail += fmt.Sprintf(", server running as process %d", r.Pid)
	}
	return c
}

func checkPostgreSQL(ctx context.Context, set settings) check {
	const name = "postgresql"
	if set.DatabaseURL != "" {
		s, err := store.Open(ctx, set.DatabaseURL, discard())
		if err != nil {
			return bad(name, err)
		}
		defer s.Close()
		if err := s.Ping(ctx); err != nil {
			return bad(name, err)
		}
		return check{Name: name, State: checkOK, Detail: "the database at the given URL answers"}
	}
	found, err := local.Find(ctx)
	if err != nil {
		return bad(name, err)
	}
	return check{Name: name, State: checkOK, Detail: fmt.Sprintf("%s at %s, for a private cluster", found.Version, found.Dir)}
}

func checkHostKeys(set settings) ([]string, check) {
	const name = "host keys"
	found, err := hostkeys.Load(filepath.Join(set.DataDir, "hostkeys"))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, check{Name: name, State: checkOK, Detail: "none yet, made at the first start"}
	case err != nil:
		return nil, bad(name, err)
	}
	c := check{Name: name, State: checkOK}
	var prints []string
	for i, k := range found {
		if i > 0 {
			c.Detail += ", "
		}
		c.Detail += k.Type + " " + k.Fingerprint
		prints = append(prints, k.Fingerprint)
	}
	return prints, c
}
