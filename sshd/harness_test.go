package sshd_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"log/slog"
	"net"
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
		Service: s.service, Pick: s.picker.Pick, Command: s.commands.Run,
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

// limited is a context for a real client.
func limited(t *testing.T) context.Context {
	t.Helper()
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
