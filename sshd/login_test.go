package sshd_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/hitchpost/hitchpost"
)

// whoami is what the server takes the client for.
func whoami(t *testing.T, c *ssh.Client) string {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Output("whoami")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestOnlyAKnownKeyComesIn(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	if _, err := s.dial("root", newKey(t)); err == nil {
		t.Error("an unknown key was let in")
	}
	for name, auth := range map[string][]ssh.AuthMethod{
		"nothing":  nil,
		"password": {ssh.Password("")},
		"questions": {ssh.KeyboardInteractive(func(string, string, []string, []bool) ([]string, error) {
			return nil, nil
		})},
	} {
		_, err := ssh.Dial("tcp", s.addr, &ssh.ClientConfig{
			User: "root", Auth: auth, HostKeyCallback: ssh.FixedHostKey(s.host.PublicKey()),
		})
		if err == nil {
			t.Errorf("%s was enough to come in", name)
		}
	}
	if got := whoami(t, s.client("alice")); got != "alice alice" {
		t.Errorf("got %q", got)
	}
}

// liar offers one key and signs with another.
type liar struct {
	ssh.Signer
	shows ssh.PublicKey
}

func (l liar) PublicKey() ssh.PublicKey { return l.shows }

func TestAKeyIsNotProvedByAnother(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	admin, own := newKey(t), s.member("alice")
	s.know(admin.PublicKey(), "boss", nil)
	if _, err := s.dial("boss", liar{own, admin.PublicKey()}); err == nil {
		t.Error("let in with a signature of another key")
	}
}

// mute is an agent that lists keys of which it signs with one only.
type mute struct {
	agent.Agent
	signs ssh.PublicKey
}

func (m mute) Sign(key ssh.PublicKey, data []byte) (*ssh.Signature, error) {
	return m.SignWithFlags(key, data, 0)
}

func (m mute) SignWithFlags(key ssh.PublicKey, data []byte, _ agent.SignatureFlags) (*ssh.Signature, error) {
	if string(key.Marshal()) != string(m.signs.Marshal()) {
		return nil, errors.New("refused")
	}
	return m.Agent.Sign(key, data)
}

func (m mute) Extension(string, []byte) ([]byte, error) { return nil, agent.ErrExtensionUnsupported }

// serveAgent lends an agent to the real client and returns its socket.
func serveAgent(t *testing.T, a agent.Agent) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = agent.ServeAgent(a, c)
			}()
		}
	}()
	return path
}

// agentKeys fills an agent with n keys and returns their public halves.
func agentKeys(t *testing.T, n int) (agent.Agent, []ssh.PublicKey) {
	t.Helper()
	ring := agent.NewKeyring()
	var public []ssh.PublicKey
	for range n {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if err := ring.Add(agent.AddedKey{PrivateKey: private}); err != nil {
			t.Fatal(err)
		}
		signer, err := ssh.NewSignerFromKey(private)
		if err != nil {
			t.Fatal(err)
		}
		public = append(public, signer.PublicKey())
	}
	return ring, public
}

func TestTheKeyThatSignedDecidesWhoItIs(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	ring, public := agentKeys(t, 3)
	s.know(public[0], "boss", nil)
	s.know(public[1], "alice", func(k *hitchpost.Key) { k.Role = hitchpost.Viewer })
	s.know(public[2], "chief", nil)
	// The client asks about boss, who is known, but only alice's key signs.
	socket := serveAgent(t, mute{ring, public[1]})
	cmd := s.openSSH(limited(t), "ssh", "", "-o", "IdentityAgent="+socket, "me@127.0.0.1", "whoami")
	out, errs, status := run(t, cmd)
	if status != 0 || out != "alice me\n" {
		t.Errorf("status %d, stdout %q, stderr %q", status, out, errs)
	}
}

func TestTwentyKeysMayBeOffered(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	ring, public := agentKeys(t, 20)
	s.know(public[19], "alice", nil)
	socket := serveAgent(t, mute{ring, public[19]})
	cmd := s.openSSH(limited(t), "ssh", "", "-o", "IdentityAgent="+socket, "alice@127.0.0.1", "whoami")
	if out, errs, status := run(t, cmd); status != 0 || out != "alice alice\n" {
		t.Errorf("status %d, stdout %q, stderr %q", status, out, errs)
	}
}

func TestTooManyKeysGetAHint(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	ring, _ := agentKeys(t, 30)
	socket := serveAgent(t, ring)
	cmd := s.openSSH(limited(t), "ssh", "", "-v", "-o", "IdentityAgent="+socket, "alice@127.0.0.1", "ls")
	if _, errs, status := run(t, cmd); status != 255 || !strings.Contains(errs, "IdentitiesOnly=yes") {
		t.Errorf("status %d, stderr %q", status, errs)
	}
}

func TestTheLoginNameIsTheConnections(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	key := s.member("alice")
	c := s.client("bob")
	if got := whoami(t, c); got != "bob bob" {
		t.Errorf("got %q", got)
	}
	second, err := s.dial("last-name", key)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if got := whoami(t, second); got != "alice last-name" {
		t.Errorf("got %q", got)
	}
}

func TestWeakRSAIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	for bits, good := range map[int]bool{1024: false, 2048: true} {
		private, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		signer, err := ssh.NewSignerFromKey(private)
		if err != nil {
			t.Fatal(err)
		}
		s.know(signer.PublicKey(), "alice", nil)
		c, err := s.dial("alice", signer)
		if (err == nil) != good {
			t.Errorf("%d bits: %v", bits, err)
		}
		if err == nil {
			c.Close()
		}
		if good {
			testSHA1(t, s, signer)
		}
	}
}

