package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Inventory says what a dump holds. It is kept beside the rows and given to Restore.
type Inventory struct {
	Schema    int32      `json:"schema"` // version of the schema
	Tables    []Table    `json:"tables"` // each after those that its rows point to
	Sequences []Sequence `json:"sequences"`
}

// Table is one table of a dump.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"` // in the order of the values in a row
	Rows    int64    `json:"rows"`
}

// Sequence is how far the numbers of a column were given out.
type Sequence struct {
	Table  string `json:"table"`
	Column string `json:"column"`
	Last   int64  `json:"last"`
}

// Rows is how many rows of a table the dump holds.
func (v Inventory) Rows(table string) int64 {
	for _, t := range v.Tables {
		if t.Name == table {
			return t.Rows
		}
	}
	return 0
}

// ourSchema is the schema that all of Hitchpost lies in, as a condition on a column of type oid; and ourNames the names
// in it.
const (
	ourSchema = ` = (select oid from pg_namespace where nspname = current_schema()) `
	ourNames  = ` like 'terminal\_%' `
)

// tables reads from the catalog which tables there are, but for that of the schema's version, so that one of a later
// migration is never forgotten. Columns that are computed from others are left out.
func tables(ctx context.Context, q querier) ([]Table, error) {
	rows, err := q.Query(ctx, `select c.relname::text, array_agg(a.attname::text order by a.attnum)
		from pg_class c join pg_attribute a on a.attrelid = c.oid
		where c.relnamespace`+ourSchema+`and c.relkind = 'r' and c.relname`+ourNames+`and c.relname <> $1
			and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
		group by c.relname`, versionTable)
	if err != nil {
		return nil, err
	}
	byName := map[string]Table{}
	var t Table
	_, err = pgx.ForEachRow(rows, []any{&t.Name, &t.Columns}, func() error {
		byName[t.Name] = t
		t.Columns = nil // the next row gets a slice of its own
		return nil
	})
	if err != nil {
		return nil, err
	}
	needs, err := foreignKeys(ctx, q)
	if err != nil {
		return nil, err
	}
	return inOrder(byName, needs)
}

// foreignKeys lists for each table those that its rows point to.
func foreignKeys(ctx context.Context, q querier) (map[string][]string, error) {
	rows, err := q.Query(ctx, `select f.relname::text, t.relname::text
		from pg_constraint c join pg_class f on f.oid = c.conrelid join pg_class t on t.oid = c.confrelid
		where c.contype = 'f' and f.relnamespace`+ourSchema)
	if err != nil {
		return nil, err
	}
	needs := map[string][]string{}
	var from, to string
	_, err = pgx.ForEachRow(rows, []any{&from, &to}, func() error {
		needs[from] = append(needs[from], to)
		return nil
	})
	return needs, err
}

// inOrder puts each table after those that it needs. Apart from that they come by name, so that the order is the same
// every time. It is pure.
func inOrder(byName map[string]Table, needs map[string][]string) ([]Table, error) {
	var left []string
	for name := range byName {
		left = append(left, name)
	}
	slices.Sort(left)
	var out []Table
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(name string) bool {
			return !slices.ContainsFunc(needs[name], func(need string) bool {
				return need != name && slices.Contains(left, need)
			})
		})
		if i < 0 {
			return nil, fmt.Errorf("the tables %v point to each other in a circle", left)
		}
		out = append(out, byName[left[i]])
		left = slices.Delete(left, i, i+1)
	}
	return out, nil
}

// sequences reads how far the numbers of every column that counts by itself were given out. A sequence belongs to no
// snapshot, so it is never behind the rows.
func sequences(ctx context.Context, q querier) ([]Sequence, error) {
	rows, err := q.Query(ctx, `select c.relname::text, a.attname::text,
			pg_get_serial_sequence(quote_ident(c.relname), a.attname)
		from pg_class c join pg_attribute a on a.attrelid = c.oid
		where c.relnamespace`+ourSchema+`and c.relkind = 'r' and c.relname`+ourNames+`and a.attnum > 0
			and not a.attisdropped and pg_get_serial_sequence(quote_ident(c.relname), a.attname) is not null
		order by 1, 2`)
	if err != nil {
		return nil, err
	}
	type counter struct {
		Sequence
		name string // quoted by the server
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c counter, err error) {
		err = row.Scan(&c.Table, &c.Column, &c.name)
		return c, err
	})
	if err != nil {
		return nil, err
	}
	var out []Sequence
	for _, c := range found {
		var called bool
		if err := q.QueryRow(ctx, `select last_value, is_called from `+c.name).Scan(&c.Last, &called); err != nil {
			return nil, err
		}
		if called {
			out = append(out, c.Sequence)
		}
	}
	return out, nil
}

// copyText settles what the text of a value looks like, whatever the database, the role and the URL say.
const copyText = `set local datestyle = 'ISO, MDY'; set local timezone = 'UTC'; set local intervalstyle = 'postgres';
	set local bytea_output = 'hex'; set local extra_float_digits = 1; set local client_encoding = 'UTF8'`

// copyOf is the beginning of a COPY statement for t.
func copyOf(t Table) string {
	sql := "copy " + pgx.Identifier{t.Name}.Sanitize() + " ("
	for i, c := range t.Columns {
		if i > 0 {
			sql += ", "
		}
		sql += pgx.Identifier{c}.Sanitize()
	}
	return sql + ")"
}
