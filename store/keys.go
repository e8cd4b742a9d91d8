package store

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// keyColumns and scanKey belong together.
const keyColumns = `fingerprint, authorized_key, type, comment, actor, role, touch_optional, created_at, expires_at,
	revoked_at, last_used_at, coalesce(last_session::text, '')`

func scanKey(row pgx.CollectableRow) (k hitchpost.Key, err error) {
	err = row.Scan(&k.Fingerprint, &k.AuthorizedKey, &k.Type, &k.Comment, &k.Actor, &k.Role, &k.TouchOptional,
		(*moment)(&k.CreatedAt), (*moment)(&k.ExpiresAt), (*moment)(&k.RevokedAt), (*moment)(&k.LastUsedAt), &k.LastSession)
	return k, err
}

// Keys lists every key, revoked and expired ones too, oldest first.
func (s *Store) Keys(ctx context.Context) (list []hitchpost.Key, err error) {
	err = s.read(ctx, "list the keys", func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, `select `+keyColumns+` from terminal_keys order by created_at, fingerprint`)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, scanKey)
		return err
	})
	return list, err
}

// AddKey lets a key in, and makes its actor known. A key that was revoked or has expired is good again with what k
// says; one that is good gives ConflictError. An empty actor or role stays what it was: nobody may do more than before
// because that was left out. For a new key they are that of by, and Operator.
func (s *Store) AddKey(ctx context.Context, k hitchpost.Key, by By) (added hitchpost.Key, err error) {
	err = s.write(ctx, "add a key", func(ctx context.Context, tx *writing) error {
		k, err := asBefore(ctx, tx, k, by)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `insert into terminal_actors (name) values ($1) on conflict do nothing`, k.Actor); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `insert into terminal_keys
				(fingerprint, authorized_key, type, comment, actor, role, touch_optional, expires_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8)
			on conflict (fingerprint) do update set comment = excluded.comment, actor = excluded.actor,
				role = excluded.role, touch_optional = excluded.touch_optional, expires_at = excluded.expires_at,
				revoked_at = null
			where terminal_keys.revoked_at is not null or terminal_keys.expires_at <= clock_timestamp()
			returning `+keyColumns,
			k.Fingerprint, k.AuthorizedKey, k.Type, plain(k.Comment), k.Actor, k.Role, k.TouchOptional, orNull(k.ExpiresAt))
		if err != nil {
			return err
		}
		added, err = pgx.CollectExactlyOneRow(rows, scanKey)
		if errors.Is(err, pgx.ErrNoRows) {
			return hitchpost.Errorf(hitchpost.ConflictError, "the key %s is known already", k.Fingerprint).
				Hinted("revoke it first to change what it may do").For("key")
		}
		if err != nil {
			return err
		}
		tellOfKey(tx, EventKeyAdded, added, by)
		return nil
	})
	return added, err
}

// asBefore is k with the actor and the role that it leaves open.
func asBefore(ctx context.Context, tx *writing, k hitchpost.Key, by By) (hitchpost.Key, error) {
	actor, role := by.Actor, hitchpost.Operator
	err := tx.QueryRow(ctx, `select actor, role from terminal_keys where fingerprint = $1 for update`, k.Fingerprint).
		Scan(&actor, &role)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return k, err
	}
	k.Actor, k.Role = cmp.Or(k.Actor, actor), cmp.Or(k.Role, role)
	return k, nil
}

// RevokeKey takes a key its right to come in, until somebody adds it again. One that is revoked already stays as it is;
// one that is not known gives NotFoundError.
func (s *Store) RevokeKey(ctx context.Context, fingerprint string, by By) (revoked hitchpost.Key, err error) {
	err = s.write(ctx, "revoke a key", func(ctx context.Context, tx *writing) error {
		tag, err := tx.Exec(ctx, `update terminal_keys set revoked_at = clock_timestamp()
			where fingerprint = $1 and revoked_at is null`, plain(fingerprint))
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `select `+keyColumns+` from terminal_keys where fingerprint = $1`, plain(fingerprint))
		if err != nil {
			return err
		}
		revoked, err = pgx.CollectExactlyOneRow(rows, scanKey)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return noKey(fingerprint)
		case err != nil || tag.RowsAffected() == 0:
			return err
		}
		tellOfKey(tx, EventKeyRevoked, revoked, by)
		return nil
	})
	return revoked, err
}

// RevokeActor takes every key of an actor its right to come in, all in one, and returns all keys of theirs. Those that
// are revoked already stay as they are; an actor without any key gives NotFoundError.
func (s *Store) RevokeActor(ctx context.Context, actor string, by By) (all []hitchpost.Key, err error) {
	err = s.write(ctx, "revoke the keys of an actor", func(ctx context.Context, tx *writing) error {
		rows, err := tx.Query(ctx, `update terminal_keys set revoked_at = clock_timestamp()
			where actor = $1 and revoked_at is null returning `+keyColumns, plain(actor))
		if err != nil {
			return err
		}
		revoked, err := pgx.CollectRows(rows, scanKey)
		if err != nil {
			return err
		}
		rows, err = tx.Query(ctx, `select `+keyColumns+` from terminal_keys where actor = $1
			order by created_at, fingerprint`, plain(actor))
		if err != nil {
			return err
		}
		if all, err = pgx.CollectRows(rows, scanKey); err != nil {
			return err
		}
		if len(all) == 0 {
			return hitchpost.Errorf(hitchpost.NotFoundError, "there is no key of %q", actor).Hinted("list the keys").For("key")
		}
		for _, k := range revoked {
			tellOfKey(tx, EventKeyRevoked, k, by)
		}
		return nil
	})
	return all, err
}

// tellOfKey appends the event of a key and wakes everybody.
func tellOfKey(tx *writing, kind string, k hitchpost.Key, by By) {
	about := k.Fingerprint + " of " + k.Actor + " (" + string(k.Role) + ")"
	if by.Reason != "" {
		about += ": " + by.Reason
	}
	tx.append(&hitchpost.Event{Kind: kind, Reason: about}, by)
	tx.notify(Notice{TopicKey, k.Fingerprint})
}

// KeyUsed notes that a key let somebody in at a time. Nobody is notified.
func (s *Store) KeyUsed(ctx context.Context, fingerprint string, at time.Time) error {
	return s.write(ctx, "note the use of a key", func(ctx context.Context, tx *writing) error {
		tag, err := tx.Exec(ctx, `update terminal_keys set last_used_at = greatest(last_used_at, $2) where fingerprint = $1`,
			plain(fingerprint), at.UTC())
		if err == nil && tag.RowsAffected() == 0 {
			return noKey(fingerprint)
		}
		return err
	})
}

func noKey(fingerprint string) error {
	return hitchpost.Errorf(hitchpost.NotFoundError, "there is no key %q", fingerprint).Hinted("list the keys").For("key")
}
