package store_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
	"github.com/hitchpost/hitchpost/store/storetest"
)

// migrates, in the environment, makes this binary a program that migrates the database at that URL and never ends.
const migrates = "STORE_TEST_MIGRATES"

func TestMain(m *testing.M) {
	if url := os.Getenv(migrates); url != "" {
		os.Exit(migrateForEver(url))
	}
	os.Exit(storetest.Main(m))
}

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// box is a store on a database of its own, with a node, an actor and a key.
type box struct {
	*store.Store
	url  string
	node hitchpost.Node
	key  hitchpost.Key
}

func newBox(t *testing.T) *box {
	t.Helper()
	return boxOn(t, storetest.URL(t))
}

func boxOn(t *testing.T, url string) *box {
	t.Helper()
	b := &box{Store: open(t, url), url: url}
	var err error
	if b.node, err = b.Node(t.Context(), newID(), "here"); err != nil {
		t.Fatal(err)
	}
	b.key = b.addKey(t, "ann", hitchpost.Admin)
	return b
}

func open(t *testing.T, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, logger(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// logger writes to the output of the test.
func logger(t *testing.T) *slog.Logger {
	t.Helper()
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func (b *box) addKey(t *testing.T, actor string, role hitchpost.Role) hitchpost.Key {
	t.Helper()
	id := newID()
	k, err := b.AddKey(t.Context(), hitchpost.Key{Fingerprint: "SHA256:" + id, AuthorizedKey: "ssh-ed25519 " + id,
		Type: "ssh-ed25519", Actor: actor, Role: role}, store.By{Actor: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// create makes a session in state STARTING.
func (b *box) create(t *testing.T, title string) hitchpost.Session {
	t.Helper()
	s, err := b.Create(t.Context(), b.fresh(title), time.Minute, store.By{Actor: "ann"})
	if err != nil {
		t.Fatalf("create %q: %v", title, err)
	}
	return s
}

func (b *box) fresh(title string) hitchpost.Session {
	return hitchpost.Session{ID: newID(), Title: title, Kind: hitchpost.Shell, Node: b.node.Name, Cwd: "/home/ann"}
}

// live makes a session in state DETACHED.
func (b *box) live(t *testing.T, title string) hitchpost.Session {
	t.Helper()
	return b.change(t, b.create(t, title).ID, hitchpost.ChangeStarted)
}

func (b *box) change(t *testing.T, id string, c hitchpost.Change) hitchpost.Session {
	t.Helper()
	s, err := b.Change(t.Context(), id, store.Transition{Change: c, Lease: time.Minute})
	if err != nil {
		t.Fatalf("%s: %v", c, err)
	}
	return s
}

// attach attaches a client to a session and returns the attachment's id.
func (b *box) attach(t *testing.T, session string) string {
	t.Helper()
	id := newID()
	_, err := b.Attach(t.Context(), store.Attachment{ID: id, Session: session, Node: b.node.ID, Actor: "ann",
		Fingerprint: b.key.Fingerprint})
	if err != nil {
		t.Fatalf("attach: %v", err)
	}
	return id
}

// conn is a plain connection to the database at url.
func conn(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func run(t *testing.T, c *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := c.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// wantKind fails unless err is of the kind.
func wantKind(t *testing.T, err error, kind hitchpost.ErrorKind) {
	t.Helper()
	if !errors.Is(err, &hitchpost.Error{Kind: kind}) {
		t.Fatalf("error %v (%s), want one of kind %s", err, hitchpost.KindOf(err), kind)
	}
}

// eventually waits until f is true.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); !f(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("in %v not: %s", patience, what)
		}
	}
}

// kinds are the kinds of a session's events, in order.
func (b *box) kinds(t *testing.T, session string) string {
	t.Helper()
	events, err := b.Events(t.Context(), hitchpost.EventRequest{Session: session})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for i, e := range events {
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(e.Kind)
	}
	return out.String()
}
