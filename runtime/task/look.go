package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrDamaged says that a file in a task's folder is not what it was.
var ErrDamaged = errors.New("damaged")

// Seen is what a task's folder tells at one moment.
type Seen struct {
	Spec        Spec
	Started     bool    // a runner has taken the task; it will not be run again
	Alive       bool    // its runner lives. A task without Record whose runner does not live, and that was Started, is lost
	CancelAsked bool    // Cancel was called before the end
	Record      *Record // nil: it has not ended, or its runner is gone
	LogBytes    int64   // what the command wrote so far
}

// Over reports whether nothing will come of the task any more: it has ended, or its runner is gone.
func (s Seen) Over() bool { return s.Record != nil || s.Started && !s.Alive }

// Look reads the folder of a task. It is right at any moment: beside a runner that starts or ends just now, and after a
// power loss. It takes no lock and disturbs nobody.
//
// Errors: one that wraps fs.ErrNotExist where there is no such folder, or none that Create finished; ErrDamaged where its
// description or its record is not one; another for a folder that cannot be read.
func Look(folder string) (Seen, error) {
	s, err := look(folder)
	if err != nil {
		return Seen{}, fmt.Errorf("look at task: %w", err)
	}
	return s, nil
}

func look(folder string) (s Seen, err error) {
	if s.Spec, err = readSpec(folder); err != nil {
		return s, err
	}
	// The order matters: a task that had been started before nobody held its lock has no runner any more, and one that
	// ended before its record was looked for has left it.
	s.Started = exists(in(folder, startedName))
	pid, err := holder(folder)
	if err != nil {
		return s, err
	}
	s.Alive = pid != 0
	if s.Record, err = readRecord(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	s.Started = s.Started || s.Record != nil
	s.CancelAsked = exists(in(folder, cancelName))
	if s.Record != nil {
		s.LogBytes = s.Record.LogBytes
		return s, nil
	}
	s.LogBytes, err = written(folder)
	return s, err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isOver is Seen.Over without the rest of a look.
func isOver(folder string) (bool, error) {
	if exists(in(folder, RecordName)) {
		return true, nil
	}
	if !exists(in(folder, startedName)) {
		// The record has taken its place in this moment, or there is no task any more.
		_, err := os.Stat(in(folder, specName))
		return exists(in(folder, RecordName)), err
	}
	pid, err := holder(folder)
	return pid == 0, err
}
