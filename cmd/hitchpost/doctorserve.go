package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// checkServe tells whether somebody can log in at all. A serve that does not run is no fault of the machine.
func checkServe(dataDir string) check {
	c := check{Name: "serve", State: checkOK}
	pid, err := dataDirHolder(dataDir)
	switch {
	case err != nil:
		return bad(c.Name, err)
	case pid == 0:
		c.State, c.Detail = checkWarn, "not running with this data directory: nobody can log in, sessions go on"
		c.Hint = "start it: hitchpost serve, or the service; or name another directory with --data-dir"
	default:
		c.Detail = fmt.Sprintf("running as process %d", pid)
	}
	return c
}

// dataDirHolder is the process that has the lock of lockDataDir, or 0. It tries the lock only where a process of that
// number is there, so that it is never in the way of a serve that starts after one that ended.
func dataDirHolder(dir string) (int, error) {
	f, err := os.Open(filepath.Join(dir, "lock"))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	raw, err := os.ReadFile(f.Name())
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return 0, nil //nolint:nilerr // what is no number was written by nobody who holds it
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return pid, nil
	}
	return 0, err
}
