// Package migrations holds the schema of Hitchpost's database as numbered SQL files, and nothing else.
//
// The files are for tern: each runs in a transaction of its own, in the order of its number. A file that was released
// is never edited; what changes comes in a new one. Package store runs them.
package migrations

import "embed"

// FS holds the files at its root, named NNN_what.sql.
//
//go:embed *.sql
var FS embed.FS
