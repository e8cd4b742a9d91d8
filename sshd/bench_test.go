package sshd_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd"
)

// benchmarkAttach attaches a raw client to a session that is a view of the benchmark's.
func benchmarkAttach(b *testing.B, v sshd.View) ssh.Channel {
	b.Helper()
	key := newKey(b)
	host := newKey(b)
	srv, err := sshd.New(sshd.Config{
		Signers: []ssh.Signer{host}, Log: slog.New(slog.DiscardHandler),
		Service: fixed{newService(), v}, Pick: (&picker{}).Pick, Command: (&commands{}).Run,
		Login: func(_ context.Context, k ssh.PublicKey, _, _ string) (hitchpost.Actor, hitchpost.Key, error) {
			return hitchpost.Actor{Name: "bench", Role: hitchpost.Admin}, hitchpost.Key{}, nil
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Serve(ctx, ln) }()
	b.Cleanup(func() {
		cancel()
		if err := <-stopped; err != nil {
			b.Error(err)
		}
	})
	c, err := ssh.Dial("tcp", ln.Addr().String(), &ssh.ClientConfig{
		User: "bench", Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: ssh.FixedHostKey(host.PublicKey()),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	ch, reqs, err := c.OpenChannel("session", nil)
	if err != nil {
		b.Fatal(err)
	}
	go ssh.DiscardRequests(reqs)
	for _, r := range []struct {
		name    string
		payload []byte
	}{{"pty-req", ptyPayload("xterm-256color", 80, 24)}, {"exec", text("web")}} {
		if ok, err := ch.SendRequest(r.name, true, r.payload); !ok || err != nil {
			b.Fatal(r.name, ok, err)
		}
	}
	return ch
}

// fixed gives one view, whatever is asked for.
type fixed struct {
	*service
	view sshd.View
}

func (f fixed) Attach(context.Context, hitchpost.Actor, hitchpost.AttachRequest) (sshd.View, error) {
	return f.view, nil
}

// echoView gives back what is typed. It allocates nothing.
type echoView struct {
	*view
	typed chan byte
}

func (e echoView) Read(p []byte) (int, error) {
	select {
	case p[0] = <-e.typed:
		return 1, nil
	case <-e.done:
		return 0, io.EOF
	}
}

func (e echoView) Write(p []byte) (int, error) {
	for _, c := range p {
		e.typed <- c
	}
	return len(p), nil
}

func (e echoView) ReadReady([]byte) (int, error) { return 0, nil }

// BenchmarkEcho is the time from a key to its echo. Client and server share the process: their allocations are counted
// together, and those of x/crypto with them.
func BenchmarkEcho(b *testing.B) {
	ch := benchmarkAttach(b, echoView{newView(hitchpost.Session{ID: "id"}), make(chan byte, 1)})
	key := []byte("k")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ch.Write(key); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(ch, key); err != nil {
			b.Fatal(err)
		}
	}
}

// floodView always has output.
type floodView struct{ *view }

func (f floodView) Read(p []byte) (int, error) {
	select {
	case <-f.done:
		return 0, io.EOF
	default:
		return len(p), nil
	}
}

func (f floodView) ReadReady(p []byte) (int, error) { return f.Read(p[:min(len(p), 4095)]) }

// BenchmarkFlood is the throughput of an attached client.
func BenchmarkFlood(b *testing.B) {
	ch := benchmarkAttach(b, floodView{newView(hitchpost.Session{ID: "id"})})
	buf := make([]byte, 1<<20)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := io.ReadFull(ch, buf); err != nil {
			b.Fatal(err)
		}
	}
}
