package inside_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/inside"
)

// desk is a server with the notes of its sessions.
type desk struct {
	socket string
	key    inside.Key
	mu     sync.Mutex
	notes  map[string]string
	stop   func()
}

func newDesk(t *testing.T, note func(context.Context, string, inside.Note) (string, error)) *desk {
	t.Helper()
	dir, err := os.MkdirTemp("", "hp-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	d := &desk{socket: filepath.Join(dir, "s"), notes: map[string]string{}}
	if d.key, err = inside.OpenKey(filepath.Join(dir, "key")); err != nil {
		t.Fatal(err)
	}
	if note == nil {
		note = d.note
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	server := inside.Server{Key: d.key, Note: note}
	go func() { done <- server.Serve(ctx, d.socket) }()
	d.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(d.stop)
	for limit := time.Now().Add(10 * time.Second); ; {
		if info, err := os.Stat(d.socket); err == nil && info.Mode().Perm() == 0o600 {
			return d
		}
		if time.Now().After(limit) {
			t.Fatal("no socket")
		}
		<-time.After(time.Millisecond)
	}
}

func (d *desk) note(_ context.Context, session string, n inside.Note) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case n.Change && n.Append:
		d.notes[session] += n.Text
	case n.Change:
		d.notes[session] = n.Text
	}
	return d.notes[session], nil
}

// env is the environment of a session.
func (d *desk) env(session string) func(string) string {
	return func(name string) string {
		return map[string]string{inside.SocketVariable: d.socket, inside.TokenVariable: d.key.Token(session)}[name]
	}
}

func TestASessionReachesItsNoteAndNoOther(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	long := strings.Repeat("<&>\n", hitchpost.MaxNote/4)
	for _, c := range []struct {
		n    inside.Note
		want string
	}{
		{inside.Note{}, ""}, {inside.Note{Change: true, Text: "one\n\ttwo"}, "one\n\ttwo"}, {inside.Note{}, "one\n\ttwo"},
		{inside.Note{Change: true, Append: true, Text: "三"}, "one\n\ttwo三"}, {inside.Note{Change: true, Text: long}, long},
		{inside.Note{Change: true}, ""},
	} {
		if got, err := inside.Call(t.Context(), d.env("a"), "a", c.n); err != nil || got != c.want {
			t.Errorf("%.40q: %.40q, %v", c.n.Text, got, err)
		}
	}
	_, err := inside.Call(t.Context(), d.env("a"), "b", inside.Note{Change: true, Text: "x"})
	wantKind(t, err, hitchpost.DeniedError)
	_, err = inside.Call(t.Context(), d.env("a"), "", inside.Note{})
	wantKind(t, err, hitchpost.UsageError)
	_, err = inside.Call(t.Context(), func(string) string { return "" }, "a", inside.Note{})
	wantKind(t, err, hitchpost.UsageError)
	for _, bad := range []string{"\x1b[2J", "\xff", long + "x"} {
		_, err = inside.Call(t.Context(), d.env("a"), "a", inside.Note{Change: true, Text: bad})
		wantKind(t, err, hitchpost.UsageError)
	}
	if len(d.notes) != 1 || d.notes["a"] != "" {
		t.Errorf("the notes are %q", d.notes)
	}
	d.stop()
	_, err = inside.Call(t.Context(), d.env("a"), "a", inside.Note{})
	wantKind(t, err, hitchpost.UnavailableError)
}

func TestAnErrorOfTheServiceArrivesAsItIs(t *testing.T) {
	t.Parallel()
	said := hitchpost.Errorf(hitchpost.ConflictError, "session a is closed").For("note").Hinted("its note can only be read")
	d := newDesk(t, func(_ context.Context, session string, _ inside.Note) (string, error) {
		switch session {
		case "a":
			return "", said
		case "b":
			return "", errors.New("odd")
		}
		panic("a fault")
	})
	_, err := inside.Call(t.Context(), d.env("a"), "a", inside.Note{})
	var e *hitchpost.Error
	if !errors.As(err, &e) || e.Kind != said.Kind || e.Error() != said.Error() || e.Field != "note" {
		t.Errorf("%+v", err)
	}
	_, err = inside.Call(t.Context(), d.env("b"), "b", inside.Note{})
	wantKind(t, err, hitchpost.FailedError)
	_, err = inside.Call(t.Context(), d.env("c"), "c", inside.Note{})
	wantKind(t, err, hitchpost.UnavailableError) // and the next is answered
	_, err = inside.Call(t.Context(), d.env("a"), "a", inside.Note{})
	wantKind(t, err, hitchpost.ConflictError)
}

// TestStrangersKeepNobodyOut sends what is no call, and too much of it, beside one that is.
func TestStrangersKeepNobodyOut(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for _, text := range []string{"", "{", "null", `{"version":1,"session":"a","token":"x"}`, `{"version":9}`, "GET / HTTP/1.0\r\n\r\n",
		`{"text":"` + strings.Repeat("x", 1<<20)} {
		conn, err := net.Dial("unix", d.socket)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, text)
		if u, ok := conn.(*net.UnixConn); ok {
			_ = u.CloseWrite()
		}
		answer, _ := io.ReadAll(conn)
		if strings.Contains(string(answer), `"note":"secret"`) {
			t.Errorf("%.60q is answered %q", text, answer)
		}
		_ = conn.Close()
	}
	if got, err := inside.Call(t.Context(), d.env("a"), "a", inside.Note{Change: true, Text: "x"}); err != nil || got != "x" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTheKeyStays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	one, err := inside.OpenKey(path)
	if err != nil {
		t.Fatal(err)
	}
	two, err := inside.OpenKey(path)
	if err != nil || one.Token("a") != two.Token("a") || one.Token("a") == one.Token("b") || len(one.Token("a")) < 40 {
		t.Errorf("tokens %q, %q, %q, %v", one.Token("a"), two.Token("a"), one.Token("b"), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := inside.OpenKey(path); err == nil {
		t.Error("a file that is no key is taken for one")
	}
}

func wantKind(t *testing.T, err error, want hitchpost.ErrorKind) {
	t.Helper()
	if got := hitchpost.KindOf(err); got != want {
		t.Errorf("error %v of kind %q, want %q", err, got, want)
	}
}
