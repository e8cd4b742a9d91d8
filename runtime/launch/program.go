package launch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
)

// Program finds the program that argv0 means in a session whose PATH is path and whose directory is dir, as execvp(3)
// would: a name without a slash in path, another relative to dir. It returns an absolute path and starts nothing.
//
// Errors are of kind UsageError and say what to do. They wrap fs.ErrNotExist where there is no such file and
// fs.ErrPermission where it may not be run.
func Program(argv0, path, dir string) (string, error) {
	if argv0 == "" || strings.Contains(argv0, "\x00") {
		return "", refused(fs.ErrNotExist, "the program has no usable name").Hinted("name a program, as in `-- htop`")
	}
	if strings.Contains(argv0, "/") {
		file := argv0
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		if err := runnable(argv0, file); err != nil {
			return "", err
		}
		return file, nil
	}
	var second error // what is there but cannot be run, should nothing better follow: execvp(3)
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		file := filepath.Join(d, argv0)
		err := runnable(argv0, file)
		if err == nil {
			return file, nil
		}
		if second == nil && !errors.Is(err, fs.ErrNotExist) {
			second = err
		}
	}
	if second != nil {
		return "", second
	}
	return "", refused(fs.ErrNotExist, "%q: command not found", argv0).
		Hinted("check the spelling, install it, or give its full path")
}

// runnable is nil where file can be executed. name is what the person typed.
func runnable(name, file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return refused(fs.ErrNotExist, "%q does not exist", name).Hinted("check the path")
	case err != nil:
		return refused(err, "%q cannot be looked at (%v)", name, cause(err)).Hinted("check the path and its permissions")
	case info.IsDir():
		return refused(fs.ErrPermission, "%q is a directory, not a program", name).
			Hinted("name a program")
	case !info.Mode().IsRegular():
		return refused(fs.ErrPermission, "%q is not a program", name).Hinted("name a regular file that can be executed")
	}
	if err := unix.Access(file, unix.X_OK); err != nil {
		return refused(fs.ErrPermission, "%q is not executable", name).Hinted("make it so with chmod +x, or check its path")
	}
	return nil
}

func refused(cause error, format string, args ...any) *hitchpost.Error {
	err := hitchpost.Errorf(hitchpost.UsageError, format, args...)
	err.Cause = cause
	return err
}

// cause is the innermost reason of an error of the operating system, such as "permission denied".
func cause(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}
