package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/tern/v2/migrate"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
	"github.com/hitchpost/hitchpost/store/storetest"
)

// later is a migration of the version after this one.
func later(sql string) *migrate.Migration {
	known, err := store.Steps()
	if err != nil {
		panic(err) // it is also used where there is no test
	}
	return &migrate.Migration{Sequence: int32(len(known) + 1), Name: "later.sql", UpSQL: sql}
}

// slow is a migration of a later version that takes a while and tells how often it ran.
func slow() *migrate.Migration {
	return later(`create table slow_ran (n integer); insert into slow_ran select 1 from pg_sleep(0.5)`)
}

// migrateAll lets n instances migrate at the same instant.
func migrateAll(t *testing.T, url string, n int, more ...*migrate.Migration) {
	t.Helper()
	stores := make([]*store.Store, n)
	for i := range stores {
		stores[i] = open(t, url)
	}
	_, errs := at(n, func(i int) (struct{}, error) { return struct{}{}, stores[i].MigrateWith(t.Context(), more...) })
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestFiveInstancesMigrateOnce(t *testing.T) {
	t.Parallel()
	url := storetest.Empty(t)
	migrateAll(t, url, 5) // an empty database
	boxOn(t, url).live(t, "works")
	migrateAll(t, url, 5)         // the schema that is there
	migrateAll(t, url, 5, slow()) // the previous one
	var ran int
	if err := conn(t, url).QueryRow(t.Context(), "select count(*) from slow_ran").Scan(&ran); err != nil || ran != 1 {
		t.Errorf("the migration ran %d times, %v", ran, err)
	}
}

// migrateForEver begins a long step; the process is killed in it.
func migrateForEver(url string) int {
	ctx := context.Background()
	s, err := store.Open(ctx, url, slog.New(slog.DiscardHandler))
	if err == nil {
		err = s.MigrateWith(ctx, later(`create table half_done (n integer); select pg_sleep(600)`))
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// A run that is killed in the middle of a long step leaves the steps before it and nothing of that one, and the next
// run goes on as soon as the server has noticed.
func TestKilledMigrationContinues(t *testing.T) {
	t.Parallel()
	url := storetest.Empty(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), migrates+"="+url)
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	c := conn(t, url)
	eventually(t, "the long step runs", func() bool {
		var waits bool
		err := c.QueryRow(t.Context(), `select exists (select from pg_stat_activity
			where datname = current_database() and wait_event = 'PgSleep')`).Scan(&waits)
		return err == nil && waits
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	migrateAll(t, url, 3, slow())
	if took := time.Since(began); took > patience {
		t.Errorf("the server noticed the end of the killed run after %v", took)
	}
	var half bool
	err := c.QueryRow(t.Context(), "select exists (select from pg_tables where tablename = 'half_done')").Scan(&half)
	if err != nil || half {
		t.Errorf("half a step is there: %v, %v", half, err)
	}
}

// A database of the schema before agents keeps all that it holds, and takes what is new.
func TestMigrateFromBeforeAgents(t *testing.T) {
	t.Parallel()
	steps, err := store.Steps()
	if err != nil {
		t.Fatal(err)
	}
	url := storetest.Empty(t)
	c := conn(t, url)
	for _, m := range steps[:4] {
		run(t, c, m.UpSQL)
	}
	run(t, c, "create table terminal_schema_version (version int4 not null)")
	run(t, c, "insert into terminal_schema_version values (4)")
	node, asker := newID(), newID()
	run(t, c, "insert into terminal_nodes (id, name, state) values ($1, 'here', 'ONLINE')", node)
	run(t, c, `insert into terminal_sessions (id, handle, title, kind, node_id, cwd, state, state_reason, state_source, state_since,
			conversation_id, note, created_at, started_at, revision)
		values ($1, 'asker', 'Asker', 'claude', $2, '/', 'WAITING_FOR_INPUT', 'asks', 'hook', now(), 'no-uuid', 'keep me', now(),
			now(), 7)`, asker, node)
	run(t, c, `insert into terminal_events (session_id, change, from_state, to_state, source, reason)
		values ($1, 'waiting', 'RUNNING', 'WAITING_FOR_INPUT', 'hook', 'asks'), ($1, 'noted', '', '', 'person', 'a note')`, asker)
	run(t, c, `insert into terminal_tasks (id, node_id, session_id, cwd, argv, state, started_at)
		values ($1, $2, $3, '/', '{make}', 'RUNNING', now())`, newID(), node, asker)
	before := dump(t, open(t, url))

	migrateAll(t, url, 2)
	after := dump(t, open(t, url))
	for _, table := range []string{"terminal_sessions", "terminal_events", "terminal_tasks"} {
		if got, want := after.Rows(table), before.Rows(table); got != want || want == 0 {
			t.Errorf("%d rows of %s, and %d before", got, table, want)
		}
	}
	b := boxOn(t, url)
	s, err := b.Session(t.Context(), asker)
	if err != nil || s.Agent != nil || s.ConversationID != "no-uuid" || s.Note != "keep me" || s.Revision != 7 ||
		s.State != hitchpost.WaitingForInput || s.StateSource != hitchpost.FromHook {
		t.Errorf("%+v, %v", s, err)
	}
	if events := b.events(t, asker); len(events) != 2 || events[0].Reason != "asks" || events[1].Kind != store.EventNoted {
		t.Errorf("%+v", events)
	}
	n := waits("permission: Bash", time.Time{})
	n.Source, n.Conversation = hitchpost.FromRegistry, newID()
	if got := b.hears(t, asker, n); got.StateReason != "permission: Bash" || got.StateSource != hitchpost.FromRegistry ||
		got.Agent.Former[0].ID != "no-uuid" {
		t.Errorf("%+v", got)
	}
}

func TestNewerSchemaStops(t *testing.T) {
	t.Parallel()
	url := storetest.Empty(t)
	migrateAll(t, url, 1, slow())
	err := open(t, url).Migrate(t.Context())
	wantKind(t, err, hitchpost.ConflictError)
	newer := int(slow().Sequence)
	text := err.Error()
	if !strings.Contains(text, fmt.Sprint("version ", newer)) || !strings.Contains(text, fmt.Sprint("up to ", newer-1)) {
		t.Errorf("the versions are not named: %v", err)
	}
	var version int
	if err := conn(t, url).QueryRow(t.Context(), "select version from terminal_schema_version").Scan(&version); err != nil ||
		version != newer {
		t.Errorf("version %d, %v", version, err)
	}
}

// All of Hitchpost lies in the schema that the URL names.
func TestMigrateIntoAnotherSchema(t *testing.T) {
	t.Parallel()
	url := storetest.Empty(t)
	run(t, conn(t, url), "create schema apart")
	b := func() *box {
		u := url + "&search_path=apart"
		if err := open(t, u).Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		return boxOn(t, u)
	}()
	b.live(t, "works")
	var others int
	err := conn(t, url).QueryRow(t.Context(), "select count(*) from pg_tables where schemaname = 'public'").Scan(&others)
	if err != nil || others != 0 {
		t.Errorf("%d tables in public, %v", others, err)
	}
}

func TestMigrateWantsUTF8(t *testing.T) {
	t.Parallel()
	url := storetest.Empty(t)
	c := conn(t, url)
	name := c.Config().Database
	run(t, c, "create database latin_"+name+" encoding 'LATIN1' template template0")
	defer run(t, c, "drop database latin_"+name+" with (force)")
	s := open(t, strings.Replace(url, "/"+name+"?", "/latin_"+name+"?", 1))
	wantKind(t, s.Migrate(t.Context()), hitchpost.UsageError)
}

func TestAnotherSchemaIsTold(t *testing.T) {
	t.Parallel()
	_, err := open(t, storetest.Empty(t)).Sessions(t.Context(), hitchpost.ListRequest{})
	wantKind(t, err, hitchpost.FailedError)
	if !strings.Contains(err.Error(), "schema of this version") {
		t.Error(err)
	}
}

// A URL that cannot be read is told without its password.
func TestBadURL(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://ann:secret@host:port/db", "host=x sslmode=sometimes password=secret", "\x00"} {
		_, err := store.Open(t.Context(), url, slog.New(slog.DiscardHandler))
		wantKind(t, err, hitchpost.UsageError)
		if strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
	}
}

// Nobody home: a call tells so in time, and what to do.
func TestNoServer(t *testing.T) {
	t.Parallel()
	s := open(t, "postgres:///x?host="+t.TempDir()+"&user=x")
	began := time.Now()
	wantKind(t, s.Ping(t.Context()), hitchpost.UnavailableError)
	wantKind(t, s.Migrate(t.Context()), hitchpost.UnavailableError)
	if took := time.Since(began); took > 2*store.Deadline {
		t.Errorf("took %v", took)
	}
}
