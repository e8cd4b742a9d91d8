package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"
	"time"
)

// checkSurvival tells whether the sessions would outlive a stop of the service. tmux is a daemon of its own, so only a
// service manager that kills whole control groups can take it along: systemd does, unless the unit says
// KillMode=process or the tmux server is in another unit; systemd.kill(5).
func checkSurvival(ctx context.Context, tmuxPid int) check {
	c := check{Name: "survival", State: checkOK}
	if tmuxPid == 0 {
		c.Detail = "no tmux server runs yet; look again once there are sessions"
		return c
	}
	unit := unitOf(tmuxPid)
	if unit == "" {
		c.Detail = "the tmux server belongs to no systemd service: sessions outlive a stop of hitchpost"
		return c
	}
	if unit == tmuxUnit {
		c.Detail = "the tmux server has a unit of its own: sessions outlive a stop of hitchpost"
		return c
	}
	mode, err := killMode(ctx, unit)
	switch {
	case err != nil:
		c.State = checkWarn
		c.Detail = fmt.Sprintf("the tmux server runs in %s, and systemd does not say how it stops that: %v", unit, err)
		c.Hint = "make sure that the unit has KillMode=process"
	case mode == "process" || mode == "none":
		c.Detail = fmt.Sprintf("the tmux server runs in %s with KillMode=%s: sessions outlive a stop of hitchpost", unit, mode)
	default:
		c.State = checkBad
		c.Detail = fmt.Sprintf("the tmux server runs in %s with KillMode=%s: a stop would kill every session", unit, mode)
		c.Hint = "add KillMode=process to the unit and run: systemctl daemon-reload"
	}
	return c
}

// unitOf is the systemd service that a process belongs to; empty where there is none, also where there is no systemd.
// The line of a process's control group ends in the unit's name; cgroups(7).
func unitOf(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(raw)) {
		if unit := path.Base(strings.TrimSpace(line)); strings.HasSuffix(unit, ".service") {
			return unit
		}
	}
	return ""
}

func killMode(ctx context.Context, unit string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	args := []string{"show", "--property=KillMode", "--value", "--", unit}
	if os.Geteuid() != 0 {
		args = append([]string{"--user"}, args...)
	}
	out, err := exec.CommandContext(ctx, "systemctl", args...).Output()
	return strings.TrimSpace(string(out)), err
}
