package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	// lookLimit is how long one call of git may take that only looks.
	lookLimit = 2 * time.Second
	// makeLimit is the same for one that reads or writes the contents of a whole working tree.
	makeLimit = 60 * time.Second
	// lookBytes is how much of the output of a call is kept where nothing else is said.
	lookBytes = 1 << 20
	// saidBytes is how much is kept of what git writes to stderr.
	saidBytes = 2 << 10
)

// call is one call of git.
type call struct {
	in     string        // directory it is run in
	limit  time.Duration // zero: lookLimit
	keep   int           // bytes of output that are kept; zero: lookBytes
	off    []string      // -c settings that switch off what the repository would run; see programs
	env    []string      // more of the environment
	stdin  io.Reader
	each   func(part string) // is handed the parts of an output that ends each with a NUL, in place of keeping it
	gently bool              // it is asked to stop, so that it can clear up what it had begun, before it is killed
}

// output is what a call wrote.
type output struct {
	text string
	cut  bool // there was more
}

// parts are those of an output that ends each with a NUL. A part that the limit of bytes cut is left out.
func (o output) parts() []string {
	text := o.text
	if o.cut {
		text = text[:strings.LastIndexByte(text, 0)+1]
	}
	if text = strings.TrimSuffix(text, "\x00"); text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// callError is a call of git that failed.
type callError struct {
	verb string
	exit int // -1: it did not exit by itself
	said string
	err  error
}

func (e *callError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("git %s: %v", e.verb, e.err)
	}
	return fmt.Sprintf("git %s: %v: %s", e.verb, e.err, e.said)
}

func (e *callError) Unwrap() error { return e.err }

// exited reports whether err is of a call that exited with code.
func exited(err error, code int) bool {
	var c *callError
	return errors.As(err, &c) && c.exit == code
}

// settings are given to every call, so that it runs nothing of the repository's, fetches nothing and leaves the
// person's index alone.
func settings() []string {
	return []string{
		"--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null",
		"-c", "protocol.allow=never", "-c", "submodule.recurse=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"-c", "core.safecrlf=false", "-c", "core.bigFileThreshold=16m",
	}
}

// environment is all that git sees of ours. A GIT_DIR and the like of whoever started this program would lead it
// elsewhere.
func environment() []string {
	env := []string{
		"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_NO_LAZY_FETCH=1",     // git 2.45; older ones are kept from it by the next
		"GIT_ALLOW_PROTOCOL=none", // beats the protocol.NAME.allow of a repository, which beats our protocol.allow
	}
	for _, name := range []string{"PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// do runs git and waits for it. It is in a process group of its own, which goes with it when ctx or the limit ends: a
// program that git started must not hold a repository after it.
func do(ctx context.Context, c call, args ...string) (output, error) {
	limit, keep := c.limit, c.keep
	if limit == 0 {
		limit = lookLimit
	}
	if keep == 0 {
		keep = lookBytes
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	words := settings()
	for _, s := range c.off {
		words = append(words, "-c", s)
	}
	words = append(words, "-C", c.in)
	cmd := exec.CommandContext(ctx, "git", append(words, args...)...)
	cmd.Env = append(environment(), c.env...)
	cmd.Stdin = c.stdin
	out, said := &first{limit: keep, stop: true}, &first{limit: saidBytes}
	cmd.Stdout, cmd.Stderr = out, said
	parts := &parter{each: c.each}
	if c.each != nil {
		cmd.Stdout = parts
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second // a child of git that has left the group and holds the output is not waited for
	ending := syscall.SIGKILL
	if c.gently {
		ending, cmd.WaitDelay = syscall.SIGTERM, 2*time.Second
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, ending) }
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what outlived the first of the group
	}
	switch {
	case parts.long:
		return output{}, &reasoned{TooMuch, "a name that does not end"}
	case out.cut && ctx.Err() == nil:
		return output{out.text.String(), true}, nil
	case err == nil:
		return output{out.text.String(), false}, nil
	}
	failed := &callError{verb: args[0], exit: -1, said: strings.TrimSpace(said.text.String()), err: err}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		failed.exit = exit.ExitCode()
	}
	if cause := context.Cause(ctx); cause != nil {
		failed.err = cause
	}
	return output{}, failed
}

// first keeps the first bytes that are written to it, and drops the rest or lets the writer know that it may stop. It
// does not embed the buffer, whose ReadFrom would be taken in place of Write.
type first struct {
	text  bytes.Buffer
	limit int
	stop  bool
	cut   bool
}

var errEnough = errors.New("enough")

func (f *first) Write(p []byte) (int, error) {
	room := f.limit - f.text.Len()
	if len(p) <= room {
		return f.text.Write(p)
	}
	f.cut = true
	f.text.Write(p[:room])
	if f.stop {
		return room, errEnough
	}
	return len(p), nil
}

// partLimit bounds a part that is handed on: a path and a few words.
const partLimit = 64 << 10

// parter cuts what is written to it at NULs. A part that it hands on is of that moment alone.
type parter struct {
	each func(part string)
	rest []byte
	long bool
}

func (p *parter) Write(text []byte) (int, error) {
	size := len(text)
	for {
		part, after, found := bytes.Cut(text, []byte{0})
		if !found {
			break
		}
		p.each(string(p.rest) + string(part))
		p.rest, text = p.rest[:0], after
	}
	p.rest = append(p.rest, text...)
	if len(p.rest) > partLimit {
		p.long = true
		return 0, errEnough
	}
	return size, nil
}
