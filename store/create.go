package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// Create keeps a new session in state STARTING, of which n gives id, title, kind, node and directory, and may give the
// rest of what a person chooses. Its start may be under way for as long as lease; see Transition. It returns the session
// with its handle, which is n.Handle or is made from the title, with a number after it where another open session has
// that already. Where another session runs the conversation that n names, it gives ConflictError.
func (s *Store) Create(ctx context.Context, n hitchpost.Session, lease time.Duration, by By) (hitchpost.Session, error) {
	return s.insert(ctx, "keep a new session", n, hitchpost.ChangeCreated, lease, by)
}

// Adopt keeps a session that runs but is not known, in state DETACHED. One whose id is known gives ConflictError.
func (s *Store) Adopt(ctx context.Context, n hitchpost.Session, by By) (hitchpost.Session, error) {
	return s.insert(ctx, "adopt a session", n, hitchpost.ChangeFound, 0, by)
}

func (s *Store) insert(
	ctx context.Context, op string, n hitchpost.Session, c hitchpost.Change, lease time.Duration, by By,
) (hitchpost.Session, error) {
	if err := insertable(n); err != nil {
		return hitchpost.Session{}, err
	}
	var kept hitchpost.Session
	err := s.write(ctx, op, func(ctx context.Context, tx *writing) error {
		var now time.Time
		if err := tx.QueryRow(ctx, `select clock_timestamp()`).Scan((*moment)(&now)); err != nil {
			return err
		}
		fresh, err := begin(n, c, by, now)
		if err != nil {
			return err
		}
		fresh.LeaseUntil = until(now, lease)
		if c == hitchpost.ChangeCreated {
			if err := alone(ctx, tx, n.ConversationID, n.ID); err != nil {
				return err
			}
		}
		if err := place(ctx, tx, &fresh); err != nil {
			return err
		}
		event := hitchpost.Event{SessionID: n.ID, At: now, Kind: string(c), To: fresh.State, Reason: by.Reason}
		tx.append(&event, by)
		tx.notify(Notice{TopicSession, n.ID})
		kept, err = load(ctx, tx, n.ID)
		return err
	})
	return kept, err
}

// insertable checks what the database would refuse less clearly.
func insertable(n hitchpost.Session) error {
	if id, err := uuid.Parse(n.ID); err != nil || id.String() != n.ID {
		return hitchpost.Errorf(hitchpost.UsageError, "%q is no session id", n.ID)
	}
	return hitchpost.CheckTitle(n.Title)
}

// begin is what becomes of n by its first change.
func begin(n hitchpost.Session, c hitchpost.Change, by By, now time.Time) (hitchpost.Session, error) {
	to, ok := hitchpost.Next("", c)
	if !ok {
		return n, fmt.Errorf("no session begins with %s", c)
	}
	if n.Handle == "" {
		n.Handle = hitchpost.Handle(n.Title)
	} else {
		n.Handle = hitchpost.Handle(n.Handle) // it may come from a record that anybody could write
	}
	n.State, n.StateReason, n.StateSource, n.StateSince = to, plain(by.Reason), by.source(), now
	if n.CreatedAt.IsZero() {
		n.CreatedAt = now
	}
	if c == hitchpost.ChangeFound {
		if n.StartedAt.IsZero() {
			n.StartedAt = now
		}
	}
	return n, nil
}

// place inserts n under a free handle.
func place(ctx context.Context, tx pgx.Tx, n *hitchpost.Session) error {
	wanted := n.Handle
	for {
		handle, err := freeHandle(ctx, tx, wanted, lowestID)
		if err != nil {
			return err
		}
		n.Handle = handle
		switch err := insertRow(ctx, tx, *n); {
		case err == nil:
			return nil
		case !errors.Is(err, errTaken):
			return err
		}
		// Another got the handle between the look and the insert, which waited for its commit; look again.
	}
}

// errTaken tells that a handle was taken meanwhile.
var errTaken = errors.New("the handle is taken")

func insertRow(ctx context.Context, tx pgx.Tx, n hitchpost.Session) error {
	args := n.Args
	if args == nil {
		args = []string{}
	}
	agent, err := agentJSON(n.Agent)
	if err != nil {
		return err
	}
	var node string
	err = tx.QueryRow(ctx, `select id::text from terminal_nodes where name = $1`, plain(n.Node)).Scan(&node)
	if errors.Is(err, pgx.ErrNoRows) {
		return hitchpost.Errorf(hitchpost.NotFoundError, "there is no node %q", n.Node).Hinted("list the nodes").For("node")
	}
	if err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, `insert into terminal_sessions (id, handle, title, kind, node_id, project, cwd, repo, branch,
			state, state_reason, state_source, state_since, args, restart_command, conversation_id, note, check_command,
			restarts, created_at, started_at, last_output_at, last_attached_at, lease_until, agent, worktree, worktree_of)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
			$25, $26, $27)
		on conflict (handle) where closed_at is null do nothing`,
		n.ID, n.Handle, n.Title, n.Kind, node, n.Project, n.Cwd, plain(n.Repo), plain(n.Branch),
		n.State, n.StateReason, n.StateSource, n.StateSince, args, n.RestartCommand, n.ConversationID, n.Note, n.Check,
		n.Restarts, n.CreatedAt, orNull(n.StartedAt), orNull(n.LastOutputAt), orNull(n.LastAttachedAt), orNull(n.LeaseUntil),
		agent, plain(n.Worktree), plain(n.WorktreeOf))
	if err == nil && tag.RowsAffected() == 0 {
		return errTaken
	}
	return err
}

// freeHandle is wanted, or where an open session other than that with the id has it, the first free one of wanted-2,
// wanted-3 and so on.
func freeHandle(ctx context.Context, tx pgx.Tx, wanted, id string) (string, error) {
	rows, err := tx.Query(ctx, `select handle from terminal_sessions
		where closed_at is null and id <> $2 and (handle = $1 or starts_with(handle, $1 || '-'))`, wanted, id)
	if err != nil {
		return "", err
	}
	taken, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", err
	}
	return firstFree(wanted, taken), nil
}

// firstFree is the first of wanted, wanted-2, wanted-3 and so on that is not taken.
func firstFree(wanted string, taken []string) string {
	used := make(map[string]bool, len(taken))
	for _, t := range taken {
		used[t] = true
	}
	name := wanted
	for i := 2; used[name]; i++ {
		name = fmt.Sprintf("%s-%d", wanted, i)
	}
	return name
}
