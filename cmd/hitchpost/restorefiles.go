package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/durable"
)

// staging is where the files of a restore lie until all of them are there, in the data directory itself, so that a
// rename brings each to its place.
type staging struct {
	dataDir string
	replace bool // the identity and the host keys that are there may be others
	again   bool // an interrupted run has left its mark
}

func (s staging) dir() string { return filepath.Join(s.dataDir, "restore.new") }

// unfinishedMark is the file that is there from just before the rows of a restore are committed until its files are in
// their places.
const unfinishedMark = "restore-unfinished"

// restoreUnfinished tells that a restore into dataDir was interrupted when it could neither be undone nor was complete.
func restoreUnfinished(dataDir string) error {
	_, err := os.Lstat(filepath.Join(dataDir, unfinishedMark))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return hitchpost.Errorf(hitchpost.ConflictError, "a restore into %s was not finished", dataDir).
		Hinted("run hitchpost restore again with the same file")
}

// begin makes room, in place of what an interrupted run has left.
func (s staging) begin() error {
	if err := s.drop(); err != nil {
		return err
	}
	return os.Mkdir(s.dir(), 0o700)
}

// drop removes what was laid.
func (s staging) drop() error { return os.RemoveAll(s.dir()) }

// lay writes one file of the backup, down to the disk.
func (s staging) lay(name string, h *tar.Header, r io.Reader) error {
	local := filepath.FromSlash(name)
	top, _, _ := strings.Cut(name, "/")
	if !filepath.IsLocal(local) || !slices.Contains(backedUp(), top) {
		return hitchpost.Errorf(hitchpost.FailedError, "the backup holds the file %q, which has no place", name).
			Hinted("use another backup; nothing was changed")
	}
	path := filepath.Join(s.dir(), local)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, h.FileInfo().Mode().Perm()&0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close(), os.Chtimes(path, h.ModTime, h.ModTime)); err != nil {
		return noSpace(s.dataDir, err)
	}
	if !s.replace {
		return s.sameIdentity(local)
	}
	return nil
}

// sameIdentity refuses to make another node of this one by the way: clients would warn of a host key that has changed.
func (s staging) sameIdentity(name string) error {
	if top, _, _ := strings.Cut(name, "/"); top != "node-id" && top != "hostkeys" {
		return nil
	}
	have, err := os.ReadFile(filepath.Join(s.dataDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	want, err := os.ReadFile(filepath.Join(s.dir(), name))
	if err != nil || bytes.Equal(have, want) {
		return err
	}
	return hitchpost.Errorf(hitchpost.ConflictError, "%s is there already and is another one", filepath.Join(s.dataDir, name)).
		Hinted("restore into an empty data directory, or replace what is there with --force")
}

// ready makes what was laid durable, and the mark.
func (s staging) ready() error {
	err := filepath.WalkDir(s.dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return durable.SyncDir(path)
	})
	if err != nil {
		return err
	}
	mark := filepath.Join(s.dataDir, unfinishedMark)
	err = durable.Replace(mark, []byte("see hitchpost restore --help\n"))
	if err != nil && !s.again {
		err = errors.Join(err, os.RemoveAll(mark)) // nothing was begun
	}
	return err
}

// finish moves each file to its place and removes the mark. Files that the backup does not know stay: they may be those
// of sessions that still run.
func (s staging) finish() error {
	var touched []string
	err := filepath.WalkDir(s.dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.dir(), path)
		if err != nil {
			return err
		}
		to := filepath.Join(s.dataDir, name)
		if !d.IsDir() {
			return os.Rename(path, to)
		}
		if filepath.Dir(name) == tasksDir {
			if err := moveTask(path, to); err != nil {
				return err
			}
			return fs.SkipDir
		}
		touched = append(touched, to)
		if err := os.Mkdir(to, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
	for _, dir := range touched {
		err = errors.Join(err, durable.SyncDir(dir))
	}
	if err == nil {
		err = os.Remove(filepath.Join(s.dataDir, unfinishedMark))
	}
	if err = errors.Join(err, durable.SyncDir(s.dataDir)); err != nil {
		return hitchpost.Errorf(hitchpost.FailedError, "the store is restored and not every file: %w", err).
			Hinted("see to that and run it again")
	}
	return s.drop()
}

// tasksDir is where the folders of tasks lie in the data directory.
const tasksDir = "tasks"

// moveTask brings the folder of a task to its place, at once. One that is there stays as it is: it is of the same task
// and no older than the backup, and its runner may be at work in it.
func moveTask(from, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(from, to)
}
