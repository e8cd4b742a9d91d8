package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// terminal is a person's terminal: a pane of a tmux of its own that runs the OpenSSH client. tmux is the terminal
// because it has real scrollback, whose text can be asked for.
type terminal struct {
	t      *testing.T
	socket string
	pid    int
}

// open opens a terminal of the given size with the OpenSSH client in it. When ssh ends, the terminal shows its exit
// status as "left N".
func (s *stack) open(cols, rows int, args ...string) *terminal {
	s.t.Helper()
	return s.openEnv(cols, rows, nil, args...)
}

func (s *stack) openEnv(cols, rows int, env []string, args ...string) *terminal {
	s.t.Helper()
	return s.openScript(cols, rows, env, `ssh "$@"; echo "left $?"; exec sleep 1000`, s.sshArgs(append([]string{"-tt"}, args...)...)...)
}

// openScript opens a terminal with a script of sh in it, which has words as its arguments.
func (s *stack) openScript(cols, rows int, env []string, script string, words ...string) *terminal {
	s.t.Helper()
	term := &terminal{t: s.t, socket: filepath.Join(s.t.TempDir(), "t")}
	if len(term.socket) > 100 {
		term.socket = filepath.Join(s.dir, "t"+strconv.FormatInt(time.Now().UnixNano(), 36))
	}
	conf := "set -g history-limit 100000\nset -g status off\nset -g remain-on-exit on\nset -g remain-on-exit-format ''\nset -sg escape-time 0\nset -g default-terminal tmux-256color\n"
	must(s.t, writeFile(term.socket+".conf", conf))
	words = append([]string{"-S", term.socket, "-f", term.socket + ".conf", "-u", "new-session", "-d", "-x", strconv.Itoa(cols),
		"-y", strconv.Itoa(rows), "--", "sh", "-c", script, "sh"}, words...)
	cmd := exec.Command("tmux", words...)
	cmd.Env = append(append([]string{}, s.env...), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("terminal: %v\n%s", err, out)
	}
	pid, err := strconv.Atoi(term.tmux("display-message", "-p", "#{pid}"))
	must(s.t, err)
	term.pid = pid
	s.t.Cleanup(term.kill)
	return term
}

func (x *terminal) tmux(args ...string) string {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", append([]string{"-S", x.socket}, args...)...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

// kill closes the window as a terminal program that crashes does.
func (x *terminal) kill() {
	pids := append(descendants(x.pid), x.pid)
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, pid := range pids {
		eventually(x.t, "a terminal's process is gone", func() bool { return !alive(pid) }, func() string { return "" })
	}
}

// ssh is the pid of the client in the terminal.
func (x *terminal) ssh() int {
	x.t.Helper()
	var pid int
	eventually(x.t, "ssh runs", func() bool {
		for _, p := range descendants(x.pid) {
			out, _ := exec.Command("ps", "-o", "comm=", "-p", strconv.Itoa(p)).Output()
			if strings.TrimSpace(string(out)) == "ssh" {
				pid = p
			}
		}
		return pid != 0
	}, x.screen)
	return pid
}

// keys sends keys by tmux's names; text sends text as it is.
func (x *terminal) keys(names ...string) { x.tmux(append([]string{"send-keys"}, names...)...) }
func (x *terminal) text(text string)     { x.tmux("send-keys", "-l", "--", text) }
func (x *terminal) line(text string)     { x.text(text); x.keys("Enter") }
func (x *terminal) screen() string       { return x.tmux("capture-pane", "-p") }
func (x *terminal) all() string          { return x.tmux("capture-pane", "-p", "-S", "-") }

// sees waits until the screen shows text.
func (x *terminal) sees(text string) {
	x.t.Helper()
	eventually(x.t, "the screen shows "+strconv.Quote(text), func() bool { return strings.Contains(x.screen(), text) }, x.screen)
}

// seesNot waits until the screen does not show text.
func (x *terminal) seesNot(text string) {
	x.t.Helper()
	eventually(x.t, "the screen no longer shows "+strconv.Quote(text), func() bool { return !strings.Contains(x.screen(), text) }, x.screen)
}

// left waits until ssh has ended and returns its exit status.
func (x *terminal) left() int {
	x.t.Helper()
	code := -1
	eventually(x.t, "ssh ends", func() bool {
		for line := range strings.Lines(x.all()) {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "left "); ok {
				if n, err := strconv.Atoi(rest); err == nil {
					code = n
				}
			}
		}
		return code >= 0
	}, x.screen)
	return code
}
