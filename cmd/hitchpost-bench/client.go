package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/creack/pty"
	"golang.org/x/crypto/ssh"
)

// The size of every terminal here.
const cols, rows = 80, 24

// patience is how long anything may take before the run is given up.
const patience = 30 * time.Second

// dial logs in.
func (s *side) dial(ctx context.Context) (*ssh.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	c, chans, reqs, err := ssh.NewClientConn(conn, s.addr, &ssh.ClientConfig{
		User:            s.user,
		Auth:            []ssh.AuthMethod{ssh.PublicKeys(s.key)},
		HostKeyCallback: ssh.InsecureIgnoreHostKey(), // started by this program, on loopback
		// As OpenSSH's client prefers; this library's would choose RSA, whose signature alone takes 6 ms.
		HostKeyAlgorithms: []string{ssh.KeyAlgoED25519},
	})
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return ssh.NewClient(c, chans, reqs), nil
}

// exec runs a command without a terminal.
func (s *side) exec(ctx context.Context, command string) error {
	c, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	session, err := c.NewSession()
	if err != nil {
		return err
	}
	if out, err := session.CombinedOutput(command); err != nil {
		return fmt.Errorf("%s: %w: %s", command, err, bytes.TrimSpace(out))
	}
	return nil
}

// screen is a terminal that shows a session.
type screen struct {
	io.Reader
	io.Writer
	close func()
	buf   []byte
}

// watch attaches to a session over a connection of its own.
func (s *side) watch(ctx context.Context, session string) (*screen, error) {
	c, err := s.dial(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	v := &screen{close: func() { stop(); _ = c.Close() }, buf: make([]byte, 64<<10)}
	if err := v.start(c, s.attach(session)); err != nil {
		v.close()
		return nil, err
	}
	return v, nil
}

func (v *screen) start(c *ssh.Client, command string) error {
	session, err := c.NewSession()
	if err != nil {
		return err
	}
	if v.Writer, err = session.StdinPipe(); err != nil {
		return err
	}
	if v.Reader, err = session.StdoutPipe(); err != nil {
		return err
	}
	if err := session.RequestPty("xterm-256color", rows, cols, ssh.TerminalModes{}); err != nil {
		return err
	}
	return session.Start(command)
}

// watchSSH does the same with the ssh program on a pseudo-terminal.
func (s *side) watchSSH(ctx context.Context, session string) (*screen, error) {
	cmd := s.ssh("-tt", s.attach(session))
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: cols, Rows: rows})
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	return &screen{Reader: f, Writer: f, buf: make([]byte, 64<<10), close: func() {
		stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = f.Close()
	}}, nil
}

// ssh is the ssh program with nothing of the caller's configuration.
func (s *side) ssh(args ...string) *exec.Cmd {
	host, port := hostPort(s.addr)
	flag, command := args[0], args[1]
	cmd := exec.Command("ssh", flag, "-F", "none", "-i", s.keyFile, "-p", port, "-l", s.user, "-o", "IdentitiesOnly=yes",
		"-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", host, command)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "TERM=xterm-256color", "LANG=C.UTF-8"}
	return cmd
}

// until reads until want has been shown.
func (v *screen) until(want string) error {
	overdue := time.AfterFunc(patience, v.close)
	defer overdue.Stop()
	var seen []byte
	for {
		n, err := v.Read(v.buf)
		seen = append(seen, v.buf[:n]...)
		if bytes.Contains(seen, []byte(want)) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the screen ended before %q was shown: %w: %q", want, err, seen[max(0, len(seen)-200):])
		}
		// want may begin at the very end of what was read.
		seen = append(seen[:0], seen[max(0, len(seen)-len(want)):]...)
	}
}
