package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// TaskEnd is how a task came to its end, for FinishTask.
type TaskEnd struct {
	Change   hitchpost.TaskChange
	Reason   string          // for people
	Exit     *hitchpost.Exit // nil where nobody saw it; without At it ended now
	TimedOut bool
	// StartedAt is when its process began; zero: what is kept of that stays.
	StartedAt time.Time
	LogBytes  int64
	Usage     *hitchpost.Usage
	By        By // of the event
}

// taskColumns and scanTask belong together.
const taskColumns = `t.id::text, t.name, coalesce(t.session_id::text, ''), n.name, t.cwd, t.argv, t.state, t.state_reason,
	t.exit_code, t.exit_signal, t.timed_out, t.actor, t.timeout_ms, t.started_at, t.ended_at, t.log_bytes, t.user_seconds,
	t.system_seconds, t.max_rss_bytes`

const fromTasks = ` from terminal_tasks t join terminal_nodes n on n.id = t.node_id `

func scanTask(row pgx.CollectableRow) (hitchpost.Task, error) {
	var t hitchpost.Task
	var timeout int64
	var user, system *float64
	var rss *int64
	err := row.Scan(&t.ID, &t.Name, &t.SessionID, &t.Node, &t.Cwd, &t.Argv, &t.State, &t.Reason, &t.ExitCode, &t.ExitSignal,
		&t.TimedOut, &t.Actor, &timeout, (*moment)(&t.StartedAt), (*moment)(&t.EndedAt), &t.LogBytes, &user, &system, &rss)
	t.Timeout = time.Duration(timeout) * time.Millisecond
	if user != nil && system != nil && rss != nil {
		t.Usage = &hitchpost.Usage{User: seconds(*user), System: seconds(*system), MaxRSS: *rss}
	}
	return t, err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// CreateTask keeps a new task in state RUNNING, of which t gives all that is known before it ends. c is
// ChangeTaskStarted, or ChangeTaskFound for one that is on a node although it is not known; StartedAt is now where t has
// none. An id that is known gives ConflictError, and a session or node that is not NotFoundError.
func (s *Store) CreateTask(ctx context.Context, t hitchpost.Task, c hitchpost.TaskChange, by By) (hitchpost.Task, error) {
	return s.createTask(ctx, t, c, by, func(context.Context, *writing, hitchpost.Task) error { return nil })
}

// createTask is CreateTask with more in the same transaction.
func (s *Store) createTask(ctx context.Context, t hitchpost.Task, c hitchpost.TaskChange, by By,
	more func(context.Context, *writing, hitchpost.Task) error,
) (hitchpost.Task, error) {
	if id, err := uuid.Parse(t.ID); err != nil || id.String() != t.ID {
		return t, hitchpost.Errorf(hitchpost.UsageError, "%q is no task id", t.ID)
	}
	state, ok := hitchpost.NextTask("", c)
	if !ok {
		return t, fmt.Errorf("no task begins with %s", c)
	}
	t.Name, t.Cwd, t.Reason, t.Actor = plain(t.Name), plain(t.Cwd), plain(by.Reason), plain(by.Actor)
	argv := make([]string, len(t.Argv))
	for i, word := range t.Argv {
		argv[i] = plain(word)
	}
	var kept hitchpost.Task
	err := s.write(ctx, "keep a new task", func(ctx context.Context, tx *writing) error {
		rows, err := tx.Query(ctx, `with t as (
				insert into terminal_tasks (id, name, session_id, node_id, cwd, argv, state, state_reason, actor, timeout_ms,
					started_at)
				select $1, $2, $3, n.id, $5, $6, $7, $8, $9, $10, coalesce($11, clock_timestamp())
				from terminal_nodes n where n.name = $4
				returning *)
			select `+taskColumns+` from t join terminal_nodes n on n.id = t.node_id`,
			t.ID, t.Name, idOrNull(t.SessionID), plain(t.Node), t.Cwd, argv, state, t.Reason, t.Actor,
			t.Timeout.Milliseconds(), orNull(t.StartedAt))
		if err != nil {
			return err
		}
		kept, err = pgx.CollectExactlyOneRow(rows, scanTask)
		if errors.Is(err, pgx.ErrNoRows) {
			return hitchpost.Errorf(hitchpost.NotFoundError, "there is no node %q", t.Node).Hinted("list the nodes").For("node")
		}
		if err != nil {
			return err
		}
		tellOfTask(tx, kept, c, by)
		return more(ctx, tx, kept)
	})
	return kept, err
}

// idOrNull is an id as a parameter, with null for none.
func idOrNull(id string) any {
	if id == "" {
		return nil
	}
	return id
}

// tellOfTask appends the event of a change of a task and wakes whoever listens.
func tellOfTask(tx *writing, t hitchpost.Task, c hitchpost.TaskChange, by By) {
	about := t.ID + " (" + t.Called() + ")"
	if by.Reason != "" {
		about += ": " + by.Reason
	}
	tx.append(&hitchpost.Event{SessionID: t.SessionID, Kind: string(c), Reason: about}, by)
	tx.notify(Notice{TopicTask, t.ID})
}

// FinishTask gives a running task its final state and returns it. Where it is over already nothing changes and the
// ConflictError names the state found: of many that finish one task one succeeds, and what it wrote stays.
func (s *Store) FinishTask(ctx context.Context, id string, e TaskEnd) (ended hitchpost.Task, err error) {
	state, ok := hitchpost.NextTask(hitchpost.TaskRunning, e.Change)
	if !ok {
		return ended, fmt.Errorf("no task ends with %s", e.Change)
	}
	if _, err := uuid.Parse(id); err != nil {
		return ended, noTask(id)
	}
	err = s.write(ctx, "note the end of a task", func(ctx context.Context, tx *writing) error {
		ended, err = finish(ctx, tx, id, state, e)
		if !errors.Is(err, pgx.ErrNoRows) {
			if err == nil {
				tellOfTask(tx, ended, e.Change, e.By)
			}
			return err
		}
		found, err := findTasks(ctx, tx, id, id)
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return noTask(id)
		}
		return hitchpost.Errorf(hitchpost.ConflictError, "task %s is %s", id, found[0].State).For("task")
	})
	return ended, err
}

