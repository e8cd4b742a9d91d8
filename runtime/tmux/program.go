package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hitchpost/hitchpost"
)

// waitDelay is how long the output of a tmux client may stay open after the client ended. A server that is stopped
// holds it open for ever, as the client handed its descriptors over.
const waitDelay = 100 * time.Millisecond

// oldest is the oldest tmux with all that is needed (remain-on-exit-format, allow-passthrough).
const oldestMajor, oldestMinor = 3, 3

// program is a tmux binary with the flags and the environment of our server's clients.
type program struct {
	installed string
	running   atomic.Pointer[string] // in its place while a server of another version runs; see useRunning
	layout    layout
	env       []string
}

// path is the binary to run.
func (p *program) path() string {
	if r := p.running.Load(); r != nil {
		return *r
	}
	return p.installed
}

// client is a tmux client; it never starts a server. TERM is what tmux is told of our PTYs, whatever the user's is.
func (p *program) client(ctx context.Context, flags []string, args ...string) *exec.Cmd {
	words := append([]string{"-N", "-u", "-f", p.layout.conf(), "-S", p.layout.socket}, flags...)
	cmd := exec.CommandContext(ctx, p.path(), append(words, args...)...)
	cmd.Env = p.env
	cmd.Dir = "/"
	cmd.WaitDelay = waitDelay
	return cmd
}

// run carries out one client and returns what it said.
func (p *program) run(ctx context.Context, args ...string) (string, error) {
	return output(ctx, p.client(ctx, nil, args...))
}

// closeOnExec keeps what this process inherited, such as the descriptors of whoever started it, from going on to tmux,
// which would hold them as long as it lives. What this process opened itself is closed on exec already.
func closeOnExec() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // no such system is known; the descriptors are then as they were
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// boot starts the server with its lobby. The server is a daemon of its own afterwards.
func (p *program) boot(ctx context.Context, env []string) error {
	words := append([]string{"-u", "-f", p.layout.conf(), "-S", p.layout.socket}, lobbyCommand()...)
	cmd := exec.CommandContext(ctx, p.path(), words...)
	cmd.Env = env
	cmd.Dir = "/"
	cmd.WaitDelay = waitDelay
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	_, err := output(ctx, cmd)
	return err
}

// lobbyCommand makes the lobby: a session in which nothing is ever drawn, what a client types neither, of a size that
// no client changes.
func lobbyCommand() []string {
	return []string{"new-session", "-d", "-s", lobby, "-x", "80", "-y", "24",
		"stty raw -echo; exec sleep 1000000000", ";",
		"set-option", "-w", "-t", "=" + lobby + ":", "window-size", "manual"}
}

func output(ctx context.Context, cmd *exec.Cmd) (string, error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	switch words := strings.TrimSpace(errs.String()); {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil && words != "":
		return "", refusal(words)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return "", err
	}
	return out.String(), nil
}

// find checks the tmux binary and its version.
func find(ctx context.Context, binary string) (path, version string, err error) {
	if binary == "" {
		binary = "tmux"
	}
	path, err = exec.LookPath(binary)
	if err != nil {
		return "", "", hitchpost.Errorf(hitchpost.UnavailableError, "tmux is not installed: %w", err).
			Hinted("install tmux 3.3 or newer")
	}
	cmd := exec.CommandContext(ctx, path, "-V")
	cmd.WaitDelay = waitDelay
	out, err := output(ctx, cmd)
	if err != nil {
		return "", "", told("ask for its version", err)
	}
	version = strings.TrimPrefix(strings.TrimSpace(out), "tmux ")
	if tooOld(version) {
		return "", "", hitchpost.Errorf(hitchpost.UnavailableError, "tmux %s is too old", version).
			Hinted("install tmux %d.%d or newer", oldestMajor, oldestMinor)
	}
	return path, version, nil
}

// tooOld reports whether version, such as 3.3a or next-3.5, is known to be older than what is needed. A word without
// numbers, such as master, is taken as new.
func tooOld(version string) bool {
	version = strings.TrimPrefix(strings.TrimPrefix(version, "next-"), "openbsd-")
	major, rest, _ := strings.Cut(version, ".")
	ma, err := strconv.Atoi(major)
	if err != nil {
		return false
	}
	mi, err := strconv.Atoi(strings.TrimRightFunc(rest, func(r rune) bool { return r < '0' || r > '9' }))
	if err != nil {
		mi = 0
	}
	return ma < oldestMajor || ma == oldestMajor && mi < oldestMinor
}

// serverEnv is the environment that the server and so every pane starts from. What marks the processes of one session or
// task is none of it: a service that was started from within a session would hand that session's mark to all others.
func serverEnv(given []string) []string {
	if given == nil {
		for _, name := range []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL"} {
			if v, ok := os.LookupEnv(name); ok {
				given = append(given, name+"="+v)
			}
		}
	}
	var env []string
	locale := ""
	for _, kv := range given {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case strings.HasPrefix(name, "TMUX"), strings.HasPrefix(name, "HITCHPOST_"),
			name == "LC_ALL", name == "LC_CTYPE", name == "LANGUAGE":
		case name == "LANG":
			locale = value
		default:
			env = append(env, kv)
		}
	}
	if !isUTF8(locale) {
		locale = "C.UTF-8"
	}
	return append(env, "LANG="+locale, "LC_CTYPE=C.UTF-8")
}

func isUTF8(locale string) bool {
	l := strings.ToLower(locale)
	return strings.HasSuffix(l, ".utf-8") || strings.HasSuffix(l, ".utf8")
}

// clientEnv is the environment of our own tmux clients.
func clientEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "LC_CTYPE=C.UTF-8"}
}

// mismatched reports whether a client said that it cannot talk to a server of another version.
func mismatched(err error) bool {
	var r refusal
	return errors.As(err, &r) && strings.Contains(string(r), "protocol version mismatch")
}

// runningBinary is the very binary that the server with this pid runs, also after an upgrade replaced its file; ""
// where the system cannot tell.
func runningBinary(pid int) string {
	path := fmt.Sprintf("/proc/%d/exe", pid)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}
