package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"

	"github.com/hitchpost/hitchpost"
)

// port is part of the socket's name and nothing else; no TCP port is opened.
const port = 5432

// socketFile is the name of the socket in its directory.
var socketFile = fmt.Sprintf(".s.PGSQL.%d", port)

// socketPathLimit is the longest path that fits into sockaddr_un with its NUL: sun_path has 108 bytes on Linux
// (unix(7)) and 104 on macOS and the BSDs (unix(4)).
func socketPathLimit() int {
	if goruntime.GOOS == "linux" {
		return 107
	}
	return 103
}

// fits reports whether a socket in dir can be made and named in a URL; a comma separates hosts there.
func fits(dir string) bool {
	return len(dir)+1+len(socketFile) <= socketPathLimit() && !strings.ContainsAny(dir, ",\n")
}

// rememberedFile is where in the cluster's directory the socket directory is noted, so that it stays the same when the
// environment of a later start is another.
const rememberedFile = "socket-dir"

// socketDir makes and returns the directory for the socket: dir/run, or where that path is too long, a short one that
// is noted in dir. It belongs to the account alone.
func socketDir(dir string, a account) (string, error) {
	own := filepath.Join(dir, "run")
	if fits(own) {
		return own, a.own(own)
	}
	remembered, err := os.ReadFile(filepath.Join(dir, rememberedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	sum := sha256.Sum256([]byte(dir))
	name := fmt.Sprintf("hitchpost-%d-%s", os.Geteuid(), hex.EncodeToString(sum[:4]))
	var wrong error
	for _, path := range append([]string{string(remembered)}, shortDirs(name)...) {
		if !filepath.IsAbs(path) || !fits(path) {
			continue
		}
		// Others can write where these lie, so one that is there already may be a trap; own looks.
		if err := a.own(path); err != nil {
			wrong = errors.Join(wrong, err)
			continue
		}
		return path, write(filepath.Join(dir, rememberedFile), path, 0o600)
	}
	return "", hitchpost.Errorf(hitchpost.FailedError, "no directory has a path short enough for a Unix socket: %w", wrong).
		Hinted("choose a shorter --data-dir")
}

// shortDirs lists where a directory called name may have a short path.
func shortDirs(name string) []string {
	var bases []string
	if os.Geteuid() == 0 {
		bases = append(bases, "/run", "/var/run")
	} else if x := os.Getenv("XDG_RUNTIME_DIR"); x != "" {
		bases = append(bases, x)
	}
	bases = append(bases, os.TempDir(), "/tmp")
	for i, base := range bases {
		bases[i] = filepath.Join(base, name)
	}
	return bases
}

// write puts text into the file at path as a whole or not at all.
func write(path, text string, mode fs.FileMode) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}
