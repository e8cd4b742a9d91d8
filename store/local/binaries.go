package local

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hitchpost/hitchpost"
)

// oldestMajor is the oldest PostgreSQL that is good enough.
const oldestMajor = 13

// Binaries is an installed PostgreSQL server.
type Binaries struct {
	Dir     string // holds initdb and postgres
	Major   int
	Version string // such as 15.4
}

// Find returns the newest PostgreSQL server of this machine that is good enough. It looks where pg_config says, where
// Debian, Red Hat, Homebrew and Postgres.app put it, and in PATH. None gives UnavailableError with what to install.
func Find(ctx context.Context) (Binaries, error) {
	found := installed(ctx)
	if b, ok := pick(found, 0); ok {
		return b, nil
	}
	err := hitchpost.Errorf(hitchpost.UnavailableError, "no PostgreSQL server of version %d or newer is installed%s",
		oldestMajor, list(found))
	return Binaries{}, err.Hinted("install it (Debian and Ubuntu: apt-get install postgresql; macOS: brew install " +
		"postgresql@17) or give --database-url")
}

// pick is the newest of found that is of the given major version, or of any that is good enough where major is 0.
func pick(found []Binaries, major int) (Binaries, bool) {
	var best Binaries
	for _, b := range found {
		if (major == 0 && b.Major >= oldestMajor || b.Major == major) && newer(b, best) {
			best = b
		}
	}
	return best, best.Dir != ""
}

func newer(a, b Binaries) bool {
	if a.Major != b.Major {
		return a.Major > b.Major
	}
	return minor(a.Version) > minor(b.Version)
}

func minor(version string) int {
	_, rest, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(rest) // betas have no number here and lose
	return n
}

// list names versions for a message: "", or " (found 11.2, 12.1)".
func list(found []Binaries) string {
	if len(found) == 0 {
		return ""
	}
	names := make([]string, len(found))
	for i, b := range found {
		names[i] = b.Version
	}
	return " (found " + strings.Join(names, ", ") + ")"
}

// installed lists the servers of this machine, oldest first, each once.
func installed(ctx context.Context) []Binaries {
	var found []Binaries
	seen := map[string]bool{}
	for _, dir := range binaryDirs(ctx) {
		resolved, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres"))
		if err != nil || seen[resolved] {
			continue
		}
		seen[resolved] = true
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
			continue // a client-only installation
		}
		if b, err := identify(ctx, dir); err == nil {
			found = append(found, b)
		}
	}
	slices.SortStableFunc(found, func(a, b Binaries) int { return cmp.Compare(a.Major, b.Major) })
	return found
}

// binaryDirs lists where a server may be, likeliest first.
func binaryDirs(ctx context.Context) []string {
	var dirs []string
	if pgConfig, err := exec.LookPath("pg_config"); err == nil {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		if out, err := exec.CommandContext(ctx, pgConfig, "--bindir").Output(); err == nil {
			dirs = append(dirs, strings.TrimSpace(string(out)))
		}
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",         // Debian, Ubuntu
		"/usr/pgsql-*/bin",                  // Red Hat, from postgresql.org
		"/opt/homebrew/opt/postgresql*/bin", // Homebrew on Apple silicon
		"/usr/local/opt/postgresql*/bin",    // Homebrew on Intel
		"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
		"/usr/libexec/postgresql*", // Alpine
		"/usr/local/pgsql/bin",     // built from source
	} {
		matches, _ := filepath.Glob(pattern) // fails only for a bad pattern
		dirs = append(dirs, matches...)
	}
	return append(dirs, filepath.SplitList(os.Getenv("PATH"))...)
}

var versionPattern = regexp.MustCompile(`^postgres \(PostgreSQL\) ((\d+)\S*)`)

// identify asks the server in dir which version it is.
func identify(ctx context.Context, dir string) (Binaries, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version")
	cmd.Env = environment()
	out, err := cmd.Output()
	if err != nil {
		return Binaries{}, fmt.Errorf("ask %s for its version: %w", cmd.Path, err)
	}
	m := versionPattern.FindSubmatch(out)
	if m == nil {
		return Binaries{}, fmt.Errorf("%s --version says %q", cmd.Path, out)
	}
	major, err := strconv.Atoi(string(m[2]))
	return Binaries{Dir: dir, Major: major, Version: string(m[1])}, err
}

// environment is that of every program of PostgreSQL: nothing of ours, since PGDATA, PGPORT and their like would
// change what it does. macOS wants a locale that exists.
func environment() []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
}

// suiting chooses the binaries for the cluster in data: those of its own major version, since no other can open it,
// or the newest for a cluster yet to be made (major 0).
func suiting(ctx context.Context, data string, major int) (Binaries, error) {
	if major == 0 {
		return Find(ctx)
	}
	found := installed(ctx)
	if b, ok := pick(found, major); ok {
		return b, nil
	}
	if len(found) == 0 {
		_, err := Find(ctx)
		return Binaries{}, err
	}
	err := hitchpost.Errorf(hitchpost.FailedError, "the private database in %s was made by PostgreSQL %d, which is not "+
		"installed here%s", data, major, list(found))
	return Binaries{}, err.Hinted("install the server of PostgreSQL %d again, or bring the cluster to another version "+
		"with pg_upgrade", major)
}
