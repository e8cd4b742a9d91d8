package runtime

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sweep removes what a killed service was about to write: files whose names begin with a dot, and folders of sessions
// that it had only begun to make. It is for the start, before anything is written; wrappers, which may be at work, write
// none of these.
func (f folder) sweep() error {
	var errs []error
	for _, pattern := range []string{filepath.Join(f.root, "sessions", "*", ".*"), filepath.Join(f.exits(), ".*.place.*")} {
		names, err := filepath.Glob(pattern)
		errs = append(errs, err)
		for _, name := range names {
			errs = append(errs, os.Remove(name))
		}
	}
	folders, err := filepath.Glob(filepath.Join(f.root, "sessions", "*"))
	for _, name := range folders {
		_ = os.Remove(name) // fails where anything is in it
	}
	return errors.Join(append(errs, err)...)
}

// sweepAge is how long files of a run that is over are left alone: a wrapper that outlives its terminal may still be
// about to write its record.
const sweepAge = time.Minute

// sweepRuns removes specs, exit records and the places of such of runs that are over and recorded: what a reboot left,
// which nobody else comes for.
func (s *Service) sweepRuns(ctx context.Context) {
	entries, err := os.ReadDir(s.folder.exits())
	if err != nil {
		s.Log.Warn("exit records not listed", "err", err)
		return
	}
	panes, err := s.Tmux.Panes(ctx)
	if err != nil {
		return // nobody knows what still runs
	}
	held := map[runKey]bool{}
	for _, p := range panes {
		held[runKey{p.Session, p.Run}] = true // as long as a child holds the pane the record tells that it is over
	}
	for _, e := range entries {
		k, ok := runOf(e)
		session, open := s.board.get(k.session)
		over := open && (k.run < session.Restarts || k.run == session.Restarts && session.State.Ended())
		if !ok || !over || held[k] {
			continue
		}
		if err := s.folder.forget(k); err != nil {
			s.Log.Warn("files of a run that is over not removed", "session", k.session, "err", err)
		}
	}
}

// runOf is the run that a file among the exit records belongs to; false where it is younger than sweepAge, or none.
func runOf(e fs.DirEntry) (runKey, bool) {
	name, _, ok := strings.Cut(e.Name(), ".json")
	i := strings.LastIndexByte(name, '-')
	if !ok || i < 0 {
		return runKey{}, false
	}
	run, err := strconv.Atoi(name[i+1:])
	info, ierr := e.Info()
	if err != nil || ierr != nil || time.Since(info.ModTime()) < sweepAge {
		return runKey{}, false
	}
	return runKey{name[:i], run}, true
}