// sha1Only signs with SHA-1 whatever is asked for.
type sha1Only struct{ ssh.AlgorithmSigner }

func (s sha1Only) Algorithms() []string { return []string{ssh.KeyAlgoRSA} }

func (s sha1Only) Sign(r io.Reader, data []byte) (*ssh.Signature, error) {
	return s.SignWithAlgorithm(r, data, ssh.KeyAlgoRSA)
}

func testSHA1(t *testing.T, s *server, signer ssh.Signer) {
	t.Helper()
	_, err := s.dial("alice", sha1Only{signer.(ssh.AlgorithmSigner)})
	if err == nil {
		t.Error("a SHA-1 signature was taken")
	}
}

// tokenKey is a security key in software. It says that it was touched only where touched is set.
type tokenKey struct {
	private ed25519.PrivateKey
	public  ssh.PublicKey
	touched bool
}

func newTokenKey(t *testing.T, touched bool) tokenKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ssh.ParsePublicKey(ssh.Marshal(struct {
		Type        string
		Key         []byte
		Application string
	}{ssh.KeyAlgoSKED25519, public, "ssh:"}))
	if err != nil {
		t.Fatal(err)
	}
	return tokenKey{private, parsed, touched}
}

func (k tokenKey) PublicKey() ssh.PublicKey { return k.public }

// Sign makes a signature as OpenSSH's PROTOCOL.u2f describes it.
func (k tokenKey) Sign(_ io.Reader, data []byte) (*ssh.Signature, error) {
	flags := byte(0)
	if k.touched {
		flags = 1
	}
	app, message := sha256.Sum256([]byte("ssh:")), sha256.Sum256(data)
	rest := []byte{flags, 0, 0, 0, 1}
	signed := append(append(append([]byte{}, app[:]...), rest...), message[:]...)
	return &ssh.Signature{Format: ssh.KeyAlgoSKED25519, Blob: ed25519.Sign(k.private, signed), Rest: rest}, nil
}

func TestASecurityKeyMustBeTouched(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	for _, test := range []struct{ touched, optional, good bool }{
		{true, false, true}, {true, true, true}, {false, true, true}, {false, false, false},
	} {
		key := newTokenKey(t, test.touched)
		s.know(key.PublicKey(), "alice", func(k *hitchpost.Key) { k.TouchOptional = test.optional })
		c, err := s.dial("alice", key)
		if (err == nil) != test.good {
			t.Errorf("%+v: %v", test, err)
		}
		if err == nil {
			c.Close()
		}
	}
	until(t, "the log to say why", func() bool { return strings.Contains(s.log.String(), "user presence") })
}

func TestAKeyThatIsNoLongerGoodIsToldSo(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	key := s.keyFile("alice")
	s.mu.Lock()
	for f, k := range s.keys {
		k.RevokedAt = time.Now()
		s.keys[f] = k
	}
	s.mu.Unlock()
	for _, words := range [][]string{{"whoami"}, {"-tt"}, {"-tt", "web"}, {"-tt", "attach", "web"}, {"cat"}} {
		args := append([]string{"alice@127.0.0.1"}, words...)
		if words[0] == "-tt" {
			args = append([]string{"-tt", "alice@127.0.0.1"}, words[1:]...)
		}
		out, errs, status := run(t, s.openSSH(limited(t), "ssh", key, args...))
		if status != 77 || !strings.Contains(out+errs, "this key was revoked: log in with another key") {
			t.Errorf("%v: status %d, stdout %q, stderr %q", words, status, out, errs)
		}
	}
	if n := s.commands.count(); n != 0 {
		t.Errorf("%d commands ran", n)
	}
	if runs, _ := s.picker.counts(); runs != 0 || len(s.service.views) != 0 {
		t.Error("more than the reason was shown")
	}
}

func TestAKeyThatIsRevokedEndsItsConnections(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	tm := open(t, s.client("alice")).exec("web")
	other := open(t, s.client("bob")).exec("web")
	v, w := <-s.service.made, <-s.service.made
	s.mu.Lock()
	for f, k := range s.keys {
		if k.Actor == "alice" {
			k.RevokedAt = time.Now()
			s.keys[f] = k
		}
	}
	s.mu.Unlock()
	s.Recheck()
	if status := tm.exit(); status != 77 {
		t.Errorf("status %d", status)
	}
	if !strings.Contains(tm.screen.String(), "this key was revoked") {
		t.Errorf("screen %q", tm.screen)
	}
	if v.isClosed() == w.isClosed() {
		t.Error("want exactly one view closed")
	}
	other.typeIn("\x1d")
	if status := other.exit(); status != 0 {
		t.Errorf("the other: status %d", status)
	}
}

func TestAKeyExpiresWhileItsOwnerIsAttached(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	key := newKey(t)
	s.know(key.PublicKey(), "alice", func(k *hitchpost.Key) { k.ExpiresAt = time.Now().Add(time.Second) })
	c, err := s.dial("alice", key)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tm := open(t, c).exec("web")
	if status := tm.exit(); status != 77 || !strings.Contains(tm.screen.String(), "this key has expired") {
		t.Errorf("status %d, screen %q", status, tm.screen)
	}
}