// finish writes the end of a task that still runs, and of the check that it is of; pgx.ErrNoRows where none of that id
// does.
func finish(ctx context.Context, tx *writing, id string, state hitchpost.TaskState, e TaskEnd) (hitchpost.Task, error) {
	var exit hitchpost.Exit
	if e.Exit != nil {
		exit = *e.Exit
	}
	var user, system *float64
	var rss *int64
	if e.Usage != nil {
		u, sys := e.Usage.User.Seconds(), e.Usage.System.Seconds()
		user, system, rss = &u, &sys, &e.Usage.MaxRSS
	}
	// The row is locked for the session that it belongs to as the event's foreign key will; see tell.
	rows, err := tx.Query(ctx, `with t as (
			update terminal_tasks set state = $2, state_reason = $3, exit_code = $4, exit_signal = $5, timed_out = $6,
				started_at = coalesce($7, started_at),
				ended_at = case when $2 <> 'LOST' then coalesce($8, clock_timestamp()) end,
				log_bytes = $9, user_seconds = $10, system_seconds = $11, max_rss_bytes = $12
			where id = $1 and state = 'RUNNING' returning *),
		held as (select s.id from terminal_sessions s join t on t.session_id = s.id for key share of s),
		checked as (update terminal_checks c set state = t.state, exit_code = t.exit_code, exit_signal = t.exit_signal,
			ended_at = t.ended_at from t where c.task_id = t.id)
		select `+taskColumns+` from t join terminal_nodes n on n.id = t.node_id left join held on true`,
		id, state, plain(e.Reason), exit.Code, exit.Signal, e.TimedOut, orNull(e.StartedAt), orNull(exit.At), e.LogBytes,
		user, system, rss)
	if err != nil {
		return hitchpost.Task{}, err
	}
	return pgx.CollectExactlyOneRow(rows, scanTask)
}

