package store

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// StartCheck is CreateTask for the task of a session's check, of which c tells what it sees. It takes the place of the
// check before; while that one runs, it is refused with ConflictError and no task is kept. The end of the task is the
// end of the check.
func (s *Store) StartCheck(ctx context.Context, t hitchpost.Task, c hitchpost.Check, by By) (hitchpost.Task, error) {
	begin := func(ctx context.Context, tx *writing, kept hitchpost.Task) error {
		tag, err := tx.Exec(ctx, `insert into terminal_checks as c (session_id, task_id, command, state, started_at, commit_id,
				tree_id, dirty, branch, unseen)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
			on conflict (session_id) do update set task_id = excluded.task_id, command = excluded.command, state = excluded.state,
				exit_code = null, exit_signal = '', started_at = excluded.started_at, ended_at = null,
				commit_id = excluded.commit_id, tree_id = excluded.tree_id, dirty = excluded.dirty, branch = excluded.branch,
				unseen = excluded.unseen
			where c.state <> 'RUNNING'`,
			kept.SessionID, kept.ID, plain(c.Command), kept.State, kept.StartedAt, plain(c.Commit), plain(c.Tree), c.Dirty,
			plain(c.Branch), plain(c.Saw))
		if err == nil && tag.RowsAffected() == 0 {
			return hitchpost.Errorf(hitchpost.ConflictError, "the check is running already").
				Hinted("wait for its end, or cancel its task")
		}
		return err
	}
	return s.createTask(ctx, t, hitchpost.ChangeTaskStarted, by, begin)
}

// LastCheck is the last run of a session's check; nil where there was none.
func (s *Store) LastCheck(ctx context.Context, session string) (last *hitchpost.Check, err error) {
	err = s.read(ctx, "look up a check", func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, `select session_id::text, task_id::text, command, state, exit_code, exit_signal, started_at,
				ended_at, commit_id, tree_id, dirty, branch, unseen
			from terminal_checks where session_id = $1`, session)
		if err != nil {
			return err
		}
		c, err := pgx.CollectExactlyOneRow(rows, scanCheck)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		last = &c
		return err
	})
	if err != nil {
		return nil, err
	}
	return last, nil
}

func scanCheck(row pgx.CollectableRow) (hitchpost.Check, error) {
	var c hitchpost.Check
	var exit hitchpost.Exit
	err := row.Scan(&c.SessionID, &c.TaskID, &c.Command, &c.State, &exit.Code, &exit.Signal, (*moment)(&c.StartedAt),
		(*moment)(&c.EndedAt), &c.Commit, &c.Tree, &c.Dirty, &c.Branch, &c.Saw)
	if exit.Code != nil || exit.Signal != "" {
		exit.At = c.EndedAt
		c.Exit = &exit
	}
	return c, err
}

// SetCheck gives an open session another check command, or none, and returns the session as it is then. What the last
// check said stays.
func (s *Store) SetCheck(ctx context.Context, id, command string, by By) (changed hitchpost.Session, err error) {
	err = s.write(ctx, "set a check", func(ctx context.Context, tx *writing) error {
		found, now, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if !found.Open() {
			return hitchpost.Errorf(hitchpost.ConflictError, "session %s is closed", found.Handle).
				Hinted("its check can only be run")
		}
		if changed = found; found.Check == command {
			return nil
		}
		if _, err := tx.Exec(ctx, `update terminal_sessions set check_command = $2 where id = $1`, id, command); err != nil {
			return err
		}
		if changed, err = load(ctx, tx, id); err != nil {
			return err
		}
		reason := "no check any more"
		if command != "" { // as short as that of a task
			reason = "checked by " + hitchpost.Task{Argv: strings.Fields(command)}.Called()
		}
		tx.append(&hitchpost.Event{SessionID: id, At: now, Kind: EventCheckSet, Reason: reason}, by)
		tx.notify(Notice{TopicSession, id})
		return nil
	})
	return changed, err
}
