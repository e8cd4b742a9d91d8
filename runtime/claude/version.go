package claude

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hitchpost/hitchpost"
)

// MinVersion is the oldest Claude Code that a session can run.
const MinVersion = "2.1.0"

const (
	versionLimit = 15 * time.Second // for a program to tell its version: a busy machine may need seconds to read it
	answerLimit  = 4 << 10          // bytes of what it tells that are read
	pipeLimit    = time.Second      // for what it started to let go of its output
)

// Install is a Claude Code that is there.
type Install struct {
	Path    string // absolute, as it was asked for
	Version string // such as "2.1.332"
}

// Finder tells which version a program is. It asks each program once, until the file changes; one whose file begins with
// #! may stand for another file and is asked each time. Use it from any goroutine; the zero value is ready.
type Finder struct {
	mu    sync.Mutex
	known map[string]seen
}

type seen struct {
	inode, size uint64
	modified    time.Time
	version     string
}

// Find asks the program at path, which is absolute, for its version. It is run with nothing but HOME and PATH of the
// environment env (K=V), which a script needs to find what it stands for. Find blocks for 15 seconds at most.
//
// Errors: UsageError where the file is missing, is not a program for this machine or is too old a version; FailedError
// where it does not answer as Claude Code does; the cause of ctx's end.
func (f *Finder) Find(ctx context.Context, path string, env []string) (Install, error) {
	now, err := look(path)
	if err != nil {
		return Install{}, err
	}
	f.mu.Lock()
	had, ok := f.known[path]
	f.mu.Unlock()
	if ok && had.inode == now.inode && had.size == now.size && had.modified.Equal(now.modified) {
		return Install{path, had.version}, nil
	}
	if now.version, err = askVersion(ctx, path, env); err != nil {
		return Install{}, err
	}
	if !atLeast(now.version, MinVersion) {
		err := refused("%q is Claude Code %s, which is too old", path, now.version)
		return Install{}, err.Hinted("update it to %s or later, with `claude update`", MinVersion)
	}
	if !script(path) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.known == nil {
			f.known = map[string]seen{}
		}
		f.known[path] = now
	}
	return Install{path, now.version}, nil
}

// look refuses what cannot be a program, and says which file is there.
func look(path string) (seen, error) {
	if !filepath.IsAbs(path) {
		return seen{}, refused("%q is not the absolute path of a program", path)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		err := refused("there is no claude at %q", path)
		return seen{}, err.Hinted("install Claude Code, or mend the PATH of the session")
	case err != nil:
		return seen{}, refused("%q cannot be looked at: %w", path, reason(err)).Hinted("check its permissions")
	case !info.Mode().IsRegular():
		return seen{}, refused("%q is not a file that can be run", path).Hinted("give the path of the program claude")
	}
	s := seen{size: uint64(max(info.Size(), 0)), modified: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = st.Ino
	}
	return s, nil
}

// askVersion runs the program.
func askVersion(ctx context.Context, path string, env []string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	out := &answer{}
	cmd := exec.CommandContext(limited, path, "--version")
	cmd.Env, cmd.Dir = versionEnv(env), "/"
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = pipeLimit
	err := cmd.Run()
	told := versionIn(out.text.String())
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case limited.Err() != nil:
		return "", hitchpost.Errorf(hitchpost.FailedError, "%q did not tell its version within %v", path, versionLimit).
			Hinted("see what `claude --version` does on this machine")
	case cmd.Process == nil:
		return "", notRun(path, err)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return "", hitchpost.Errorf(hitchpost.FailedError, "%q --version failed (%w) and said %s", path, err, out.line()).
			Hinted("see what `claude --version` does on this machine")
	case told == "":
		return "", hitchpost.Errorf(hitchpost.FailedError, "%q does not answer as Claude Code, but says %s", path, out.line()).
			Hinted("give the path of the program claude, or install it anew")
	}
	return told, nil
}

// notRun says why a program could not even begin.
func notRun(path string, err error) error {
	switch err = reason(err); {
	case errors.Is(err, fs.ErrPermission):
		return refused("%q may not be run: %w", path, err).Hinted("make it so with chmod +x, or check its path")
	case errors.Is(err, syscall.ENOEXEC):
		return refused("%q is not a program for this machine: %w", path, err).Hinted("install the Claude Code of this machine")
	case errors.Is(err, fs.ErrNotExist):
		return refused("%q needs a program that is not there: %w", path, err).
			Hinted("install the Claude Code of this machine, or what its first line names")
	}
	return hitchpost.Errorf(hitchpost.FailedError, "%q cannot be run: %w", path, err).Hinted("try again")
}

// reason is what the system said, without the name of the file that the message has already.
func reason(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}

// versionEnv is the environment in which a program is asked: nothing that makes it do more than answer.
func versionEnv(env []string) []string {
	out := []string{"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	for _, name := range []string{"HOME", "PATH"} {
		if value := valueOf(env, name); value != "" {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// valueOf is the value of a name in an environment, the last one that is set, or empty.
func valueOf(env []string, name string) (value string) {
	for _, kv := range env {
		if n, v, ok := strings.Cut(kv, "="); ok && n == name {
			value = v
		}
	}
	return value
}

// answer keeps the beginning of what a program prints.
type answer struct{ text bytes.Buffer }

func (a *answer) Write(p []byte) (int, error) {
	a.text.Write(p[:min(len(p), answerLimit-a.text.Len())])
	return len(p), nil
}

// line is the first line of the answer, for a message.
func (a *answer) line() string {
	for line := range strings.Lines(a.text.String()) {
		if line = strings.TrimSpace(line); line != "" {
			return quoted(line)
		}
	}
	return "nothing"
}

// toldVersion is the line that `claude --version` prints.
var toldVersion = regexp.MustCompile(`(?m)^(\d{1,9}\.\d{1,9}\.\d{1,9})[^ \t\r\n]{0,40} \(Claude Code\)`)

func versionIn(text string) string {
	m := toldVersion.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}

// atLeast compares two versions of three numbers. What is none is older than any.
func atLeast(version, least string) bool {
	v, l := strings.SplitN(version, ".", 3), strings.SplitN(least, ".", 3)
	for i := range l {
		if i >= len(v) {
			return false
		}
		a, err := strconv.Atoi(v[i])
		b, _ := strconv.Atoi(l[i])
		if err != nil || a != b {
			return err == nil && a > b
		}
	}
	return true
}

// script reports whether the file at path is run by another program, and so says little of what is run in the end.
func script(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // only read
	var head [2]byte
	_, err = f.Read(head[:])
	return err == nil && string(head[:]) == "#!"
}
