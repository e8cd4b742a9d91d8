package storetest_test

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

// Each test has the schema and nothing of another test.
func TestDatabasesAreMigratedAndApart(t *testing.T) {
	t.Parallel()
	for range 2 {
		conn, err := pgx.Connect(context.Background(), storetest.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		var actors int
		if err := conn.QueryRow(context.Background(), "select count(*) from terminal_actors").Scan(&actors); err != nil {
			t.Fatal(err)
		}
		if actors != 0 {
			t.Fatalf("%d actors in a fresh database", actors)
		}
		if _, err := conn.Exec(context.Background(), "insert into terminal_actors (name) values ('ann')"); err != nil {
			t.Fatal(err)
		}
	}
}
