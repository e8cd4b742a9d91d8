package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Reserved is the space that Reserve holds, in bytes, and so the size that a file kept with Finish may have without
// taking new space.
const Reserved = 8 << 10

// Replace puts data at path with mode 0600. It leaves the old file, and nothing else, where it fails.
func Replace(path string, data []byte) error {
	name, err := Aside(path, data)
	if err != nil {
		return err
	}
	if err := os.Rename(name, path); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return SyncDir(filepath.Dir(path))
}

// Aside puts data into a new file beside path, with mode 0600, and returns its name, which begins with a dot: a rename
// to path then takes no new space. The data is on the disk before the name can be: a rename that outlived a power loss
// alone would name an empty file. It leaves nothing where it fails.
func Aside(path string, data []byte) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// Finish makes data all that f holds and gives it the name path. It closes f in any case; where it fails, f keeps its
// name.
func Finish(f *os.File, data []byte, path string) error {
	_, err := f.WriteAt(data, 0)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes what was made, renamed or removed in dir durable. Some file systems cannot sync a directory; there the
// change is as good as it gets.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// Reserve makes a file at path that holds the space of a small file to come, so that a disk that fills up later cannot
// lose it: see Finish. It fails with fs.ErrExist where there is a file already, and leaves none where it fails
// otherwise.
func Reserve(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	// Blocks that were never written are not taken yet: a sparse file would hold nothing.
	_, err = f.Write(make([]byte, Reserved))
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// Read reads a whole file of at most limit bytes. A larger one is an error.
func Read(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s holds more than %d bytes", path, limit)
	}
	return data, nil
}
