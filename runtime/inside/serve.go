package inside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
)

// calls is how many calls are served at the same time. More wait.
const calls = 16

// Server answers calls from inside sessions.
type Server struct {
	Key Key
	// Note does what a session asks about its own note, and returns the note as it is then. It must honour ctx.
	Note func(ctx context.Context, session string, n Note) (string, error)
	// Trouble is told of a call that could not be answered; it may be nil.
	Trouble func(error)
}

// Serve listens on a Unix socket at path, in a directory that nobody else may enter, until ctx ends, and returns when every
// call has. A socket that is there already is taken for one that an earlier service left.
func (s *Server) Serve(ctx context.Context, path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(err, listener.Close())
	}
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	var open sync.WaitGroup
	defer open.Wait()
	slots := make(chan struct{}, calls)
	for {
		conn, err := listener.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return errors.Join(err, listener.Close())
		}
		slots <- struct{}{} // a call ends in time
		open.Go(func() {
			defer func() { <-slots }()
			if err := s.answer(ctx, conn); err != nil && s.Trouble != nil {
				s.Trouble(err)
			}
		})
	}
}

// answer serves one call. A fault in it is that of one call.
func (s *Server) answer(ctx context.Context, conn net.Conn) (err error) {
	defer func() { _ = conn.Close() }()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, serveTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })()
	var q request
	if err := receive(conn, &q); err != nil {
		return fmt.Errorf("read a call: %w", err)
	}
	var r reply
	if r.Note, err = s.note(ctx, q); err != nil {
		r = reply{Error: asFailed(err)}
	}
	return json.NewEncoder(conn).Encode(r)
}

func (s *Server) note(ctx context.Context, q request) (string, error) {
	switch {
	case q.Version != protocol:
		return "", hitchpost.Errorf(hitchpost.UsageError, "this program is of another version than the service").
			Hinted("use the one that the service runs")
	case !s.Key.proves(q.Session, q.Token):
		return "", hitchpost.Errorf(hitchpost.DeniedError, "the service does not know this session").
			Hinted("restart the session, so that it gets a new token, or use `ssh host note`")
	}
	return s.Note(ctx, q.Session, Note{Change: q.Change, Text: q.Text, Append: q.Append})
}
