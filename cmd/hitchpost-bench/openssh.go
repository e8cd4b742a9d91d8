package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// startOpenSSH starts an sshd on a free port, set up as fast as is fair: no PAM, no DNS, no limit on starts, no
// greetings. Its users run `tmux attach` on a tmux server with tmux's own defaults, but as much history as Hitchpost
// keeps, so that both tmux servers do the same work.
func startOpenSSH(ctx context.Context, s *scratch) (*side, error) {
	binary, err := exec.LookPath("sshd")
	if err != nil {
		binary = "/usr/sbin/sshd" // sbin is not in every PATH
	}
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	config, err := sshdConfig(s, addr)
	if err != nil {
		return nil, err
	}
	pid, log, stop, err := s.start("sshd", binary, "-D", "-e", "-f", config)
	if err != nil {
		return nil, err
	}
	tmux := plainTmux{sock: filepath.Join(s.dir, "tmux.sock"), env: s.environ()}
	o := &side{name: "openssh", addr: addr, user: me.Username, key: s.key, keyFile: s.keyFile, verb: "true", task: "true"}
	o.version = version("ssh", "-V")
	o.front = func() []int { return []int{pid} }
	o.tmux = func() []int { return tmuxPid(tmux.sock) }
	o.stop = func() {
		stop()
		_ = tmux.do("kill-server")
	}
	o.attach = func(session string) string { return "exec tmux -S " + tmux.sock + " attach -t =" + session }
	o.open = func(_ context.Context, session, script string) error { return tmux.open(session, script) }
	o.end = func(session string) { _ = tmux.do("kill-session", "-t", "="+session) }

	// A session of its own keeps the tmux server alive, whose options could not be set before it runs.
	err = tmux.do("new-session", "-d", "-s", "keep", "exec sleep 1000000", ";", "set-option", "-g", "history-limit", "50000")
	if err == nil {
		err = eventually(ctx, 20*time.Second, "answer from sshd", func() bool {
			c, err := net.DialTimeout("tcp", addr, time.Second)
			if err != nil {
				return false
			}
			return c.Close() == nil
		})
	}
	if err == nil {
		err = o.exec(ctx, "true")
	}
	if err != nil {
		o.stop()
		return nil, fmt.Errorf("%w\n%s", err, lastLines(log))
	}
	return o, nil
}

// plainTmux is a tmux server as people have it.
type plainTmux struct {
	sock string
	env  []string
}

func (t plainTmux) do(args ...string) error {
	cmd := exec.Command("tmux", append([]string{"-S", t.sock, "-f", "/dev/null"}, args...)...)
	cmd.Env = t.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return nil
}

func (t plainTmux) open(session, script string) error {
	size := []string{"-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows)}
	return t.do(append(append([]string{"new-session", "-d", "-s", session}, size...), "exec sh -c "+quoted(script))...)
}

// sshdConfig writes the configuration and what it needs.
func sshdConfig(s *scratch, addr string) (path string, err error) {
	hostKey := filepath.Join(s.dir, "sshd_host_key")
	if err := keygen(hostKey); err != nil {
		return "", err
	}
	if os.Geteuid() == 0 {
		// The folder that sshd shuts its unprivileged part into; the system's unit makes it, if that ever ran.
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			return "", err
		}
	}
	host, port := hostPort(addr)
	lines := []string{
		"Port " + port, "ListenAddress " + host, "HostKey " + hostKey, "PidFile none",
		"AuthorizedKeysFile " + s.keyFile + ".pub", "StrictModes no", "PermitRootLogin prohibit-password",
		"PasswordAuthentication no", "KbdInteractiveAuthentication no", "UsePAM no", "UseDNS no", "PrintMotd no",
		"PrintLastLog no", "LogLevel ERROR", "MaxStartups 1000", "MaxSessions 100",
		// The account's shell runs each command, and would first run whatever the account's own start-up files say.
		"SetEnv HOME=" + s.home,
	}
	path = filepath.Join(s.dir, "sshd_config")
	return path, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}
