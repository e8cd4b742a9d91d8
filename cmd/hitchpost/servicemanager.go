package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hitchpost/hitchpost"
)

// tool runs a program of the system and returns what it printed.
type tool func(ctx context.Context, name string, args ...string) (string, error)

// toolOf runs programs whose complaints go to errs.
func toolOf(errs io.Writer) tool {
	return func(ctx context.Context, name string, args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Stderr = errs
		out, err := cmd.Output()
		if err != nil {
			return "", hitchpost.Errorf(hitchpost.FailedError, "%s %s: %w", name, strings.Join(args, " "), err).
				Hinted("see what it says above")
		}
		return strings.TrimSpace(string(out)), nil
	}
}

// systemd is the manager of the machine, or of one account.
type systemd struct {
	run    tool
	system bool
	user   string
}

// systemctl runs its verbs one after the other.
func (s systemd) systemctl(ctx context.Context, verbs ...[]string) error {
	for _, v := range verbs {
		if !s.system {
			v = append([]string{"--user"}, v...)
		}
		if _, err := s.run(ctx, "systemctl", v...); err != nil {
			return err
		}
	}
	return nil
}

// there looks where sd_booted(3) looks.
func (s systemd) there() error {
	if info, err := os.Stat("/run/systemd/system"); err != nil || !info.IsDir() {
		return hitchpost.Errorf(hitchpost.FailedError, "systemd does not run this machine").
			Hinted("hitchpost service install --print shows the units; have hitchpost serve run by what does")
	}
	return nil
}

func (s systemd) start(ctx context.Context) error {
	return s.systemctl(ctx, []string{"daemon-reload"}, []string{"enable", tmuxUnit, serveUnit},
		[]string{"start", tmuxUnit}, []string{"restart", serveUnit})
}

// stop leaves the unit of the sessions running: it is forgotten when the last of them has ended.
func (s systemd) stop(ctx context.Context) error {
	return s.systemctl(ctx, []string{"disable", "--now", serveUnit}, []string{"disable", tmuxUnit})
}

func (s systemd) forget(ctx context.Context) error {
	return s.systemctl(ctx, []string{"daemon-reload"})
}

func (s systemd) notes(ctx context.Context) []string {
	log := "journalctl -u " + serveUnit
	if !s.system {
		log = "journalctl --user -u " + serveUnit
	}
	notes := []string{"hitchpost runs; its log: " + log}
	if !s.system && !s.lingers(ctx) {
		notes = append(notes, "when you log out, all of it ends; to keep it, run: loginctl enable-linger "+s.user)
	}
	return notes
}

// lingers tells whether the account's services outlive its last login. logind knows an account only while it is logged
// in or lingers, so the mark that it keeps counts too; loginctl(1), enable-linger.
func (s systemd) lingers(ctx context.Context) bool {
	if out, err := s.run(ctx, "loginctl", "show-user", "--property=Linger", "--value", "--", s.user); err == nil {
		return out == "yes"
	}
	_, err := os.Stat(filepath.Join("/var/lib/systemd/linger", s.user))
	return err == nil
}

// launchd is the manager of macOS.
type launchd struct {
	run   tool
	plist string
	uid   int
}

func (l launchd) domain() string {
	if l.uid == 0 {
		return "system"
	}
	return "gui/" + strconv.Itoa(l.uid)
}

func (l launchd) there() error {
	if _, err := exec.LookPath("launchctl"); err != nil {
		return hitchpost.Errorf(hitchpost.FailedError, "launchctl is not there: %w", err).Hinted("this needs macOS")
	}
	return nil
}

func (l launchd) start(ctx context.Context) error {
	_ = l.stop(ctx) // a job that is loaded keeps its old file; none is loaded the first time
	_, err := l.run(ctx, "launchctl", "bootstrap", l.domain(), l.plist)
	return err
}

func (l launchd) stop(ctx context.Context) error {
	if _, err := l.run(ctx, "launchctl", "print", l.domain()+"/"+launchdLabel); err != nil {
		return nil //nolint:nilerr // it is not loaded, so there is nothing to stop
	}
	_, err := l.run(ctx, "launchctl", "bootout", l.domain()+"/"+launchdLabel)
	return err
}

func (l launchd) forget(context.Context) error { return nil }

func (l launchd) notes(context.Context) []string {
	return []string{fmt.Sprintf("hitchpost runs; stop it with: launchctl bootout %s/%s", l.domain(), launchdLabel)}
}