// Tasks lists the tasks that r chooses, oldest first; r.Session is an id.
func (s *Store) Tasks(ctx context.Context, r hitchpost.TaskListRequest) (list []hitchpost.Task, err error) {
	states := make([]string, len(r.States))
	for i, state := range r.States {
		states[i] = string(state)
	}
	err = s.read(ctx, "list the tasks", func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, `select `+taskColumns+fromTasks+`
			where (cardinality($1::text[]) = 0 or t.state = any($1))
			  and ($2::uuid is null or t.session_id = $2)
			  and ($3::text = '' or n.name = $3)
			order by t.id`, states, idOrNull(r.Session), plain(r.Node))
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, scanTask)
		return err
	})
	return list, err
}

// Task is the task with that id, or that whose id alone begins with ref, of at least 4 characters. None gives
// NotFoundError, several UsageError with the candidates.
func (s *Store) Task(ctx context.Context, ref string) (one hitchpost.Task, err error) {
	low, high, ok := idRange(ref)
	if !ok {
		return one, noTask(ref)
	}
	var found []hitchpost.Task
	err = s.read(ctx, "look up a task", func(ctx context.Context, q querier) error {
		found, err = findTasks(ctx, q, low, high)
		return err
	})
	switch {
	case err != nil:
		return one, err
	case len(found) == 0:
		return one, noTask(ref)
	case len(found) == 1:
		return found[0], nil
	}
	var names []string
	for _, f := range found[:min(len(found), ambiguousShown)] {
		names = append(names, fmt.Sprintf("%s (%s)", f.ID, f.Called()))
	}
	if len(found) > ambiguousShown {
		names = append(names, "and more")
	}
	return one, hitchpost.Errorf(hitchpost.UsageError, "%q is the beginning of several ids", ref).
		Hinted("name one of %s", strings.Join(names, ", ")).For("task")
}

// LastTask is the task that an actor started last of those that are kept. None gives NotFoundError.
func (s *Store) LastTask(ctx context.Context, actor string) (last hitchpost.Task, err error) {
	err = s.read(ctx, "look up a task", func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, `select `+taskColumns+fromTasks+`where t.actor = $1 order by t.id desc limit 1`, plain(actor))
		if err != nil {
			return err
		}
		last, err = pgx.CollectExactlyOneRow(rows, scanTask)
		if errors.Is(err, pgx.ErrNoRows) {
			return hitchpost.Errorf(hitchpost.NotFoundError, "no task of %q is kept", actor).Hinted("list the tasks").For("task")
		}
		return err
	})
	return last, err
}

// findTasks reads the first tasks of a range of ids, one more than are shown of several.
func findTasks(ctx context.Context, q querier, low, high string) ([]hitchpost.Task, error) {
	rows, err := q.Query(ctx, `select `+taskColumns+fromTasks+`where t.id between $1 and $2 order by t.id limit $3`,
		low, high, ambiguousShown+1)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanTask)
}

// RemoveTask forgets a task that is over; one that runs, and one that is not known, stays as it is. Its events stay.
func (s *Store) RemoveTask(ctx context.Context, id string) error {
	return s.write(ctx, "forget a task", func(ctx context.Context, tx *writing) error {
		tag, err := tx.Exec(ctx, `delete from terminal_tasks where id = $1 and state <> 'RUNNING'`, id)
		if err == nil && tag.RowsAffected() > 0 {
			tx.notify(Notice{TopicTask, id})
		}
		return err
	})
}

func noTask(ref string) error {
	return hitchpost.Errorf(hitchpost.NotFoundError, "there is no task %q", ref).Hinted("list the tasks").For("task")
}
