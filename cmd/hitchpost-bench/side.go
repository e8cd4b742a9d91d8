package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

// side is one of the two that are compared.
type side struct {
	name    string
	version string
	addr    string
	user    string
	key     ssh.Signer
	keyFile string

	attach func(session string) string            // command line that shows a session
	verb   string                                 // command line of the shortest useful command
	task   string                                 // command line that runs true and waits for it
	seed   func(ctx context.Context, n int) error // knows n sessions more; nil: cannot
	open   func(ctx context.Context, session, script string) error
	end    func(session string)
	front  func() []int // processes whose CPU, with that of all they start, is the server's
	tmux   func() []int // the tmux server, which is not
	stop   func()
}

// scratch is a folder for everything of one run, with a home whose key both sides let in.
type scratch struct {
	dir, home, keyFile string
	key                ssh.Signer
	keep               bool
}

func newScratch(keep bool) (*scratch, error) {
	// Short, since sockets lie below, and passable, since PostgreSQL runs as another account under root.
	dir, err := os.MkdirTemp("/tmp", "hpb")
	if err != nil {
		return nil, err
	}
	s := &scratch{dir: dir, home: filepath.Join(dir, "home"), keep: keep}
	s.keyFile = filepath.Join(s.home, ".ssh", "id_ed25519")
	err = errors.Join(os.Chmod(dir, 0o711), os.MkdirAll(filepath.Dir(s.keyFile), 0o700), keygen(s.keyFile))
	if err == nil {
		s.key, err = readKey(s.keyFile)
	}
	if err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

func (s *scratch) remove() {
	if !s.keep {
		_ = os.RemoveAll(s.dir)
	}
}

// environ is what both servers start with: nothing of the caller's but where programs are.
func (s *scratch) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=xterm-256color"}
}

// start runs a server with its log in the scratch folder; the returned function stops it and waits for its end.
func (s *scratch) start(name string, argv ...string) (pid int, logFile string, stop func(), err error) {
	logFile = filepath.Join(s.dir, name+".log")
	log, err := os.Create(logFile)
	if err != nil {
		return 0, "", nil, err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.environ(), s.dir, log, log
	// Ctrl-C is for this program, which then stops its servers in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return 0, "", nil, errors.Join(err, log.Close())
	}
	return cmd.Process.Pid, logFile, func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		overdue := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // it was told to end; how it did is in the log
		overdue.Stop()
		_ = log.Close()
	}, nil
}

// keygen makes an ed25519 key without a passphrase.
func keygen(path string) error {
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "hitchpost-bench", "-f", path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ssh-keygen: %w: %s", err, out)
	}
	return nil
}

func readKey(path string) (ssh.Signer, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ssh.ParsePrivateKey(pem)
}

// freeAddress is a loopback address that nobody listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// eventually asks until ok says yes, and tells after limit that it did not.
func eventually(ctx context.Context, limit time.Duration, what string, ok func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no %s within %v", what, limit))
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}

// lastLines is the end of a log, for an error.
func lastLines(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = f.Close() }()
	if size, err := f.Seek(0, io.SeekEnd); err == nil && size > 2000 {
		_, _ = f.Seek(-2000, io.SeekEnd)
	} else {
		_, _ = f.Seek(0, io.SeekStart)
	}
	text, _ := io.ReadAll(f)
	return strings.TrimSpace(string(text))
}

// quoted is a word for a POSIX shell, or for what splits like one.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
