package sshd_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// keyFile makes a key that is let in, in a file for the real client.
func (s *server) keyFile(actor string) string {
	s.t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		s.t.Fatal(err)
	}
	s.know(signer.PublicKey(), actor, nil)
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		s.t.Fatal(err)
	}
	path := filepath.Join(s.t.TempDir(), "key")
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// openSSH prepares a program of the real client (ssh, sftp or scp) against the server. Words of the form -x and their
// values come first.
func (s *server) openSSH(ctx context.Context, program, key string, words ...string) *exec.Cmd {
	s.t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		s.t.Fatalf("%v: install openssh-client", err)
	}
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	args := []string{
		"-F", "/dev/null", "-o", "Port=" + port, "-o", "BatchMode=yes",
		"-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "GlobalKnownHostsFile=/dev/null",
	}
	if !slices.Contains(words, "-v") && !slices.Contains(words, "-vvv") {
		args = append(args, "-o", "LogLevel=ERROR")
	}
	if key != "" {
		args = append(args, "-o", "IdentitiesOnly=yes", "-o", "IdentityFile="+key)
	}
	cmd := exec.CommandContext(ctx, program, append(args, words...)...)
	cmd.WaitDelay = time.Second
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.t.TempDir(), "TERM=xterm-256color"}
	return cmd
}

// run runs cmd to its end.
func run(t *testing.T, cmd *exec.Cmd) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v: %s", cmd.Args, err, errs.String())
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}
