package tmux

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Report is what can be told of a server without changing anything.
type Report struct {
	Binary  string // absolute path of the tmux in use
	Version string // of the binary
	Socket  string // where the server's socket is or, before the first start, most likely will be
	Pid     int    // of the running server; 0: none runs
}

// Inspect looks at what Open would use, and makes, starts and mends nothing. The error tells what is wrong with the
// tmux binary; the rest of the report is valid with it.
func Inspect(ctx context.Context, c Config) (Report, error) {
	var r Report
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return r, err
	}
	r.Socket = filepath.Join(dir, socketName)
	if len(r.Socket) > maxSocketPath {
		r.Socket = filepath.Join(runtimeDir(), "hitchpost-…", socketName)
		if known, err := os.ReadFile(filepath.Join(dir, socketMemo)); err == nil {
			r.Socket = filepath.Join(strings.TrimSpace(string(known)), socketName)
		}
	}
	if listening, err := probe(ctx, r.Socket); err == nil && listening {
		text, err := os.ReadFile(layout{dir: dir}.pidFile())
		pid, perr := strconv.Atoi(strings.TrimSpace(string(text)))
		if errors.Join(err, perr) == nil {
			r.Pid = pid
		}
	}
	r.Binary, r.Version, err = find(ctx, c.Binary)
	return r, err
}
