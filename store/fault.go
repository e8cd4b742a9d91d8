package store

import (
	"context"
	"errors"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hitchpost/hitchpost"
)

// readOnlyTransaction is the SQLSTATE of a write to a server that takes none.
const readOnlyTransaction = "25006"

// diskFull is the SQLSTATE of a write that found no space.
const diskFull = "53100"

// fault turns what went wrong while doing op into one of hitchpost's kinds of error. It is the one place where errors
// of PostgreSQL get their meaning: by the name of the constraint first, by SQLSTATE else. SQLSTATE classes are those
// of appendix A of the PostgreSQL manual.
func fault(op string, err error) error {
	if err == nil {
		return nil
	}
	var known *hitchpost.Error
	if errors.As(err, &known) {
		return err
	}
	switch {
	case errors.Is(err, errDeadline), errors.Is(err, context.DeadlineExceeded):
		return hitchpost.Errorf(hitchpost.UnavailableError, "could not %s: %w", op, errDeadline).Hinted("try again")
	case errors.Is(err, context.Canceled):
		return hitchpost.Errorf(hitchpost.UnavailableError, "could not %s: %w", op, err).Hinted("try again")
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return &hitchpost.Error{Kind: hitchpost.UnavailableError, Message: "could not " + op + ": the database is away" +
			network(err), Hint: "try again", Cause: err}
	}
	if f, ok := byConstraint(pg.ConstraintName); ok {
		return &hitchpost.Error{Kind: f.kind, Message: f.message, Hint: f.hint, Field: f.field, Cause: err}
	}
	f := byCode(pg)
	return &hitchpost.Error{Kind: f.kind, Message: "could not " + op + ": " + f.message, Hint: f.hint, Cause: err}
}

// network is the innermost of what went wrong while dialing or talking, in brackets. What is around it names hosts and
// accounts, which are not everybody's business.
func network(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return " (" + dns.Err + ")"
	case errors.As(err, &op):
		return " (" + op.Err.Error() + ")"
	}
	return ""
}

// constraint is the name of the constraint that refused a row, empty for other errors and nil.
func constraint(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.ConstraintName
	}
	return ""
}

// meaning is what an error of PostgreSQL means to a person.
type meaning struct {
	kind          hitchpost.ErrorKind
	message, hint string
	field         string // see hitchpost.Error
}

// byConstraint is the meaning of a row that constraint name refused.
func byConstraint(name string) (meaning, bool) {
	switch name {
	case "terminal_sessions_pkey":
		return meaning{hitchpost.ConflictError, "there is a session with that id already", "", "session"}, true
	case "terminal_sessions_open_handle":
		return meaning{hitchpost.ConflictError, "another open session has that handle", "choose another title", "title"}, true
	case "terminal_sessions_title":
		return meaning{hitchpost.UsageError, "that title cannot be used",
			"use up to 200 printable characters on one line", "title"}, true
	case "terminal_sessions_cwd_check":
		return meaning{hitchpost.UsageError, "the directory of a session must be an absolute path", "", "cwd"}, true
	case "terminal_sessions_node_id_fkey", "terminal_attachments_node_id_fkey", "terminal_tasks_node_id_fkey":
		return meaning{hitchpost.NotFoundError, "there is no such node", "list the nodes", "node"}, true
	case "terminal_attachments_session_id_fkey", "terminal_events_session_id_fkey", "terminal_tasks_session_id_fkey":
		return meaning{hitchpost.NotFoundError, "there is no such session",
			"list the sessions; closed ones go by their id", "session"}, true
	case "terminal_tasks_pkey":
		return meaning{hitchpost.ConflictError, "there is a task with that id already", "", "task"}, true
	case "terminal_attachments_pkey":
		return meaning{hitchpost.ConflictError, "that client is attached already", "", ""}, true
	case "terminal_events_transition":
		return meaning{hitchpost.ConflictError, "a session cannot change its state like that", "", "session"}, true
	case "terminal_keys_pkey", "terminal_keys_authorized_key_key":
		return meaning{hitchpost.ConflictError, "that key is known already", "list the keys", "key"}, true
	}
	return meaning{}, false
}

// byCode is the meaning of the other errors.
func byCode(pg *pgconn.PgError) meaning {
	switch pg.Code {
	case readOnlyTransaction:
		return meaning{hitchpost.UnavailableError, "the database is read-only", "try again once it takes writes", ""}
	case "23505": // unique_violation
		return meaning{hitchpost.ConflictError, "there is one like that already", "", ""}
	case "23503": // foreign_key_violation
		return meaning{hitchpost.NotFoundError, "something it names does not exist", "", ""}
	case "23514", "23502": // check_violation, not_null_violation
		return meaning{hitchpost.UsageError, "a value is not allowed (" + pg.ConstraintName + pg.ColumnName + ")", "", ""}
	case "22021", "22P05", "22P02", "22001": // bytes that are no UTF-8, untranslatable, no such value, too long
		return meaning{hitchpost.UsageError, "a value holds what the database cannot keep", "use UTF-8 without NUL bytes", ""}
	case diskFull:
		return meaning{hitchpost.UnavailableError, "the disk of the database is full", "free space, then try again", ""}
	case "42P01", "42703", "42883", "3F000": // undefined table, column, function, schema
		return meaning{hitchpost.FailedError, "the database has another schema than this program",
			"bring the database to the schema of this version", ""}
	case "42501": // insufficient_privilege
		return meaning{hitchpost.FailedError, "the database account may not do that",
			"grant it the tables of hitchpost: " + pg.Message, ""}
	case "3D000": // invalid_catalog_name
		return meaning{hitchpost.FailedError, pg.Message, "create the database or correct the URL", ""}
	case "55P03", "57014": // lock_not_available, query_canceled
		return meaning{hitchpost.UnavailableError, errDeadline.Error(), "try again", ""}
	}
	switch pg.Code[:min(2, len(pg.Code))] {
	case "28": // login refused
		return meaning{hitchpost.FailedError, pg.Message, "correct the database URL", ""}
	case "08", "40", "53", "57", "58": // connection, rollback, resources, operator, system
		return meaning{hitchpost.UnavailableError, "the database is away or too busy", "try again", ""}
	}
	return meaning{hitchpost.FailedError, pg.Message, "", ""}
}
