package store_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

func TestFault(t *testing.T) {
	t.Parallel()
	pg := func(code, constraint string) error {
		return fmt.Errorf("exec: %w", &pgconn.PgError{Code: code, ConstraintName: constraint, Message: "what it says"})
	}
	told := hitchpost.Errorf(hitchpost.NotFoundError, "told already")
	for _, c := range []struct {
		err  error
		kind hitchpost.ErrorKind
		says string
	}{
		{pg("23505", "terminal_keys_pkey"), hitchpost.ConflictError, "that key is known already"},
		{pg("23514", "terminal_sessions_title"), hitchpost.UsageError, "title"},
		{pg("23503", "terminal_attachments_session_id_fkey"), hitchpost.NotFoundError, "no such session"},
		{pg("23505", "something_new"), hitchpost.ConflictError, "could not try"},
		{pg("23514", "something_new"), hitchpost.UsageError, "something_new"},
		{pg("22021", ""), hitchpost.UsageError, "UTF-8"},
		{pg("25006", ""), hitchpost.UnavailableError, "read-only"},
		{pg("53100", ""), hitchpost.UnavailableError, "free space"},
		{pg("53300", ""), hitchpost.UnavailableError, "too busy"},
		{pg("57P01", ""), hitchpost.UnavailableError, "try again"},
		{pg("57P03", ""), hitchpost.UnavailableError, "try again"},
		{pg("57014", ""), hitchpost.UnavailableError, "in time"},
		{pg("40P01", ""), hitchpost.UnavailableError, "try again"},
		{pg("08006", ""), hitchpost.UnavailableError, "try again"},
		{pg("28P01", ""), hitchpost.FailedError, "database URL"},
		{pg("3D000", ""), hitchpost.FailedError, "create the database"},
		{pg("42P01", ""), hitchpost.FailedError, "schema of this version"},
		{pg("42501", ""), hitchpost.FailedError, "grant"},
		{pg("XX000", ""), hitchpost.FailedError, "what it says"},
		{pg("", ""), hitchpost.FailedError, "what it says"},
		{context.DeadlineExceeded, hitchpost.UnavailableError, "in time"},
		{fmt.Errorf("x: %w", context.Canceled), hitchpost.UnavailableError, "could not try"},
		{&net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3)}, Err: errors.New("refused")},
			hitchpost.UnavailableError, "away (refused)"},
		{&net.DNSError{Err: "no such host", Name: "db.secret"}, hitchpost.UnavailableError, "away (no such host)"},
		{errors.New("unexpected EOF"), hitchpost.UnavailableError, "the database is away: try again"},
		{fmt.Errorf("in a transaction: %w", told), hitchpost.NotFoundError, "told already"},
	} {
		err := store.Fault("try", c.err)
		if hitchpost.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v became %q (%s), want %s with %q", c.err, err, hitchpost.KindOf(err), c.kind, c.says)
		}
		if strings.Contains(err.Error(), "10.1.2.3") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q names a host", err)
		}
		if !errors.Is(err, c.err) && !errors.Is(c.err, context.DeadlineExceeded) {
			t.Errorf("%q lost its cause", err)
		}
	}
	if err := store.Fault("try", nil); err != nil {
		t.Error(err)
	}
}
