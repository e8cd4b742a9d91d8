package local

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The role that owns the cluster, the database in it, and the map between operating system accounts and roles.
const (
	role     = "hitchpost"
	database = "hitchpost"
)

// The files of settings lie beside the data, not in it: as root, the account of the server can read but not change
// them.
const (
	confFile  = "postgresql.conf"
	hbaFile   = "pg_hba.conf"
	identFile = "pg_ident.conf"
)

// conf is small and durable. ALTER SYSTEM still overrides it. The log holds what the server says of itself and no
// statement that failed: those are reported to us anyway, and the file would have no bound.
const conf = `# Written by hitchpost at every start of the server; use ALTER SYSTEM to change a setting.
max_connections = 50
shared_buffers = 32MB
max_wal_size = 256MB
max_worker_processes = 4
max_parallel_workers_per_gather = 0
jit = off
log_destination = stderr
logging_collector = off
log_min_messages = log
log_checkpoints = off
log_line_prefix = '%m [%p] '
log_timezone = UTC
timezone = UTC
`

// volatile is for throw-away clusters of tests, of which many share one. They survive the end of every process, and not
// that of the machine.
const volatile = `fsync = off
full_page_writes = off
autovacuum = off
max_connections = 500
`

const hba = `# Only the accounts of pg_ident.conf, known by the kernel.
local all ` + role + ` peer map=hitchpost
`

// configure writes the settings into dir.
func (c *Cluster) configure() error {
	text := conf
	if c.volatile {
		text += volatile
	}
	me, err := accountName()
	if err != nil {
		return err
	}
	ident := fmt.Sprintf("hitchpost %s %s\n", quoteIdent(me), role)
	mode := os.FileMode(0o600)
	if c.account.other {
		mode = 0o644 // the account of the server reads them, and they hold no secret
	}
	for name, text := range map[string]string{confFile: text, hbaFile: hba, identFile: ident} {
		if err := write(filepath.Join(c.dir, name), text, mode); err != nil {
			return err
		}
	}
	return nil
}

// accountName is the name that the server will know this process by, asked from the same place: Go's own lookup knows
// only /etc/passwd when it is built without C.
func accountName() (string, error) {
	out, err := exec.Command("id", "-un").Output()
	if err != nil {
		return "", fmt.Errorf("ask for the name of this account (id -un): %w", err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// quoteIdent is name as a word of pg_ident.conf; within quotes only the quote itself is special, and no account has one.
func quoteIdent(name string) string { return `"` + name + `"` }

// arguments are those of the server that must hold whatever files and ALTER SYSTEM say.
func (c *Cluster) arguments() []string {
	set := func(name, value string) string { return name + "=" + value }
	return []string{
		"-D", c.data,
		"-c", set("config_file", filepath.Join(c.dir, confFile)),
		"-c", set("hba_file", filepath.Join(c.dir, hbaFile)),
		"-c", set("ident_file", filepath.Join(c.dir, identFile)),
		"-c", set("listen_addresses", ""),
		"-c", set("port", fmt.Sprint(port)),
		// A list, whose items may be quoted like identifiers.
		"-c", set("unix_socket_directories", `"`+strings.ReplaceAll(c.socket, `"`, `""`)+`"`),
		"-c", set("unix_socket_permissions", "0700"),
	}
}
