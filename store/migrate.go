package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/tern/v2/migrate"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/migrations"
)

// versionTable is where tern notes the version of the schema. It has no schema of its own in the name, so that all of
// Hitchpost lies where the search_path of the database URL says.
const versionTable = "terminal_schema_version"

// oldest is the oldest server_version_num that is good enough.
const oldest = 13_00_00

// Migrate brings the database to the schema of this program. Of several instances that start at once one migrates and
// the others wait for it, for as long as ctx lasts. Each step is a transaction, so a killed run leaves a whole step
// behind and the next goes on from there. A schema newer than the program gives ConflictError and stays untouched.
func (s *Store) Migrate(ctx context.Context) error {
	return s.migrate(ctx, nil)
}

// migrate is Migrate with extra migrations after the embedded ones.
func (s *Store) migrate(ctx context.Context, extra []*migrate.Migration) error {
	const op = "migrate the database"
	conn, err := s.connect(ctx)
	if err != nil {
		return fault(op, err)
	}
	defer closeNow(ctx, conn)
	if err := suits(ctx, conn); err != nil {
		return fault(op, causeOf(ctx, err))
	}
	noticed := noticeDeath(ctx, conn) == nil
	m, err := migrate.NewMigrator(ctx, conn, versionTable)
	if err != nil {
		return fault(op, causeOf(ctx, err))
	}
	if err := m.LoadMigrations(migrations.FS); err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	m.Migrations = append(m.Migrations, extra...)
	m.OnStart = func(version int32, name, _, _ string) {
		s.log.Info("migrating the database", "version", version, "file", name)
		if noticed { // tern resets every setting after a step
			_ = noticeDeath(ctx, conn)
		}
	}
	err = m.Migrate(ctx)
	if bad := migrate.BadVersionError(""); errors.As(err, &bad) {
		return tooNew(ctx, m)
	}
	return fault(op, causeOf(ctx, err))
}

// tooNew tells that the schema is of a newer program.
func tooNew(ctx context.Context, m *migrate.Migrator) error {
	found, err := m.GetCurrentVersion(ctx)
	if err != nil {
		return fault("read the version of the database", err)
	}
	return newer("the database", found, int32(len(m.Migrations)))
}

// newer tells that what has a schema that this program does not know.
func newer(what string, found, known int32) error {
	return hitchpost.Errorf(hitchpost.ConflictError, "%s has schema version %d and this program knows versions up to %d",
		what, found, known).Hinted("run the hitchpost that made it or a newer one")
}

// steps are the embedded migrations, each with the SQL that makes it.
func steps() ([]*migrate.Migration, error) {
	m, err := migrate.NewMigrator(context.Background(), nil, versionTable) // without a connection it only reads
	if err == nil {
		err = m.LoadMigrations(migrations.FS)
	}
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	return m.Migrations, nil
}

// suits checks what a database must have before anything is made in it.
func suits(ctx context.Context, conn *pgx.Conn) error {
	var version int
	var name, encoding string
	err := conn.QueryRow(ctx, `select current_setting('server_version_num')::integer,
		current_setting('server_version'), current_setting('server_encoding')`).Scan(&version, &name, &encoding)
	switch {
	case err != nil:
		return err
	case version < oldest:
		return hitchpost.Errorf(hitchpost.UsageError, "the database is PostgreSQL %s", name).
			Hinted("use PostgreSQL %d or newer", oldest/10000)
	case encoding != "UTF8":
		return hitchpost.Errorf(hitchpost.UsageError, "the database has the encoding %s", encoding).
			Hinted("create it with the encoding UTF8")
	}
	return nil
}

// noticeDeath lets the server look now and then whether the client of conn still lives, also while it works or waits
// for a lock: what a killed run began is rolled back then, and not only when its statement is through. The settings
// are set where the server has them: client_connection_check_interval came with PostgreSQL 14, and some systems refuse
// it.
func noticeDeath(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `select set_config(s.name, w.value, false)
		from (values ('client_connection_check_interval', '1000'), ('tcp_keepalives_idle', '10'),
			('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3')) w (name, value)
		join pg_settings s using (name)`)
	return err
}
