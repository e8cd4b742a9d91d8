package storetest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// yard is a directory for a cluster, with a watchdog that ends the server on it and removes it in the end.
type yard struct {
	dir      string
	watchdog *exec.Cmd
	pipe     io.Closer // closed, by us or by our death, it wakes the watchdog
}

// Dir is a directory for a cluster, as for local.Config, that is not made yet. When the test ends, or the test binary
// is killed, the server on it is killed and all of it removed.
func Dir(tb testing.TB) string {
	tb.Helper()
	y, err := newYard()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := y.close(); err != nil {
			tb.Error(err)
		}
	})
	return y.Dir()
}

func newYard() (*yard, error) {
	// Not below t.TempDir: the path is long, and as root closed to the account that PostgreSQL runs as.
	dir, err := os.MkdirTemp("/tmp", "hitchpost-pg-")
	if err != nil {
		return nil, err
	}
	y := &yard{dir: dir}
	const mode = 0o711 // the account that PostgreSQL runs as passes through
	if err := errors.Join(os.Chmod(dir, mode), y.watch()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return y, nil
}

// Dir is where the cluster is, as for local.Config.
func (y *yard) Dir() string { return filepath.Join(y.dir, "pg") }

// watch starts the watchdog: a shell that waits for the end of a pipe whose other end is ours alone, and then kills
// the server that the lock in the data names and removes everything. It has a session of its own and holds none of our
// streams, so that neither a signal to the test binary nor a wait for its output concerns it.
func (y *yard) watch() error {
	const script = `read -r _
	if read -r pid < "$1/pg/data/postmaster.pid"; then
		kill -QUIT "$pid"
		kill -CONT "$pid" $(ps -A -o ppid= -o pid= | sed -n "s/^ *$pid  *//p")
		n=0
		while kill -0 "$pid" && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done
	fi
	rm -rf "$1"`
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	y.watchdog = exec.Command("/bin/sh", "-c", script, "sh", y.dir)
	y.watchdog.Stdin, y.watchdog.Dir = r, "/"
	y.watchdog.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	y.pipe = w
	if err := y.watchdog.Start(); err != nil {
		return errors.Join(err, w.Close())
	}
	return nil
}

// close wakes the watchdog and waits until it is through.
func (y *yard) close() error {
	return errors.Join(y.pipe.Close(), y.watchdog.Wait())
}
