package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// errDirectory marks a start that failed because of the directory.
var errDirectory = errors.New("the directory")

// Command is a program to start.
type Command struct {
	Argv  []string // the program and its words; a program without a slash is searched in the PATH of Env
	Argv0 string   // what the program sees as its name; empty: Argv[0]
	Env   []string // the whole environment, K=V, but for PWD
	Dir   string   // absolute
}

// start makes the program of spec a child of this process, on its terminal and in its process group.
func start(spec Spec) (pid int, err error) {
	c := Command{Argv: spec.Argv, Argv0: spec.Argv0, Env: environ(spec.Env, os.Getenv("TERM")), Dir: spec.Dir}
	return Start(c, []uintptr{0, 1, 2}, nil)
}

// Start makes the program of c a child of this process. files are the child's first descriptors, and it has no others.
// PWD is the directory as it was named, so that a shell keeps its symlinks. The directory of this process is / from
// then on: one that stays would keep a file system busy that the program has long left.
//
// Its errors are texts for people; StartStatus gives the exit status that a shell would give for them.
func Start(c Command, files []uintptr, sys *syscall.SysProcAttr) (pid int, err error) {
	if err := os.Chdir(c.Dir); err != nil {
		return 0, fmt.Errorf("the directory %q cannot be entered: %w", c.Dir, failure{errDirectory, cause(err)})
	}
	defer func() { _ = os.Chdir("/") }()

	file, err := Program(c.Argv[0], variable(c.Env, "PATH"), c.Dir)
	if err != nil {
		return 0, err
	}
	argv := slices.Clone(c.Argv)
	if c.Argv0 != "" {
		argv[0] = c.Argv0
	}
	keepDescriptors()
	defer offer()()
	attr := &syscall.ProcAttr{Env: inDirectory(c.Env, c.Dir), Files: files, Sys: sys}
	pid, err = syscall.ForkExec(file, argv, attr)
	if errors.Is(err, syscall.ENOEXEC) && script(file) {
		// A script without a first line that names its interpreter: execvp(3) hands it to the shell.
		pid, err = syscall.ForkExec("/bin/sh", slices.Concat([]string{"/bin/sh", file}, argv[1:]), attr)
	}
	if err != nil {
		return 0, fmt.Errorf("%q cannot be run: %w", c.Argv[0], explain(file, err))
	}
	return pid, nil
}

// StartStatus is the exit status that a shell would give for a program that Start could not start: 127 where there is
// no such program, else 126.
func StartStatus(err error) int {
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errDirectory) {
		return statusNotFound
	}
	return statusNotExecutable
}

// keepDescriptors keeps what the wrapper may have inherited beside its terminal from the program. Linux and macOS list
// a process's own descriptors in /dev/fd.
func keepDescriptors() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// failure is a reason with a mark that errors.Is finds; only the reason is printed.
type failure struct{ mark, reason error }

func (f failure) Error() string   { return f.reason.Error() }
func (f failure) Unwrap() []error { return []error{f.mark, f.reason} }

// explain says what the kernel's short answers to execve(2) mean here. Program has seen that the file is there.
func explain(file string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return failure{fs.ErrPermission, fmt.Errorf("the interpreter or loader that %s asks for is missing", file)}
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%s is not a program for this machine", file)
	case errors.Is(err, syscall.E2BIG):
		return errors.New("its arguments and environment are too long for this system")
	}
	return err
}

// script reports whether file can be meant for a shell: text, not a program in a foreign format.
func script(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	return (err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) &&
		bytes.IndexByte(head[:n], 0) < 0
}

// environ is the environment of a program on a terminal: that of the spec, with TERM as the terminal at hand says, and
// without tmux's own names, so that nothing in the session mistakes the private tmux server for the person's.
func environ(env []string, term string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if name != "TMUX" && name != "TMUX_PANE" && (name != "TERM" || term == "") {
			out = append(out, kv)
		}
	}
	if term != "" {
		out = append(out, "TERM="+term)
	}
	return out
}

// inDirectory is env with PWD as dir.
func inDirectory(env []string, dir string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, "PWD=") {
			out = append(out, kv)
		}
	}
	return append(out, "PWD="+dir)
}

// variable is the value of name in env, or empty.
func variable(env []string, name string) string {
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}
