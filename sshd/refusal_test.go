package sshd_test

import (
	"crypto/rand"
	"crypto/rsa"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd"
)

// doorkeeper keeps what a server tells of those who come.
type doorkeeper struct {
	mu      sync.Mutex
	refused []hitchpost.Refusal
	entered []hitchpost.Actor
}

func (d *doorkeeper) watch(c *sshd.Config) {
	c.Refused = func(r hitchpost.Refusal) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.refused = append(d.refused, r)
	}
	c.Entered = func(a hitchpost.Actor) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.entered = append(d.entered, a)
	}
}

// last waits until there were n refusals, and is the latest.
func (d *doorkeeper) last(t *testing.T, n int) hitchpost.Refusal {
	t.Helper()
	var got []hitchpost.Refusal
	until(t, "a refusal to be told", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		got = d.refused
		return len(got) >= n
	})
	if len(got) != n {
		t.Fatalf("%d refusals, want %d: %+v", len(got), n, got)
	}
	return got[n-1]
}

func weakKey(t *testing.T) ssh.Signer {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// Each connection that tried and did not come in is told of once, with what it tried and why that was not enough.
func TestRefusalsAreTold(t *testing.T) {
	t.Parallel()
	var d doorkeeper
	s := serve(t, d.watch)
	stranger, weak, own := newKey(t), weakKey(t), s.member("alice")
	boss, token := newKey(t), newTokenKey(t, false)
	s.know(boss.PublicKey(), "boss", nil)
	s.know(token.PublicKey(), "bob", nil)
	revoked := newKey(t)
	s.know(revoked.PublicKey(), "eve", func(k *hitchpost.Key) { k.RevokedAt = time.Now() })
	expired := newKey(t)
	s.know(expired.PublicKey(), "eve", func(k *hitchpost.Key) { k.ExpiresAt = time.Now().Add(-time.Hour) })
	for i, test := range []struct {
		name   string
		keys   []ssh.Signer
		reason string
		actor  string
	}{
		{"unknown", []ssh.Signer{stranger}, "unknown key", ""},
		{"weak", []ssh.Signer{weak}, "an RSA key of less than 2048 bits is not accepted", ""},
		{"two reasons", []ssh.Signer{stranger, weak, newKey(t)},
			"unknown key; an RSA key of less than 2048 bits is not accepted", ""},
		{"many", []ssh.Signer{newKey(t), newKey(t), newKey(t), newKey(t), newKey(t), newKey(t)}, "unknown key", ""},
		{"revoked", []ssh.Signer{revoked}, "this key was revoked", "eve"},
		{"expired", []ssh.Signer{expired}, "this key has expired", "eve"},
		{"another's", []ssh.Signer{liar{own, boss.PublicKey()}}, "a known key did not prove itself: ssh: ", ""},
		{"untouched", []ssh.Signer{token}, "user presence", ""},
	} {
		c, err := s.dial("root", test.keys...)
		if err == nil {
			c.Close() // of a key that is no longer good, which comes in as far as the reason
		}
		got := d.last(t, i+1)
		if !strings.Contains(got.Reason, test.reason) || got.Actor != test.actor || got.Login != "root" ||
			got.Remote != "127.0.0.1" || got.Network != "127.0.0.1" || got.Keys != len(test.keys) {
			t.Errorf("%s: %+v", test.name, got)
		}
		if len(got.Fingerprints) != min(len(test.keys), 4) ||
			got.Fingerprints[0] != ssh.FingerprintSHA256(test.keys[0].PublicKey()) {
			t.Errorf("%s: keys %q", test.name, got.Fingerprints)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.entered) != 0 {
		t.Errorf("logins of %+v", d.entered)
	}
}

// Who came in after all, or only looked whether somebody is there, was not refused.
func TestOnlyRefusalsAreTold(t *testing.T) {
	t.Parallel()
	var d doorkeeper
	s := serve(t, d.watch)
	c, err := s.dial("alice", newKey(t), s.member("alice"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	silent(t, s, "SSH-2.0-scan\r\n").Close()
	if _, err := s.dial("nobody"); err == nil {
		t.Error("came in with nothing")
	}
	// What a stranger chose is told as it came; who writes it down knows how.
	const name = "\x1b]0;x\a\u202eroot\xff"
	if _, err := s.dial(name, newKey(t)); err == nil {
		t.Error("came in with a name alone")
	}
	if got := d.last(t, 1); got.Login != name || got.Keys != 1 {
		t.Errorf("%+v", got)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.entered) != 1 || d.entered[0].Name != "alice" {
		t.Errorf("logins of %+v", d.entered)
	}
}
