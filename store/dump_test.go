package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
	"github.com/hitchpost/hitchpost/store/storetest"
)

// chunk is rows of one table, as Dump gave them.
type chunk struct {
	table string
	rows  []byte
}

// kept is a dump in memory.
type kept struct {
	store.Inventory
	chunks []chunk
}

func dump(t *testing.T, s *store.Store) kept {
	t.Helper()
	var k kept
	var err error
	k.Inventory, err = s.Dump(t.Context(), func(table string, rows []byte) error {
		k.chunks = append(k.chunks, chunk{table, bytes.Clone(rows)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// back is what brings k back.
func (k kept) back() store.Restoring {
	return store.Restoring{Inventory: k.Inventory, By: store.By{Actor: "root", Reason: "from a test"},
		Feed: func(load func(string, io.Reader) error) error {
			for _, c := range k.chunks {
				if err := load(c.table, bytes.NewReader(c.rows)); err != nil {
					return err
				}
			}
			return nil
		}}
}

// text is all that the tables hold, but for the event that tells of a restore.
func (k kept) text() string {
	var out strings.Builder
	for _, c := range k.chunks {
		for line := range strings.Lines(string(c.rows)) {
			if !strings.Contains(line, "\trestored\t") {
				fmt.Fprintf(&out, "%s: %s", c.table, line)
			}
		}
	}
	return out.String()
}

// furnished is a box with something in every table and in every kind of column.
func furnished(t *testing.T) (*box, hitchpost.Session) {
	t.Helper()
	b := newBox(t)
	s := b.fresh("a title with \\ and \"quotes\", ünïcode")
	s.Args = []string{"sh", "-c", "printf 'a\tb\n'", "{curly}", ""}
	s.Note = "line one\nline two\r\n\\N \\. end"
	s, err := b.Create(t.Context(), s, time.Minute, store.By{Actor: "ann", Reason: "tab\there"})
	if err != nil {
		t.Fatal(err)
	}
	b.change(t, s.ID, hitchpost.ChangeStarted)
	b.attach(t, s.ID)
	return b, s
}

func TestDumpAndRestore(t *testing.T) {
	t.Parallel()
	b, s := furnished(t)
	k := dump(t, b.Store)
	if k.Rows("terminal_sessions") != 1 || k.Rows("terminal_keys") != 1 || k.Rows("nothing") != 0 {
		t.Errorf("inventory %+v", k.Inventory)
	}
	into := open(t, storetest.Empty(t))
	if err := into.Restore(t.Context(), k.back()); err != nil {
		t.Fatal(err)
	}
	if got, want := dump(t, into).text(), k.text(); got != want {
		t.Errorf("restored:\n%s\nwant:\n%s", got, want)
	}
	want, err := b.Session(t.Context(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	got, err := into.Session(t.Context(), s.ID)
	if err != nil || got.Note != want.Note || len(got.Args) != 5 || got.Args[2] != want.Args[2] || !got.CreatedAt.Equal(want.CreatedAt) {
		t.Errorf("%+v, %v", got, err)
	}
	// It is the schema of this program, and it works: numbers go on, states change, the table of transitions holds.
	if err := into.Migrate(t.Context()); err != nil {
		t.Error(err)
	}
	events, err := into.Events(t.Context(), hitchpost.EventRequest{})
	if err != nil || events[len(events)-1].Kind != store.EventRestored || events[len(events)-1].Actor != "root" {
		t.Errorf("%+v, %v", events, err)
	}
	if _, err := into.Change(t.Context(), s.ID, store.Transition{Change: hitchpost.ChangeLost}); err != nil {
		t.Error(err)
	}
	_, err = conn(t, b.url).Exec(t.Context(), "delete from terminal_events")
	if err == nil {
		t.Error("events can be removed")
	}
}

// What is written during a dump is in it whole or not at all.
func TestDumpIsOfOneInstant(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	var over atomic.Bool
	written := make(chan error, 1)
	go func() {
		for i := 0; !over.Load(); i++ {
			if _, err := b.Create(t.Context(), b.fresh(fmt.Sprint("work ", i)), time.Minute,
				store.By{Reason: strings.Repeat("x", 20_000)}); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	eventually(t, "there are sessions", func() bool {
		list, err := b.Sessions(t.Context(), hitchpost.ListRequest{})
		return err == nil && len(list) > 3
	})
	for range 3 {
		k := dump(t, b.Store)
		url := storetest.Empty(t)
		if err := open(t, url).Restore(t.Context(), k.back()); err != nil {
			t.Fatal(err)
		}
		var odd int
		err := conn(t, url).QueryRow(t.Context(), `select count(*) from terminal_sessions s full join terminal_events e
			on e.session_id = s.id where (s.id is null or e.id is null) and e.change is distinct from 'restored'
			and e.session_id is not null or s.id is not null and e.id is null`).Scan(&odd)
		if err != nil || odd != 0 {
			t.Errorf("%d sessions without their event, or the other way round, %v", odd, err)
		}
	}
	over.Store(true)
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// A store that holds something is replaced only when told to, and then by all of the dump.
func TestRestoreReplacesOnlyWhenTold(t *testing.T) {
	t.Parallel()
	b, s := furnished(t)
	k := dump(t, b.Store)
	other := newBox(t)
	mine := other.live(t, "mine")
	err := other.Restore(t.Context(), k.back())
	wantKind(t, err, hitchpost.ConflictError)
	if !errors.Is(err, store.ErrNotEmpty) {
		t.Error(err)
	}
	if _, err := other.Session(t.Context(), mine.ID); err != nil {
		t.Fatal(err)
	}
	r := k.back()
	r.Replace = true
	if err := other.Restore(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	_, err = other.Session(t.Context(), mine.ID)
	wantKind(t, err, hitchpost.NotFoundError)
	if _, err := other.Session(t.Context(), s.ID); err != nil {
		t.Error(err)
	}
}

// A restore that fails at any step leaves the store as it was.
func TestRestoreFailsWhole(t *testing.T) {
	t.Parallel()
	b, _ := furnished(t)
	k := dump(t, b.Store)
	other := newBox(t)
	other.live(t, "mine")
	before := dump(t, other.Store).text()
	own := errors.New("the file is torn")
	for what, spoil := range map[string]func(*store.Restoring){
		"newer":   func(r *store.Restoring) { r.Schema = 99 },
		"nothing": func(r *store.Restoring) { r.Schema = 0 },
		"feed":    func(r *store.Restoring) { r.Feed = func(func(string, io.Reader) error) error { return own } },
		"ready":   func(r *store.Restoring) { r.Ready = func() error { return own } },
		"short":   func(r *store.Restoring) { r.Feed = func(func(string, io.Reader) error) error { return nil } },
		"no such table": func(r *store.Restoring) {
			r.Tables = append([]store.Table{{Name: "terminal_sessions; drop table x", Columns: []string{"a"}}}, r.Tables...)
		},
		"unlisted": func(r *store.Restoring) {
			r.Feed = func(load func(string, io.Reader) error) error { return load("pg_authid", strings.NewReader("x\n")) }
		},
		"garbage": func(r *store.Restoring) {
			r.Feed = func(load func(string, io.Reader) error) error {
				return load("terminal_nodes", strings.NewReader("x\n"))
			}
		},
		"broken chunk": func(r *store.Restoring) {
			r.Feed = func(load func(string, io.Reader) error) error {
				return load("terminal_nodes", io.MultiReader(strings.NewReader("x"), brokenReader{own}))
			}
		},
	} {
		r := k.back()
		r.Replace = true
		spoil(&r)
		err := other.Restore(t.Context(), r)
		if err == nil {
			t.Errorf("%s: no error", what)
		}
		if (what == "feed" || what == "ready") && !errors.Is(err, own) {
			t.Errorf("%s: %v", what, err)
		}
		if got := dump(t, other.Store).text(); got != before {
			t.Errorf("%s (%v): the store is another:\n%s", what, err, got)
		}
	}
	// What somebody else built on a table is in the way, and is not removed.
	c := conn(t, other.url)
	run(t, c, "create view theirs as select * from terminal_nodes")
	r := k.back()
	r.Replace = true
	if err := other.Restore(t.Context(), r); err == nil {
		t.Error("a view of somebody else was no hindrance")
	}
	run(t, c, "select from theirs")
}

type brokenReader struct{ err error }

func (b brokenReader) Read([]byte) (int, error) { return 0, b.err }

// No store is replaced below a service that works with it.
func TestRestoreRefusesBesideAService(t *testing.T) {
	t.Parallel()
	b, _ := furnished(t)
	k := dump(t, b.Store)
	lease, err := b.Lease(t.Context(), "reconcile:x")
	if err != nil {
		t.Fatal(err)
	}
	r := k.back()
	r.Replace = true
	wantKind(t, open(t, b.url).Restore(t.Context(), r), hitchpost.ConflictError)
	lease.Release()
	if err := open(t, b.url).Restore(t.Context(), r); err != nil {
		t.Error(err)
	}
}

// A dump of each older schema comes back as one of this program.
func TestRestoreOfOlderSchemas(t *testing.T) {
	t.Parallel()
	steps, err := store.Steps()
	if err != nil {
		t.Fatal(err)
	}
	for version := 2; version < len(steps); version++ {
		old := storetest.Empty(t)
		c := conn(t, old)
		for _, m := range steps[:version] {
			run(t, c, m.UpSQL)
		}
		run(t, c, "create table terminal_schema_version (version int4 not null)")
		run(t, c, "insert into terminal_schema_version values ($1)", version)
		node, session := newID(), newID()
		run(t, c, "insert into terminal_nodes (id, name, state) values ($1, 'there', 'ONLINE')", node)
		run(t, c, `insert into terminal_sessions (id, handle, title, kind, node_id, cwd, state, state_source, state_since, created_at)
			values ($1, 'old', 'Old', 'shell', $2, '/', 'DETACHED', 'tmux', now(), now())`, session, node)
		k := dump(t, open(t, old))
		if int(k.Schema) != version {
			t.Errorf("schema %d, want %d", k.Schema, version)
		}
		into := open(t, storetest.Empty(t))
		if err := into.Restore(t.Context(), k.back()); err != nil {
			t.Fatalf("from schema %d: %v", version, err)
		}
		if got := dump(t, into); int(got.Schema) != len(steps) {
			t.Errorf("schema %d after the restore, want %d", got.Schema, len(steps))
		}
		if s, err := into.Session(t.Context(), session); err != nil || s.Title != "Old" || s.Node != "there" {
			t.Errorf("%+v, %v", s, err)
		}
	}
}

func TestDumpOfSomethingElse(t *testing.T) {
	t.Parallel()
	put := func(string, []byte) error { return nil }
	_, err := open(t, storetest.Empty(t)).Dump(t.Context(), put)
	wantKind(t, err, hitchpost.NotFoundError)
	url := storetest.Empty(t)
	migrateAll(t, url, 1, slow())
	_, err = open(t, url).Dump(t.Context(), put)
	wantKind(t, err, hitchpost.ConflictError)
	// An error of the caller's own comes back as it is.
	b, _ := furnished(t)
	own := errors.New("the disk is full")
	if _, err := b.Dump(t.Context(), func(string, []byte) error { return own }); err != own {
		t.Error(err)
	}
}

// A server that hangs does not hold up a dump for ever.
func TestDumpGivesUpOnAHangingServer(t *testing.T) {
	t.Parallel()
	c, b := apart(t)
	b.live(t, "work")
	run(t, conn(t, c.URL()), `insert into terminal_events (change, source, reason)
		select 'noted', 'person', repeat('x', 1000) from generate_series(1, 20000)`)
	hung := false
	done := make(chan error, 1)
	go func() {
		_, err := b.Dump(t.Context(), func(string, []byte) error {
			if !hung {
				hung = true
				return c.Suspend()
			}
			return nil
		})
		done <- err
	}()
	select {
	case err := <-done:
		wantKind(t, err, hitchpost.UnavailableError)
	case <-time.After(2 * patience):
		t.Error("it waits for ever")
	}
	if err := c.Resume(); err != nil {
		t.Fatal(err)
	}
}
