package store

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// Sessions lists the sessions that r chooses, oldest first.
func (s *Store) Sessions(ctx context.Context, r hitchpost.ListRequest) (list []hitchpost.Session, err error) {
	states := r.States
	if states == nil {
		states = []hitchpost.State{}
	}
	err = s.read(ctx, "list the sessions", func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, `select `+sessionColumns+fromSessions+`
			where ($1 or s.closed_at is null)
			  and (cardinality($2::text[]) = 0 or s.state = any($2))
			  and ($3::text = '' or n.name = $3)
			  and ($4::text = '' or s.project = $4)
			order by s.created_at, s.id`, r.All, states, r.Node, r.Project)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, scanSession)
		return err
	})
	return list, err
}

// Session is the session with that full id, open or closed. NotFoundError where there is none.
func (s *Store) Session(ctx context.Context, id string) (one hitchpost.Session, err error) {
	err = s.read(ctx, "read a session", func(ctx context.Context, q querier) error {
		one, err = load(ctx, q, id)
		return err
	})
	return one, err
}

// ambiguousShown is how many of the sessions that an ambiguous REF may mean are named.
const ambiguousShown = 10

// Resolve is the session that a REF names: the handle of an open session, an id, the beginning of one that no other
// shares (4 characters and more, of open and closed ones), or last for the one that the key attached to last. No match
// gives NotFoundError, an ambiguous beginning UsageError with the candidates.
func (s *Store) Resolve(ctx context.Context, ref, fingerprint string) (one hitchpost.Session, err error) {
	switch ref {
	case "":
		return one, hitchpost.Errorf(hitchpost.UsageError, "no session was named").
			Hinted("give a handle or an id").For("session")
	case "last":
		return s.last(ctx, fingerprint)
	}
	low, high, byID := idRange(ref)
	var found []hitchpost.Session
	err = s.read(ctx, "look up a session", func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, `select `+sessionColumns+fromSessions+`
			where s.handle = $1 and s.closed_at is null or $2 and s.id between $3 and $4
			order by (s.handle = $1 and s.closed_at is null) desc, s.closed_at is not null, s.created_at, s.id
			limit $5`, plain(ref), byID, low, high, ambiguousShown+1)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, scanSession)
		return err
	})
	switch {
	case err != nil:
		return one, err
	case len(found) == 0:
		return one, noSession(ref)
	case len(found) == 1, found[0].Handle == ref && found[0].Open():
		return found[0], nil
	}
	return one, ambiguous(ref, found)
}

// ambiguous names what ref may mean.
func ambiguous(ref string, found []hitchpost.Session) error {
	var names []string
	for _, f := range found[:min(len(found), ambiguousShown)] {
		names = append(names, fmt.Sprintf("%s (%s)", f.ID, f.Handle))
	}
	if len(found) > ambiguousShown {
		names = append(names, "and more")
	}
	return hitchpost.Errorf(hitchpost.UsageError, "%q is the beginning of several ids", ref).
		Hinted("name one of %s", strings.Join(names, ", ")).For("session")
}

// last is the session that the key attached to last.
func (s *Store) last(ctx context.Context, fingerprint string) (one hitchpost.Session, err error) {
	err = s.read(ctx, "look up the last session", func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, `select `+sessionColumns+fromSessions+`
			where s.id = (select last_session from terminal_keys where fingerprint = $1)`, fingerprint)
		if err != nil {
			return err
		}
		one, err = pgx.CollectExactlyOneRow(rows, scanSession)
		if errors.Is(err, pgx.ErrNoRows) {
			return hitchpost.Errorf(hitchpost.NotFoundError, "this key has not attached to a session yet").
				Hinted("name one of the list of sessions").For("session")
		}
		return err
	})
	return one, err
}

// ClientSession is the id of the session that a client, by its HITCHPOST_CLIENT, was attached to last.
// NotFoundError where it never was.
func (s *Store) ClientSession(ctx context.Context, client string) (sessionID string, err error) {
	err = s.read(ctx, "look up a client's session", func(ctx context.Context, q querier) error {
		err := q.QueryRow(ctx, `select session_id::text from terminal_attachments
			where client = $1 and client <> '' order by attached_at desc limit 1`, plain(client)).Scan(&sessionID)
		if errors.Is(err, pgx.ErrNoRows) {
			return hitchpost.Errorf(hitchpost.NotFoundError, "this client has not attached to a session yet")
		}
		return err
	})
	return sessionID, err
}

const (
	lowestID  = "00000000-0000-0000-0000-000000000000"
	highestID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
)

var idPrefix = regexp.MustCompile(`^[0-9a-f-]{4,36}$`)

// idRange is the range of ids that begin with ref, which may be a whole one; ok is false when none can.
func idRange(ref string) (low, high string, ok bool) {
	if !idPrefix.MatchString(ref) {
		return lowestID, lowestID, false
	}
	for i := range len(ref) {
		if (ref[i] == '-') != (lowestID[i] == '-') {
			return lowestID, lowestID, false
		}
	}
	return ref + lowestID[len(ref):], ref + highestID[len(ref):], true
}
