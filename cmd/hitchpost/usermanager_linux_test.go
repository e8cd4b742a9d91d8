package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// userManager is a systemd of the test's own, the manager of an account: in namespaces of mounts, processes and control
// groups, below a control group that goes with the test. What it manages is seen from here, in /proc and in that group.
type userManager struct {
	t     *testing.T
	group string
	env   []string
	cmd   *exec.Cmd
	log   *buffer
}

// inManager is what the first process of the namespaces does, with the path of systemd in $1. systemd asks for the
// directory in /run whether the machine was booted with it (sd_booted(3)), and finds its groups where they are always.
const inManager = `mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && mount -t cgroup2 cgroup2 /sys/fs/cgroup || exit
"$1" --user --unit=basic.target & wait`

// manage starts a manager for the units, which are texts by name, on the stack's home and data.
func (s *stack) manage(units map[string]string) *userManager {
	s.t.Helper()
	m := &userManager{t: s.t, group: controlGroup(s.t), log: &buffer{}}
	s.t.Cleanup(m.remove)
	for _, dir := range []string{"run", "units"} {
		must(s.t, os.Mkdir(s.path(dir), 0o700))
	}
	for _, target := range []string{"basic", "shutdown", "exit"} { // what units depend on by themselves
		must(s.t, writeFile(s.path("units/"+target+".target"), "[Unit]\nDescription="+target+"\n"))
	}
	for name, text := range units {
		must(s.t, writeFile(s.path("units/"+name), text))
	}
	m.env = append(s.env, "XDG_RUNTIME_DIR="+s.path("run"), "SYSTEMD_UNIT_PATH="+s.path("units"), "SYSTEMD_LOG_TARGET=console")
	m.cmd = exec.Command("sh", "-c", `echo $$ > "$1" && exec unshare --mount --cgroup --pid --fork --kill-child --mount-proc `+
		`sh -c "$2" sh "$3"`, "sh", filepath.Join(m.group, "cgroup.procs"), inManager, systemdBinary(s.t))
	m.cmd.Env, m.cmd.Stdout, m.cmd.Stderr = m.env, m.log, m.log
	must(s.t, m.cmd.Start())
	state := ""
	eventually(s.t, "systemd runs", func() bool {
		state, _ = m.ctl("is-system-running")
		return state == "running"
	}, func() string {
		return state + "\n" + m.log.String() + "\nrun this test as root, in a container with CAP_SYS_ADMIN and a control group that it may write"
	})
	return m
}

// controlGroup makes a control group below the test's own, which needs the version 2 that systemd is given.
func controlGroup(t *testing.T) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo") // proc_pid_mountinfo(5)
	must(t, err)
	for line := range strings.Lines(string(mounts)) {
		words, kind, _ := strings.Cut(line, " - ")
		if f := strings.Fields(words); len(f) > 4 && strings.HasPrefix(kind, "cgroup2 ") {
			own, err := os.ReadFile("/proc/self/cgroup") // cgroups(7)
			must(t, err)
			_, path, _ := strings.Cut("\n"+string(own), "\n0::")
			path, _, _ = strings.Cut(path, "\n")
			group, err := os.MkdirTemp(filepath.Join(f[4], strings.TrimPrefix(path, f[3])), "hp-")
			if err != nil {
				t.Fatalf("no control group can be made: %v\nrun this test as root, in a container with one of its own", err)
			}
			return group
		}
	}
	t.Fatal("no control groups of version 2 are mounted")
	return ""
}

func systemdBinary(t *testing.T) string {
	t.Helper()
	for _, path := range []string{"/usr/lib/systemd/systemd", "/lib/systemd/systemd"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Fatal("systemd is not there, install it")
	return ""
}

// ctl is systemctl, which the manager answers only where it sees the process that asks.
func (m *userManager) ctl(words ...string) (string, error) {
	first, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", m.cmd.Process.Pid))
	if err != nil || len(first) == 0 {
		return "not yet", err
	}
	cmd := exec.Command("nsenter", slices.Concat([]string{"--target", strings.TrimSpace(string(first)), "--mount", "--pid",
		"systemctl", "--user", "--no-pager"}, words)...)
	cmd.Env = m.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (m *userManager) does(words ...string) {
	m.t.Helper()
	if out, err := m.ctl(words...); err != nil {
		m.t.Fatalf("systemctl %v: %v\n%s\n%s", words, err, out, m.log)
	}
}

// in are the command lines of the processes of a unit, by pid.
func (m *userManager) in(unit string) map[int]string {
	m.t.Helper()
	found := map[int]string{}
	err := filepath.WalkDir(filepath.Join(m.group, "app.slice", unit), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "cgroup.procs" {
			return err
		}
		pids, err := os.ReadFile(path)
		for _, word := range strings.Fields(string(pids)) {
			pid, cerr := strconv.Atoi(word)
			must(m.t, cerr)
			line, rerr := os.ReadFile(filepath.Join("/proc", word, "cmdline"))
			if rerr == nil { // else it has ended
				found[pid] = strings.ReplaceAll(string(line), "\x00", " ")
			}
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.t.Fatal(err)
	}
	return found
}

// only is the process of a unit whose command line has a text in it, and 0 where there is none.
func (m *userManager) only(unit, text string) (pid int) {
	m.t.Helper()
	for p, line := range m.in(unit) {
		if strings.Contains(line, text) {
			if pid != 0 {
				m.t.Fatalf("several processes of %s have %q: %v", unit, text, m.in(unit))
			}
			pid = p
		}
	}
	return pid
}

// remove ends the manager, and with its first process all that it manages.
func (m *userManager) remove() {
	if m.cmd != nil && m.cmd.Process != nil {
		_ = m.cmd.Process.Kill()
		_ = m.cmd.Wait()
	}
	eventually(m.t, "the control group is empty", func() bool {
		var dirs []string
		_ = filepath.WalkDir(m.group, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
		for i := len(dirs) - 1; i >= 0; i-- {
			_ = os.Remove(dirs[i]) // a group is removed as a directory is, but with the files in it
		}
		_, err := os.Stat(m.group)
		return errors.Is(err, fs.ErrNotExist)
	}, func() string { return m.group })
	if m.t.Failed() {
		m.t.Logf("log of systemd:\n%s", m.log)
	}
}
