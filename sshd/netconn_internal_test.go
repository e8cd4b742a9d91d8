package sshd

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
)

// counted is a connection that counts the reads and deadlines that reach it.
type counted struct {
	net.Conn
	from      io.Reader
	reads     int
	deadlines []time.Time
}

func (c *counted) Read(p []byte) (int, error) { c.reads++; return c.from.Read(p) }

func (c *counted) SetDeadline(t time.Time) error {
	c.deadlines = append(c.deadlines, t)
	return nil
}

func (c *counted) Close() error { return nil }

func TestTheVersionLineIsReadAtOnce(t *testing.T) {
	t.Parallel()
	const line, rest = "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u7\r\n", "the key exchange"
	inner := &counted{from: strings.NewReader(line + rest)}
	n := newNetConn(inner, time.Minute)
	var one [1]byte
	for i := range len(line) {
		if k, err := n.Read(one[:]); k != 1 || err != nil || one[0] != line[i] {
			t.Fatalf("byte %d: %d, %v, %q", i, k, err, one)
		}
	}
	if inner.reads != 1 {
		t.Errorf("%d reads for the version line", inner.reads)
	}
	got, err := bufio.NewReader(n).Peek(len(rest))
	if err != nil || string(got) != rest {
		t.Errorf("then %q, %v", got, err)
	}
}

func TestNobodyElseMovesTheDeadline(t *testing.T) {
	t.Parallel()
	inner := &counted{}
	n := newNetConn(inner, time.Minute)
	n.SetDeadline(time.Time{})
	n.SetReadDeadline(time.Time{})
	n.SetWriteDeadline(time.Time{})
	if len(inner.deadlines) != 1 || inner.deadlines[0].IsZero() {
		t.Errorf("deadlines %v", inner.deadlines)
	}
	n.loggedIn()
	if len(inner.deadlines) != 2 || !inner.deadlines[1].IsZero() {
		t.Errorf("deadlines %v", inner.deadlines)
	}
	n.Close()
	n.Close()
	<-n.gone
}

// attempt is one attempt to log in.
type attempt struct {
	ssh.ConnMetadata
	user string
}

func (a attempt) User() string { return a.user }

// A client may try one name after another on one connection, and gliderlabs/ssh keeps the first.
func TestTheNameOfTheAttemptThatSucceededCounts(t *testing.T) {
	t.Parallel()
	key, err := ssh.ParsePublicKey(ssh.Marshal(struct {
		Type string
		Key  []byte
	}{ssh.KeyAlgoED25519, make([]byte, 32)}))
	if err != nil {
		t.Fatal(err)
	}
	server, client := net.Pipe()
	defer client.Close()
	defer server.Close()
	srv := &Server{slots: newSlots(Limits{}.withDefaults()), cfg: Config{Limits: Limits{}.withDefaults()}}
	srv.cfg.Login = func(_ context.Context, _ ssh.PublicKey, user, _ string) (hitchpost.Actor, hitchpost.Key, error) {
		return hitchpost.Actor{Login: user}, hitchpost.Key{}, nil
	}
	c := &connection{srv: srv, net: newNetConn(server, time.Minute), log: slog.New(slog.DiscardHandler)}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.slot = srv.slots.take("a", nil)
	if _, err := c.decide(key, "first"); err != nil {
		t.Fatal(err)
	}
	p, err := c.signed(attempt{user: "second"}, key, nil, ssh.KeyAlgoED25519)
	if err != nil {
		t.Fatal(err)
	}
	if id := identityOf(p); id == nil || id.actor.Login != "second" || len(p.Extensions) != 0 {
		t.Errorf("identity %+v in %+v", id, p)
	}
	c.net.Close()
	c.others.wait()
}
