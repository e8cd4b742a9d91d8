package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hitchpost/hitchpost/runtime/durable"
)

// Prepared is a run that is ready to begin: its spec, and the space for its record, lie on the disk under names that
// nobody reads. What a crash leaves of it has a name that begins with a dot, and may be removed.
type Prepared struct {
	path, record string
	spec, place  string // the names until Commit; empty after it
}

// Prepare writes s down for a wrapper that will be given path. All that can fail for want of space fails here, and then
// nothing is left behind. Commit or Discard follows.
func Prepare(path string, s Spec) (*Prepared, error) {
	p := &Prepared{path: path, record: s.Record}
	data, err := s.encode()
	if err == nil {
		// Blocks that were never written are not taken yet: a sparse file would hold nothing.
		p.place, err = durable.Aside(placeName(s.Record), make([]byte, durable.Reserved))
	}
	if err == nil {
		p.spec, err = durable.Aside(path, data)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write spec: %w", err), p.Discard())
	}
	return p, nil
}

// Commit opens the run: the spec is at its path, with mode 0600. What an earlier run left in place of the record is
// removed first, so that it is never taken for the end of this one (a restored database may count runs anew).
func (p *Prepared) Commit() error {
	var errs []error
	for _, old := range []string{p.record, openName(p.record)} {
		errs = append(errs, removed(old))
	}
	errs = append(errs, os.Rename(p.place, placeName(p.record)), os.Rename(p.spec, p.path))
	if err := errors.Join(errs...); err != nil {
		return errors.Join(fmt.Errorf("write spec: %w", err), p.Discard())
	}
	p.spec, p.place = "", ""
	if err := errors.Join(durable.SyncDir(filepath.Dir(p.record)), durable.SyncDir(filepath.Dir(p.path))); err != nil {
		return fmt.Errorf("write spec: %w", err)
	}
	return nil
}

// Discard takes back what Prepare wrote. After a Commit it does nothing.
func (p *Prepared) Discard() error {
	var errs []error
	for _, name := range []string{p.spec, p.place} {
		if name != "" {
			errs = append(errs, removed(name))
		}
	}
	p.spec, p.place = "", ""
	return errors.Join(errs...)
}

// Forget removes spec and record of a run that is over, and what a wrapper that was killed left of them.
func Forget(spec, record string) error {
	return errors.Join(removed(spec), removed(record), removed(openName(record)), removed(placeName(record)))
}

// openName is the file that holds a run's place on disk between its start and its end, and placeName is its name before
// the start.
func openName(record string) string  { return record + ".open" }
func placeName(record string) string { return record + ".place" }

func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
