package tmux

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

//go:embed tmux.conf
var settings string

// maxSocketPath is what every system takes as a socket's path (104 bytes on macOS), with room for tmux's ".lock".
const maxSocketPath = 96

// The socket, and the file that remembers its directory where that is not the server's own.
const (
	socketName = "tmux.sock"
	socketMemo = "socket-dir"
)

// layout is where the files of a server lie.
type layout struct {
	dir    string
	socket string
}

func (l layout) conf() string    { return filepath.Join(l.dir, "tmux.conf") }
func (l layout) lock() string    { return filepath.Join(l.dir, "lock") }
func (l layout) pidFile() string { return filepath.Join(l.dir, "pid") }

// buffer is the file through which tmux hands over the buffer called name.
func (l layout) buffer(name string) string { return filepath.Join(l.dir, bufferPrefix+name) }

const bufferPrefix = "buffer-"

// prepare makes dir, writes the settings and finds the place of the socket.
func prepare(dir string) (layout, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return layout{}, err
	}
	l := layout{dir: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return l, err
	}
	if err := private(dir); err != nil {
		return l, err
	}
	if err := replace(l.conf(), settings); err != nil {
		return l, err
	}
	if err := removeLeft(dir); err != nil {
		return l, err
	}
	l.socket, err = socketPath(dir, runtimeDir())
	return l, err
}

// runtimeDir is where a short path for a socket can be had.
func runtimeDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && private(dir) == nil {
		return dir
	}
	if os.Getuid() == 0 {
		if info, err := os.Stat("/run"); err == nil && info.IsDir() {
			return "/run"
		}
	}
	return os.TempDir()
}

// socketPath is the path of the socket. Where dir is too deep for one, it lies in a directory of its own below short,
// whose name is remembered in dir, so that every later process finds the same server.
func socketPath(dir, short string) (string, error) {
	if path := filepath.Join(dir, socketName); len(path) <= maxSocketPath {
		return path, nil
	}
	memo := filepath.Join(dir, socketMemo)
	switch known, err := os.ReadFile(memo); {
	case err == nil:
		d := strings.TrimSpace(string(known))
		// Gone after a reboot or a cleaner's visit, it is made again: a server that lives puts its socket there.
		if err := os.Mkdir(d, 0o700); (err == nil || errors.Is(err, os.ErrExist)) && private(d) == nil {
			return filepath.Join(d, socketName), nil
		}
	case !errors.Is(err, os.ErrNotExist):
		return "", err
	}
	d, err := os.MkdirTemp(short, "hitchpost-")
	if err != nil {
		return "", err
	}
	if path := filepath.Join(d, socketName); len(path) > maxSocketPath {
		_ = os.Remove(d)
		return "", fmt.Errorf("no directory is short enough for a socket: %s", path)
	}
	return filepath.Join(d, socketName), replace(memo, d+"\n")
}

// private checks that dir is a directory of our own, and closes it to others.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		if info, err = os.Stat(dir); err != nil {
			return err
		}
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(st.Uid) != os.Getuid() {
		return fmt.Errorf("%s is not a directory of this account", dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// replace writes a file of mode 0600 so that a reader sees the old or the new text, never a part. Where it holds the
// text already nothing is written: a full disk is then no hindrance.
func replace(path, text string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// removeLeft removes the buffers that a killed process left, but none that another one may be waiting for.
func removeLeft(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), bufferPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > time.Minute {
			_ = os.Remove(filepath.Join(dir, e.Name())) // at worst it lies there until the next start
		}
	}
	return nil
}
