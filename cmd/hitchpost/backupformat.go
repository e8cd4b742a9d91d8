package main

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/hitchpost/hitchpost/store"
)

// A backup is a gzipped tar(5) archive. Its members are the files of the data directory, below files/; the rows of the
// store, below store/ and the name of their table, in chunks that come in the order of their numbers; and at last the
// manifest, which names every other one with its checksum. A file without a manifest is torn.

// backupFormat is the version of the layout. A program reads those up to its own.
const backupFormat = 1

const (
	manifestMember = "manifest.json"
	filesBelow     = "files"
	storeBelow     = "store"
)

// manifest is what a backup says of itself.
type manifest struct {
	Format  int             `json:"format"`
	Version string          `json:"version"` // of the hitchpost that made it
	MadeAt  time.Time       `json:"made_at"`
	Store   store.Inventory `json:"store"`
	Members []member        `json:"members"`
}

// member is one part of a backup.
type member struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // in hexadecimal
}

// summary tells people what a backup holds.
func (m manifest) summary() string {
	files := 0
	for _, p := range m.Members {
		if _, ok := strings.CutPrefix(p.Name, filesBelow+"/"); ok {
			files++
		}
	}
	return fmt.Sprintf("%s, %s, %s and %s, as of %s", count(m.Store.Rows("terminal_sessions"), "session"),
		count(m.Store.Rows("terminal_tasks"), "task"), count(m.Store.Rows("terminal_keys"), "key"), count(int64(files), "file"),
		m.MadeAt.Format(time.RFC3339))
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func fileMember(name string) string { return path.Join(filesBelow, name) }

func storeMember(table string, chunk int) string {
	return fmt.Sprintf("%s/%s/%08d", storeBelow, table, chunk)
}

// fileOf is the path in the data directory of a member, and whether it is a file at all.
func fileOf(name string) (string, bool) { return strings.CutPrefix(name, filesBelow+"/") }

// tableOf is the table whose rows a member holds, and whether it holds any.
func tableOf(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, storeBelow+"/")
	table, _, _ := strings.Cut(rest, "/")
	return table, ok
}

// backedUp lists what of the data directory belongs to a backup. The private cluster does not: its rows do. Nor do the
// lock and the tmux server's socket, which belong to processes, and what hooks have left for the service, which is about
// processes that run now.
func backedUp() []string {
	return []string{"node-id", "hostkeys", "sessions", "exits", tasksDir, "presets"}
}
