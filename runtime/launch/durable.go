package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// reserved is the space held for a record from the start of a run, so that a disk that fills up later cannot lose it.
const reserved = 8 << 10

// replace puts data at path so that a reader sees the old file or the new one, also after a power loss.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	if err := finish(f, data, path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// finish writes data at the start of f, makes it durable and gives it the name path. It closes f in any case.
func finish(f *os.File, data []byte, path string) error {
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
	return syncDir(filepath.Dir(path))
}

// syncDir makes a rename in dir durable. Some file systems cannot sync a directory; there the rename is as good as it
// gets.
func syncDir(dir string) error {
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

// openName is the file that holds a run's place on disk between its start and its end.
func openName(record string) string { return record + ".open" }

// reserve takes the space for a record. It fails with fs.ErrExist where the run has been started before.
func reserve(record string) (*os.File, error) {
	if _, err := os.Lstat(record); err == nil {
		return nil, fmt.Errorf("%s: %w", record, os.ErrExist)
	}
	f, err := os.OpenFile(openName(record), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	// Blocks that were never written are not taken yet: a sparse file would hold nothing.
	_, err = f.Write(make([]byte, reserved))
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// bounded reads a whole file of at most limit bytes.
func bounded(path string, limit int64) ([]byte, error) {
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
