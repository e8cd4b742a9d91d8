package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/hitchpost/hitchpost"
)

// sessionColumns and scanSession belong together.
const sessionColumns = `s.id::text, s.handle, s.title, s.kind, n.name, s.project, s.cwd, s.repo, s.branch,
	s.state, s.state_reason, s.state_source, s.state_since,
	coalesce(a.clients, 0),
	s.args, s.restart_command, s.conversation_id, s.note, s.check_command, s.exit_code, s.exit_signal, s.restarts,
	s.created_at, s.started_at, s.ended_at, s.last_output_at, s.last_attached_at, s.closed_at, s.lease_until, s.revision,
	s.agent, s.worktree, s.worktree_of`

const fromSessions = ` from terminal_sessions s
	join terminal_nodes n on n.id = s.node_id
	left join (select session_id, count(*) as clients from terminal_attachments where detached_at is null group by session_id) a
		on a.session_id = s.id `

func scanSession(row pgx.CollectableRow) (hitchpost.Session, error) {
	var s hitchpost.Session
	var agent *agentRow
	err := row.Scan(&s.ID, &s.Handle, &s.Title, &s.Kind, &s.Node, &s.Project, &s.Cwd, &s.Repo, &s.Branch,
		&s.State, &s.StateReason, &s.StateSource, (*moment)(&s.StateSince), &s.Attached,
		&s.Args, &s.RestartCommand, &s.ConversationID, &s.Note, &s.Check, &s.ExitCode, &s.ExitSignal, &s.Restarts,
		(*moment)(&s.CreatedAt), (*moment)(&s.StartedAt), (*moment)(&s.EndedAt), (*moment)(&s.LastOutputAt),
		(*moment)(&s.LastAttachedAt), (*moment)(&s.ClosedAt), (*moment)(&s.LeaseUntil), &s.Revision,
		&agent, &s.Worktree, &s.WorktreeOf)
	s.Agent = agent.agent()
	return s, err
}

// load reads the session with that id.
func load(ctx context.Context, q querier, id string) (hitchpost.Session, error) {
	if _, err := uuid.Parse(id); err != nil {
		return hitchpost.Session{}, noSession(id)
	}
	rows, err := q.Query(ctx, `select `+sessionColumns+fromSessions+`where s.id = $1`, id)
	if err != nil {
		return hitchpost.Session{}, err
	}
	s, err := pgx.CollectExactlyOneRow(rows, scanSession)
	if errors.Is(err, pgx.ErrNoRows) {
		return s, noSession(id)
	}
	return s, err
}

// lock keeps other writers from the session until the end of the transaction, and reads it and the time then. It takes
// statements one after the other, since each sees what was committed before it began: one that waits for the lock
// would count the attachments of before the wait.
func lock(ctx context.Context, tx pgx.Tx, id string) (s hitchpost.Session, now time.Time, err error) {
	if _, err := uuid.Parse(id); err != nil {
		return s, now, noSession(id)
	}
	if _, err := tx.Exec(ctx, `select from terminal_sessions where id = $1 for update`, id); err != nil {
		return s, now, err
	}
	if err := tx.QueryRow(ctx, `select clock_timestamp()`).Scan((*moment)(&now)); err != nil {
		return s, now, err
	}
	s, err = load(ctx, tx, id)
	return s, now, err
}

// Now is the time by the database's clock, which leases and ages go by.
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.read(ctx, "read the clock", func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, `select clock_timestamp()`).Scan((*moment)(&now))
	})
	return now, err
}

func noSession(ref string) error {
	return hitchpost.Errorf(hitchpost.NotFoundError, "there is no session %q", ref).
		Hinted("list the sessions; closed ones go by their id").For("session")
}

// moment scans a timestamptz into a time in UTC, and null into the zero time.
type moment time.Time

// Scan implements sql.Scanner.
func (m *moment) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*m = moment{}
	case time.Time:
		*m = moment(v.UTC())
	default:
		return errors.New("not a time")
	}
	return nil
}

// ScanTimestamptz implements pgtype.TimestamptzScanner, the shorter way: lists have many times.
func (m *moment) ScanTimestamptz(v pgtype.Timestamptz) error {
	switch {
	case !v.Valid:
		*m = moment{}
	case v.InfinityModifier != pgtype.Finite:
		return errors.New("not a time")
	default:
		*m = moment(v.Time.UTC())
	}
	return nil
}

// orNull is t as a parameter, with null for the zero time.
func orNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC()
}

// plain is text that was not written for the database, such as an error that quotes a file name, in a form that
// PostgreSQL takes: UTF-8 without NUL.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
