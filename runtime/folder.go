package runtime

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hitchpost/hitchpost/runtime/launch"
)

// folder knows where a session's files lie under the data directory: the spec handed to the wrapper, the exit
// records and the evidence. Exit records of all sessions share one directory, so that one watch sees each at once.
type folder struct{ root string }

// make creates the directories that every session needs, private to the account.
func (f folder) make() error {
	for _, d := range []string{f.exits(), filepath.Join(f.root, "sessions")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("make session folder: %w", err)
		}
	}
	return nil
}

func (f folder) exits() string            { return filepath.Join(f.root, "exits") }
func (f folder) session(id string) string { return filepath.Join(f.root, "sessions", id) }
func (f folder) spec(k runKey) string {
	return filepath.Join(f.session(k.session), fmt.Sprintf("run-%d.json", k.run))
}
func (f folder) record(k runKey) string {
	return filepath.Join(f.exits(), fmt.Sprintf("%s-%d.json", k.session, k.run))
}
func (f folder) evidence(id string) string { return filepath.Join(f.session(id), "screen.gz") }

// env holds what a session's environment has beside what every session's has. It may be secret.
func (f folder) env(id string) string { return filepath.Join(f.session(id), "env.json") }

// before is the evidence of the run before the present one.
func (f folder) before(id string) string { return filepath.Join(f.session(id), "before.gz") }

// readRecord returns the exit record of a run; ok is false when there is none. A record that cannot be read counts as
// none: what tmux knows of the end is used instead.
func (f folder) readRecord(k runKey) (rec launch.Record, ok bool, err error) {
	rec, err = launch.ReadRecord(f.record(k))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return launch.Record{}, false, nil
	case err != nil:
		return launch.Record{}, false, fmt.Errorf("read exit record: %w", err)
	case rec.Session != k.session || rec.Run != k.run:
		return launch.Record{}, false, fmt.Errorf("exit record %s names another run", f.record(k))
	}
	return rec, true, nil
}

// forget removes the spec and exit record of a run that is over and recorded.
func (f folder) forget(k runKey) error {
	return launch.Forget(f.spec(k), f.record(k))
}

// remove deletes all that is kept of a session.
func (f folder) remove(id string, lastRun int) error {
	var errs []error
	for run := 0; run <= lastRun; run++ {
		errs = append(errs, f.forget(runKey{id, run}))
	}
	return errors.Join(append(errs, os.RemoveAll(f.session(id)))...)
}
