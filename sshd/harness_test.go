package sshd_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// server is a running server with fakes behind it.
type server struct {
	t *testing.T
	*sshd.Server
	addr     string
	host     ssh.Signer
	service  *service
	picker   *picker
	commands *commands
	log      *logBook
	stop     context.CancelFunc
	stopped  chan error

	mu   sync.Mutex
	keys map[string]hitchpost.Key // by fingerprint
}

// serve starts a server on a free port. It is stopped at the end of the test.
func serve(t *testing.T, change func(*sshd.Config)) *server {
	t.Helper()
	s := &server{
		t: t, host: newKey(t), keys: map[string]hitchpost.Key{}, log: &logBook{},
		service: newService(), picker: &picker{}, commands: &commands{},
		stopped: make(chan error, 1),
	}
	cfg := sshd.Config{
		Signers: []ssh.Signer{s.host}, Version: "1.2.3", Login: s.login,
		Log:     slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Service: s.service, Picker: s.picker, Commands: s.commands,
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	if s.Server, err = sshd.New(cfg); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = ln.Addr().String()
	s.picker.sees = s.service
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	go func() { s.stopped <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		s.waitStopped()
		if t.Failed() {
			t.Logf("log of the server:\n%s", tail(s.log.String()))
		}
	})
	return s
}

func (s *server) waitStopped() {
	s.t.Helper()
	select {
	case err := <-s.stopped:
		s.stopped <- err
		if err != nil {
			s.t.Errorf("Serve: %v", err)
		}
	case <-time.After(patience):
		s.t.Error("the server does not stop")
	}
}

// login is the key store: memory only, like the real one.
func (s *server) login(_ context.Context, key ssh.PublicKey, user, remote string) (
	hitchpost.Actor, hitchpost.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.keys[ssh.FingerprintSHA256(key)]
	if !ok {
		return hitchpost.Actor{}, hitchpost.Key{}, hitchpost.Errorf(hitchpost.DeniedError, "unknown key")
	}
	return hitchpost.Actor{
		Name: k.Actor, Role: k.Role, Fingerprint: k.Fingerprint, KeyType: k.Type, Login: user, Remote: remote,
	}, k, nil
}

// know lets a key in.
func (s *server) know(public ssh.PublicKey, actor string, change func(*hitchpost.Key)) {
	k := hitchpost.Key{
		Fingerprint: ssh.FingerprintSHA256(public), Type: public.Type(), Actor: actor, Role: hitchpost.Admin,
	}
	if change != nil {
		change(&k)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[k.Fingerprint] = k
}

// member makes a key that is let in.
func (s *server) member(actor string) ssh.Signer {
	s.t.Helper()
	key := newKey(s.t)
	s.know(key.PublicKey(), actor, nil)
	return key
}

// dial logs in with key.
func (s *server) dial(user string, keys ...ssh.Signer) (*ssh.Client, error) {
	return ssh.Dial("tcp", s.addr, &ssh.ClientConfig{
		User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(keys...)},
		HostKeyCallback: ssh.FixedHostKey(s.host.PublicKey()), Timeout: patience,
	})
}

// client is a logged-in client of a new member called actor.
func (s *server) client(actor string) *ssh.Client {
	s.t.Helper()
	c, err := s.dial(actor, s.member(actor))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return c
}

func newKey(t testing.TB) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

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

// limited is a context for a real client.
func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// terminal is a session channel of a raw client, all requests and bytes in its hands.
type terminal struct {
	t        testing.TB
	ch       ssh.Channel
	screen   *logBook      // all that came on stdout
	errs     *logBook      // all that came on stderr
	ended    chan struct{} // closed with the channel
	mu       sync.Mutex
	status   int // -1 until it is known
	statuses int
}

// open opens a session channel and asks for nothing.
func open(t testing.TB, c *ssh.Client) *terminal {
	t.Helper()
	ch, reqs, err := c.OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	tm := &terminal{t: t, ch: ch, screen: &logBook{}, errs: &logBook{}, ended: make(chan struct{}), status: -1}
	var all sync.WaitGroup
	all.Go(func() { io.Copy(tm.screen, ch) })
	all.Go(func() { io.Copy(tm.errs, ch.Stderr()) })
	all.Go(func() { tm.answer(reqs) })
	go func() {
		all.Wait()
		close(tm.ended)
	}()
	return tm
}

