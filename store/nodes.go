package store

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

const nodeColumns = `id::text, name, state, reason, since`

func scanNode(row pgx.CollectableRow) (n hitchpost.Node, err error) {
	err = row.Scan(&n.ID, &n.Name, &n.State, &n.Reason, (*moment)(&n.Since))
	return n, err
}

// Node makes the node with that id known and ONLINE, under that name or, where another node has it, the first free one
// of name-2, name-3 and so on. A node that was renamed goes by its new name from then on.
func (s *Store) Node(ctx context.Context, id, name string) (node hitchpost.Node, err error) {
	err = s.write(ctx, "register a node", func(ctx context.Context, tx *writing) error {
		// One at a time, so that a name that was found free is free. Nodes register rarely.
		if _, err := tx.Exec(ctx, `lock table terminal_nodes in share row exclusive mode`); err != nil {
			return err
		}
		name, err := nodeName(ctx, tx, id, plain(name))
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `insert into terminal_nodes (id, name, state) values ($1, $2, $3)
			on conflict (id) do update set name = excluded.name`, id, name, hitchpost.Online)
		if err != nil {
			return err
		}
		if _, err := setNodeState(ctx, tx, id, hitchpost.Online, ""); err != nil {
			return err
		}
		node, err = oneNode(ctx, tx, id)
		if err != nil {
			return err
		}
		tx.notify(Notice{TopicNode, id})
		return nil
	})
	return node, err
}

// nodeName is the name that the node with that id gets when it wants name. One that it has already because name was
// taken once is kept, so that it does not change with every start.
func nodeName(ctx context.Context, tx pgx.Tx, id, name string) (string, error) {
	rows, err := tx.Query(ctx, `select name, id = $1 from terminal_nodes`, id)
	if err != nil {
		return "", err
	}
	var taken []string
	kept := ""
	var other string
	var mine bool
	_, err = pgx.ForEachRow(rows, []any{&other, &mine}, func() error {
		if !mine {
			taken = append(taken, other)
		} else if number, ok := strings.CutPrefix(other, name+"-"); ok && strings.Trim(number, "0123456789") == "" {
			kept = other
		}
		return nil
	})
	if err != nil || kept != "" {
		return kept, err
	}
	return firstFree(name, taken), nil
}

func oneNode(ctx context.Context, q querier, id string) (hitchpost.Node, error) {
	rows, err := q.Query(ctx, `select `+nodeColumns+` from terminal_nodes where id = $1`, id)
	if err != nil {
		return hitchpost.Node{}, err
	}
	n, err := pgx.CollectExactlyOneRow(rows, scanNode)
	if errors.Is(err, pgx.ErrNoRows) {
		return n, hitchpost.Errorf(hitchpost.NotFoundError, "there is no node %q", id).Hinted("list the nodes").For("node")
	}
	return n, err
}

// Nodes lists every node by name.
func (s *Store) Nodes(ctx context.Context) (list []hitchpost.Node, err error) {
	err = s.read(ctx, "list the nodes", func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, `select `+nodeColumns+` from terminal_nodes order by name`)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, scanNode)
		return err
	})
	return list, err
}

// SetNodeState notes whether the node with that id answers, and why not. Since and the event tell of the change of
// state; a reason alone is replaced quietly.
func (s *Store) SetNodeState(ctx context.Context, id string, state hitchpost.NodeState, reason string) error {
	return s.write(ctx, "note the state of a node", func(ctx context.Context, tx *writing) error {
		changed, err := setNodeState(ctx, tx, id, state, reason)
		if err != nil || !changed {
			return err
		}
		tx.notify(Notice{TopicNode, id})
		return nil
	})
}

func setNodeState(ctx context.Context, tx *writing, id string, state hitchpost.NodeState, reason string) (changed bool,
	err error) {
	if _, err := tx.Exec(ctx, `select from terminal_nodes where id = $1 for update`, id); err != nil {
		return false, err
	}
	was, err := oneNode(ctx, tx, id)
	if err != nil || was.State == state && was.Reason == plain(reason) {
		return false, err
	}
	_, err = tx.Exec(ctx, `update terminal_nodes set reason = $3, state = $2,
		since = case when state = $2 then since else clock_timestamp() end where id = $1`, id, state, plain(reason))
	if err != nil || was.State == state {
		return true, err
	}
	kind := EventOnline
	if state == hitchpost.Offline {
		kind = EventOffline
	}
	about := was.Name
	if reason != "" {
		about += ": " + reason
	}
	tx.append(&hitchpost.Event{Kind: kind, Reason: about}, By{})
	return true, nil
}
