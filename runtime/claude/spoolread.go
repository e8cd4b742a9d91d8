package claude

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// spoolNames bounds how many names of the spool are looked at in one go.
	spoolNames = 2 * spooledFiles
	// spoolRest is after how long what a hook left half written is removed. A hook lives for two seconds.
	spoolRest = time.Minute
)

// Spool is the directory where hooks leave events, for the one service that reads them. It keeps them while there is
// none.
type Spool struct {
	dir   string
	watch *Watch
}

// OpenSpool begins to watch the spool, and makes its directory where there is none. The caller closes it.
func OpenSpool(dir string) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the spool of hooks: %w", err)
	}
	return &Spool{dir, WatchDir(dir)}, nil
}

// Wake gets something when there may be new events; see Watch.Wake. What Read left behind wakes nobody again.
func (s *Spool) Wake() <-chan struct{} { return s.watch.Wake() }

// Close ends the watch. What is in the spool stays there.
func (s *Spool) Close() { s.watch.Close() }

// Dropped counts what was found in the spool and removed from it unread, by reason.
type Dropped struct {
	Torn     int  // not a whole event
	TooLarge int  // or no regular file
	Stranger int  // of a session that is not known
	Token    int  // of a known session, with another token
	Full     bool // so much waits that hooks drop what they have to tell
}

// Any reports whether there is something to tell.
func (d Dropped) Any() bool { return d != Dropped{} }

// Read gives the events that wait to apply, one at a time and those of a session in the order of their marks, and removes
// each when apply returns nil. Where apply fails, the event and what the session has behind it stay for the next Read;
// other sessions go on. token is the token of a session; its error is fs.ErrNotExist for one that is not known, and any
// other leaves the session's events where they are. The error is the first that apply or token returned, or the cause of
// ctx.
func (s *Spool) Read(ctx context.Context, token func(session string) (string, error),
	apply func(context.Context, Event) error) (Dropped, error) {
	var dropped Dropped
	names, err := readNames(s.dir, spoolNames)
	if err != nil {
		return dropped, fmt.Errorf("read the spool of hooks: %w", err)
	}
	dropped.Full = len(names) >= spooledFiles
	slices.Sort(names)
	var first error
	held := map[string]bool{} // sessions whose events stay
	for _, name := range names {
		if ctx.Err() != nil {
			return dropped, context.Cause(ctx)
		}
		mark, run, ok := markOf(name)
		if !ok {
			s.sweep(name)
			continue
		}
		e, err := s.event(name, token, held, &dropped)
		if err == nil && e.Session != "" && !held[e.Session] {
			e.Mark, e.Run = mark, run
			err = apply(ctx, e)
			if err == nil {
				err = s.remove(name)
			}
		}
		if err != nil {
			held[e.Session] = true
			if first == nil {
				first = err
			}
		}
	}
	return dropped, first
}

// event reads an event and removes what is none. The zero Event is one that was dropped or is gone.
func (s *Spool) event(name string, token func(string) (string, error), held map[string]bool, d *Dropped) (Event, error) {
	drop := func(count *int) (Event, error) {
		*count++
		return Event{}, s.remove(name)
	}
	data, _, err := readRegular(filepath.Join(s.dir, name), spooledBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Event{}, nil
	case err != nil:
		return drop(&d.TooLarge)
	}
	var f spooled
	if json.Unmarshal(data, &f) != nil || f.Version != 1 || f.Session == "" || f.Name == "" ||
		f.Conversation == "" && f.Name != HookOther {
		return drop(&d.Torn)
	}
	tidy(&f.Event)
	if held[f.Session] {
		return f.Event, nil
	}
	want, err := token(f.Session)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return drop(&d.Stranger)
	case err != nil:
		return f.Event, err
	case want == "" || subtle.ConstantTimeCompare([]byte(want), []byte(f.Token)) != 1:
		return drop(&d.Token)
	}
	return f.Event, nil
}

// tidy makes the texts of an event what Event promises. What is in the spool need not be from a hook of ours.
func tidy(e *Event) {
	for _, word := range []*string{&e.Name, &e.Conversation, &e.Source, &e.Reason, &e.Notification, &e.Tool, &e.Subagent} {
		*word = oneWord(*word)
	}
	for _, text := range []*string{&e.Question, &e.Message, &e.Error} {
		*text = OneText(*text)
	}
	e.Shells, e.Others = max(e.Shells, 0), max(e.Others, 0)
}

// remove takes a file out of the spool. Whatever else stands at its name, such as a directory, goes with it.
func (s *Spool) remove(name string) error {
	err := os.RemoveAll(filepath.Join(s.dir, name))
	if err != nil {
		return fmt.Errorf("take an event out of the spool: %w", err)
	}
	return nil
}

// sweep removes what a hook left half written.
func (s *Spool) sweep(name string) {
	if _, _, ok := markOf(strings.TrimPrefix(name, ".") + spooledSuffix); !ok {
		return
	}
	path := filepath.Join(s.dir, name)
	if about, err := os.Lstat(path); err == nil && time.Since(about.ModTime()) > spoolRest {
		_ = os.Remove(path)
	}
}

// markOf is the mark that names a file of the spool, and the run in it.
func markOf(name string) (mark string, run int, ok bool) {
	mark, ok = strings.CutSuffix(name, spooledSuffix)
	if !ok {
		return "", 0, false
	}
	var at, pid int64
	if n, err := fmt.Sscanf(mark, "%d-%d-%d", &run, &at, &pid); err != nil || n != 3 {
		return "", 0, false
	}
	return mark, run, fmt.Sprintf(markFormat, run, at, pid) == mark
}