func (tm *terminal) answer(reqs <-chan *ssh.Request) {
	for r := range reqs {
		if r.Type == "exit-status" {
			var s struct{ Status uint32 }
			if ssh.Unmarshal(r.Payload, &s) == nil {
				tm.mu.Lock()
				tm.status = int(s.Status)
				tm.statuses++
				tm.mu.Unlock()
			}
		}
		r.Reply(false, nil)
	}
}

// ptyPayload is a pty-req's.
func ptyPayload(term string, cols, rows uint32) []byte {
	return ssh.Marshal(struct {
		Term                string
		Cols, Rows, WPx, HP uint32
		Modes               string
	}{term, cols, rows, 0, 0, "\x00"})
}

func sizePayload(cols, rows uint32) []byte {
	return ssh.Marshal(struct{ Cols, Rows, W, H uint32 }{cols, rows, 0, 0})
}

func text(s string) []byte { return ssh.Marshal(struct{ S string }{s}) }

func pair(a, b string) []byte { return ssh.Marshal(struct{ A, B string }{a, b}) }

// ask sends a request that must be granted.
func (tm *terminal) ask(name string, payload []byte) {
	tm.t.Helper()
	ok, err := tm.ch.SendRequest(name, true, payload)
	if err != nil || !ok {
		tm.t.Fatalf("request %s: granted %v, error %v", name, ok, err)
	}
}

// shell asks for a terminal of 80x24 and a shell.
func (tm *terminal) shell() *terminal {
	tm.t.Helper()
	tm.ask("pty-req", ptyPayload("xterm-256color", 80, 24))
	tm.ask("shell", nil)
	return tm
}

// exec asks for a terminal of 80x24 and a command.
func (tm *terminal) exec(command string) *terminal {
	tm.t.Helper()
	tm.ask("pty-req", ptyPayload("xterm-256color", 80, 24))
	tm.ask("exec", text(command))
	return tm
}

func (tm *terminal) typeIn(s string) {
	tm.t.Helper()
	if _, err := io.WriteString(tm.ch, s); err != nil {
		tm.t.Fatal(err)
	}
}

// shows waits until the screen has want.
func (tm *terminal) shows(want string) {
	tm.t.Helper()
	tm.t.Cleanup(func() {
		if tm.t.Failed() {
			tm.t.Logf("the screen at the end: %q", tail(tm.screen.String()))
		}
	})
	until(tm.t, "the screen to show "+want, func() bool {
		return strings.Contains(tm.screen.String(), want)
	})
}

// tail is the end of a long text.
func tail(s string) string { return s[max(0, len(s)-4000):] }

// exit waits for the end of the channel and returns the exit status.
func (tm *terminal) exit() int {
	tm.t.Helper()
	select {
	case <-tm.ended:
	case <-time.After(patience):
		tm.t.Fatalf("the channel does not end; screen %q, stderr %q", tail(tm.screen.String()), tm.errs)
	}
	tm.mu.Lock()
	defer tm.mu.Unlock()
	if tm.statuses != 1 {
		tm.t.Errorf("%d exit statuses came", tm.statuses)
	}
	return tm.status
}

// logBook keeps what is written to it.
type logBook struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// shortKeepAlive makes a server probe often.
func shortKeepAlive(c *sshd.Config) { c.Limits.KeepAlive = time.Second }

// deaf is a logged-in client that does not answer the server's requests.
func (s *server) deaf(actor string) *ssh.Client {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	c, chans, _, err := ssh.NewClientConn(conn, s.addr, &ssh.ClientConfig{
		User: actor, Auth: []ssh.AuthMethod{ssh.PublicKeys(s.member(actor))},
		HostKeyCallback: ssh.FixedHostKey(s.host.PublicKey()),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	nothing := make(chan *ssh.Request)
	close(nothing)
	client := ssh.NewClient(c, chans, nothing)
	s.t.Cleanup(func() { client.Close() })
	return client
}
