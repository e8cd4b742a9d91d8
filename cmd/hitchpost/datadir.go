package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/durable"
)

// makeDataDir makes the directory that holds all state of this node. It is private to the account; as root others may
// pass through it, since PostgreSQL refuses to run as root and its account must reach its own directory below.
func makeDataDir(dir string) error {
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711
	}
	if err := makeDirectory(dir, mode); err != nil {
		return hitchpost.Errorf(hitchpost.FailedError, "the data directory cannot be made: %w", err).
			Hinted("give another with --data-dir")
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at the data directory: %w", err)
	}
	if loose := info.Mode().Perm() &^ mode; loose != 0 {
		if err := os.Chmod(dir, info.Mode().Perm()&mode); err != nil {
			return hitchpost.Errorf(hitchpost.FailedError, "the data directory %s is open to others: %w", dir, err).
				Hinted("chmod %o %s", mode, dir)
		}
	}
	return nil
}

// makeDirectory makes dir and those on the way to it that are missing, with this mode whatever the umask: that of root
// often keeps others out, and PostgreSQL's account with them.
func makeDirectory(dir string, mode os.FileMode) error {
	err := os.Mkdir(dir, mode)
	if errors.Is(err, os.ErrNotExist) {
		if err := makeDirectory(filepath.Dir(dir), mode); err != nil {
			return err
		}
		err = os.Mkdir(dir, mode)
	}
	if errors.Is(err, os.ErrExist) {
		return os.MkdirAll(dir, mode) // which makes nothing, and tells where it is no directory
	}
	if err != nil {
		return err
	}
	return os.Chmod(dir, mode)
}

// lockDataDir takes the one lock of a data directory. It is given back when the file is closed, so also when the
// process is killed; the file is never removed, since a second lock could then be taken on a new one.
func lockDataDir(ctx context.Context, dir string) (*os.File, error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, hitchpost.Errorf(hitchpost.FailedError, "the data directory cannot be used: %w", err).
			Hinted("check that this account may write to %s, or give another with --data-dir", dir)
	}
	if err := lock(ctx, f); err != nil {
		holder, _ := os.ReadFile(path)
		err = hitchpost.Errorf(hitchpost.ConflictError, "the data directory %s is in use by process %s", dir,
			strings.TrimSpace(string(holder))).Hinted("stop that one, or give another with --data-dir")
		return nil, errors.Join(err, f.Close())
	}
	// Written before it is cut: so it takes no space that it has not had, and a full disk keeps nobody from starting.
	mark := strconv.Itoa(os.Getpid()) + "\n"
	_, err = f.WriteAt([]byte(mark), 0)
	if err = errors.Join(err, f.Truncate(int64(len(mark)))); err != nil {
		return nil, errors.Join(fmt.Errorf("mark the data directory: %w", noSpace(dir, err)), f.Close())
	}
	return f, nil
}

// lockPatience is how long the lock is asked for. One that was killed may leave it for a moment to a child that it was
// just about to start, and doctor takes it to see whether it is free.
const lockPatience = 2 * time.Second

func lock(ctx context.Context, f *os.File) error {
	for end := time.Now().Add(lockPatience); ; {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// nodeID is the identity of this node, made once and kept in the data directory.
func nodeID(dir string) (string, error) {
	path := filepath.Join(dir, "node-id")
	raw, err := os.ReadFile(path)
	if err == nil {
		id, err := uuid.Parse(strings.TrimSpace(string(raw)))
		if err != nil {
			return "", hitchpost.Errorf(hitchpost.FailedError, "%s does not hold a node id", path).
				Hinted("restore it from a backup, or remove it to become a new node")
		}
		return id.String(), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read the node id: %w", err)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make a node id: %w", err)
	}
	if err := durable.Replace(path, []byte(id.String()+"\n")); err != nil {
		return "", fmt.Errorf("keep the node id: %w", err)
	}
	return id.String(), nil
}

// nodeName is the short name of this machine, as people see it.
func nodeName() (string, error) {
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("read the machine's name: %w", err)
	}
	short, _, _ := strings.Cut(name, ".")
	return short, nil
}
