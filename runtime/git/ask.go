package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// ask has git tell what is checked out in tree, which it holds in a form of its own. Nothing that the repository's
// configuration names is run: no hook, no file system monitor, no pager, no fetch of what is missing.
func ask(ctx context.Context, tree string) (string, error) {
	ref, err := run(ctx, tree, "symbolic-ref", "--quiet", "HEAD")
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 1: // git-symbolic-ref(1): HEAD is no reference but a commit
		hash, err := run(ctx, tree, "rev-parse", "--verify", "HEAD")
		if err != nil {
			return "", err
		}
		name, _ := head(hash)
		return name, nil
	case err != nil:
		return "", err
	}
	name, _ := branchOf(ref)
	return name, nil
}

// run is one line of git's output.
func run(ctx context.Context, tree string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{
		"--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null",
		"-c", "protocol.allow=never", "-C", tree,
	}, args...)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0",
	}
	cmd.WaitDelay = 100 * time.Millisecond // a child of git that holds the output is not waited for
	var out first
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimRight(out.String(), "\r\n"), nil
}

// first keeps the first bytes that are written to it and drops the rest.
type first struct{ bytes.Buffer }

func (f *first) Write(p []byte) (int, error) {
	f.Buffer.Write(p[:min(len(p), fileLimit-min(f.Len(), fileLimit))])
	return len(p), nil
}
