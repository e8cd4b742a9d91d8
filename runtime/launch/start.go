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
var errDirectory = errors.New("the session's directory")

// start makes the program of spec a child of this process, on its terminal and in its process group. Its errors are
// texts for people; they wrap fs.ErrNotExist where there is no such program.
func start(spec Spec) (pid int, err error) {
	if err := os.Chdir(spec.Dir); err != nil {
		return 0, fmt.Errorf("the directory %q cannot be entered: %w", spec.Dir, failure{errDirectory, cause(err)})
	}
	// A wrapper that stays would keep a file system busy that the program has long left.
	defer func() { _ = os.Chdir("/") }()

	env := environ(spec.Env, os.Getenv("TERM"), spec.Dir)
	file, err := Program(spec.Argv[0], variable(env, "PATH"), spec.Dir)
	if err != nil {
		return 0, err
	}
	argv := slices.Clone(spec.Argv)
	if spec.Argv0 != "" {
		argv[0] = spec.Argv0
	}
	keepDescriptors()
	attr := &syscall.ProcAttr{Env: env, Files: []uintptr{0, 1, 2}}
	pid, err = syscall.ForkExec(file, argv, attr)
	if errors.Is(err, syscall.ENOEXEC) && script(file) {
		// A script without a first line that names its interpreter: execvp(3) hands it to the shell.
		pid, err = syscall.ForkExec("/bin/sh", slices.Concat([]string{"/bin/sh", file}, argv[1:]), attr)
	}
	if err != nil {
		return 0, fmt.Errorf("%q cannot be run: %w", spec.Argv[0], explain(file, err))
	}
	return pid, nil
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

// environ is the program's environment: that of the spec, with TERM as the terminal at hand says and PWD as the
// directory was named, so that a shell keeps its symlinks; without tmux's own names, so that nothing in the session
// mistakes the private tmux server for the person's.
func environ(env []string, term, dir string) []string {
	out := make([]string, 0, len(env)+2)
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if name == "TMUX" || name == "TMUX_PANE" || name == "PWD" || (name == "TERM" && term != "") {
			continue
		}
		out = append(out, kv)
	}
	if term != "" {
		out = append(out, "TERM="+term)
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
