package host

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// Process is a process of this machine.
type Process struct {
	Pid    int
	Parent int
	// Program is the name of what it runs. Whoever runs it has chosen that: it is not fit to be shown as it is.
	Program string
	Since   time.Time // when it began, to a second, by this machine's clock; zero where the system does not tell
}

// Mark is a variable that processes carry in their environment. One that carries Unless too is not meant.
type Mark struct {
	Name   string
	Unless string // empty: none
}

// Marked returns the processes that carry m with one of the values, by value and in the order of their beginning, from
// one look at the machine. This process and those that it descends from are left out: whoever starts a service from
// within a session hands it that session's mark. Zombies are left out, and so is what ended during the look or may not
// be read by this account.
// An error means that the look is not whole.
func Marked(ctx context.Context, m Mark, values []string) (map[string][]Process, error) {
	pids, err := process.PidsWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	own := lineage(ctx)
	found := map[string][]Process{}
	for _, pid := range pids {
		if err := stopped(ctx); err != nil {
			return nil, err
		}
		p := &process.Process{Pid: pid}
		env, err := p.EnvironWithContext(ctx)
		if err != nil {
			continue // it ended, or is another account's
		}
		value, ok := m.in(env)
		if ok && slices.Contains(values, value) && !slices.Contains(own, pid) {
			if about, ok := describe(ctx, p); ok {
				found[value] = append(found[value], about)
			}
		}
	}
	for _, of := range found {
		slices.SortFunc(of, byAge)
	}
	return found, nil
}

// in is the value of the mark in an environment. Of a name that stands there twice the first counts, as for getenv(3).
func (m Mark) in(env []string) (value string, ok bool) {
	for _, kv := range env {
		name, v, is := strings.Cut(kv, "=")
		switch {
		case !is:
		case m.Unless != "" && name == m.Unless:
			return "", false
		case name == m.Name && !ok:
			value, ok = v, true
		}
	}
	return value, ok
}

// describe is what can be told of p; false where it has ended.
func describe(ctx context.Context, p *process.Process) (Process, bool) {
	parent, err := p.PpidWithContext(ctx)
	if err != nil {
		return Process{}, false
	}
	about := Process{Pid: int(p.Pid), Parent: int(parent)}
	if about.Program, err = p.NameWithContext(ctx); err != nil {
		return Process{}, false
	}
	if ms, err := p.CreateTimeWithContext(ctx); err == nil && ms > 0 {
		about.Since = time.UnixMilli(ms).UTC().Truncate(time.Second)
	}
	return about, true
}

// lineage is this process and those that it descends from.
func lineage(ctx context.Context) []int32 {
	var pids []int32
	for pid := int32(os.Getpid()); pid > 0 && !slices.Contains(pids, pid); {
		pids = append(pids, pid)
		parent, err := (&process.Process{Pid: pid}).PpidWithContext(ctx)
		if err != nil {
			break
		}
		pid = parent
	}
	return pids
}
