package runtime

import (
	"errors"
	"os"
	"syscall"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/launch"
)

// prepareNew writes the files of a new session, before anything else is known of it: where they cannot be written the
// session is refused, and nothing is left.
func (s *Service) prepareNew(session hitchpost.Session, p program) (*launch.Prepared, error) {
	err := os.MkdirAll(s.folder.session(session.ID), 0o700)
	if err == nil && len(p.extra) > 0 {
		err = writeEnv(s.folder.env(session.ID), p.extra)
	}
	if err == nil {
		err = s.writePreset(session.ID, p.preset)
	}
	var files *launch.Prepared
	if err == nil {
		files, err = s.prepareRun(runKey{session.ID, 0}, session.Cwd, p)
	}
	if err != nil {
		return nil, s.notWritten("a session", errors.Join(err, s.folder.remove(session.ID, 0)))
	}
	return files, nil
}

// prepareRun writes what the wrapper of a run is to do, and takes the space for how it will end.
func (s *Service) prepareRun(k runKey, cwd string, p program) (*launch.Prepared, error) {
	if err := os.MkdirAll(s.folder.session(k.session), 0o700); err != nil { // a restored backup may lack it
		return nil, err
	}
	if p.agent != nil {
		if err := s.writeAgent(k.session, p.agent); err != nil {
			return nil, err
		}
	}
	spec := launch.Spec{
		Session: k.session, Run: k.run, Argv: append([]string{p.path}, p.argv[1:]...), Argv0: p.argv0,
		Env: p.env, Dir: cwd, Record: s.folder.record(k),
	}
	if spec.Argv0 == "" {
		spec.Argv0 = p.argv[0]
	}
	return launch.Prepare(s.folder.spec(k), spec)
}

// notWritten tells that the files of something could not be written. A full disk is over once somebody has freed space,
// so to try again is right then, as with a database that is away.
func (s *Service) notWritten(of string, err error) error {
	if fullDisk(err) {
		return hitchpost.Errorf(hitchpost.UnavailableError, "the disk of %s is full: %w", s.DataDir, err).
			Hinted("free space, then try again")
	}
	return hitchpost.Errorf(hitchpost.FailedError, "the files of %s cannot be written: %w", of, err).
		Hinted("look whether %s has free space and may be written, then try again", s.DataDir)
}

func fullDisk(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
