package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

// dumpable is as much of the store as a backup needs.
type dumpable interface {
	Dump(ctx context.Context, put func(table string, rows []byte) error) (store.Inventory, error)
}

// archive is a backup that is being written.
type archive struct {
	zip     *gzip.Writer
	tar     *tar.Writer
	members []member
}

func newArchive(w io.Writer) *archive {
	z := gzip.NewWriter(w)
	return &archive{zip: z, tar: tar.NewWriter(z)}
}

func (a *archive) add(h tar.Header, r io.Reader) error {
	h.Typeflag, h.Format = tar.TypeReg, tar.FormatPAX
	if err := a.tar.WriteHeader(&h); err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(a.tar, sum), io.LimitReader(r, h.Size))
	if err != nil {
		return fmt.Errorf("write %s into the backup: %w", h.Name, err)
	}
	if n < h.Size {
		return hitchpost.Errorf(hitchpost.FailedError, "%s became shorter while it was read", h.Name).Hinted("try again")
	}
	a.members = append(a.members, member{h.Name, h.Size, hex.EncodeToString(sum.Sum(nil))})
	return nil
}

func (a *archive) addBytes(name string, data []byte, at time.Time) error {
	return a.add(tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), ModTime: at}, bytes.NewReader(data))
}

// addFiles adds what belongs to a backup of the data directory. Others may write there meanwhile: a file that goes before
// it is read is left out, and of one that grows what was there at first is taken.
func (a *archive) addFiles(ctx context.Context, dataDir string) error {
	for _, top := range backedUp() {
		err := filepath.WalkDir(filepath.Join(dataDir, top), func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case d.IsDir() && unfinished(d.Name()):
				return fs.SkipDir // of a task that is made or removed just now
			case !d.Type().IsRegular() || unfinished(d.Name()):
				return ctx.Err()
			}
			name, err := filepath.Rel(dataDir, path)
			if err != nil {
				return err
			}
			return errors.Join(a.addFile(path, filepath.ToSlash(name)), ctx.Err())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unfinished reports whether a file is one that somebody is about to write: the names of such begin with a dot, and the
// place that a session's exit record will take ends in .place before the program runs and in .open while it does.
func unfinished(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".open") || strings.HasSuffix(name, ".place")
}

func (a *archive) addFile(path, name string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return a.add(tar.Header{Name: fileMember(name), Mode: int64(info.Mode().Perm()), Size: info.Size(),
		ModTime: info.ModTime().Truncate(time.Second)}, f)
}

// finish adds the manifest, completed with the list of members, and ends the archive.
func (a *archive) finish(m manifest) (manifest, error) {
	m.Members = a.members
	text, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = a.addBytes(manifestMember, append(text, '\n'), m.MadeAt)
	}
	if err == nil {
		err = a.tar.Close()
	}
	if err == nil {
		err = a.zip.Close()
	}
	return m, err
}

// noSpace says plainly that a disk is full.
func noSpace(path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return hitchpost.Errorf(hitchpost.FailedError, "the disk of %s is full: %w", path, err).Hinted("free space and try again")
	}
	return err
}
