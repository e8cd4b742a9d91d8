package tmux

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hitchpost/hitchpost"
)

// The user options that a session carries.
const (
	optionRun    = "@hp_run"
	optionPane   = "@hp_pane" // the pane of the process; a person may add others
	optionRecord = "@hp_record"
	optionTitle  = "@hp_title"
)

// Start makes a session whose one pane runs st.Command, and starts the server if none runs. The session carries its
// record and its run from its first instant. ConflictError when a session with this id is there already, dead or alive.
func (s *Server) Start(ctx context.Context, st Start) (Pane, error) {
	at := target(st.Session)
	if at == "" || len(st.Command) == 0 {
		return Pane{}, hitchpost.Errorf(hitchpost.UsageError, "no session id or no command")
	}
	if err := checkWords(st.Command); err != nil {
		return Pane{}, err
	}
	size := st.Size.Clamp()
	create := command{"new-session", "-d", "-s", namePrefix + st.Session, "-e", noColor, "-c", "/",
		"-x", strconv.Itoa(size.Cols), "-y", strconv.Itoa(size.Rows), "--"}
	create = append(create, words(st.Command)...)
	set := func(name, value string) command { return command{"set-option", "-t", at, name, value} }
	out, err := s.create(ctx, at,
		create,
		command{"set-environment", "-u", "-t", at, noColorName}, // not for panes that a person adds
		set(optionRun, strconv.Itoa(st.Run)),
		set(optionRecord, base64.StdEncoding.EncodeToString(st.Record)),
		set(optionTitle, printable(st.Title)),
		latest(at),
		// -F: the one value that is a format, and it is ours.
		command{"set-option", "-F", "-t", at, optionPane, "#{pane_id}"},
		command{"list-panes", "-s", "-t", at, "-F", paneFormat},
	)
	if err != nil {
		return Pane{}, told("start a session", err)
	}
	panes, err := parsePanes(out, namePrefix)
	if err == nil && len(panes) != 1 {
		err = fmt.Errorf("%d panes in a new session", len(panes))
	}
	if err != nil {
		return Pane{}, told("start a session", err)
	}
	return panes[0], nil
}

// create is change for the commands that make the session at. Where the connection is lost under them and tmux has no such
// session, or has ended, they are given once more: nothing runs of what they were to make. A process that had begun before
// its tmux ended is not run again; its wrapper sees to that.
func (s *Server) create(ctx context.Context, at string, cmds ...command) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	out, err := s.change(ctx, true, cmds...)
	if !errors.Is(err, errLost) {
		return out, err
	}
	_, there := s.call(ctx, false, command{"has-session", "-t", at})
	if there = told("look for a session", there); !errors.Is(gone(there), ErrNoSession) {
		return out, err
	}
	return s.change(ctx, true, cmds...)
}

// noColor is for the process that tmux starts, which is our own wrapper or runner, and not for the program that this one
// starts with an environment of its own. Without it the colour library in the binary would, before main, read terminal
// descriptions and run `tmux info`, since it finds itself on a terminal in tmux; that takes longer than all the rest.
const (
	noColorName = "NO_COLOR"
	noColor     = noColorName + "=1"
)

// checkWords refuses what cannot be handed to tmux.
func checkWords(argv []string) error {
	for _, word := range argv {
		if strings.ContainsRune(word, 0) {
			return hitchpost.Errorf(hitchpost.UsageError, "a word of the command holds a NUL")
		}
	}
	return nil
}

// latest gives the window of a session the size of the client used last.
func latest(at string) command { return command{"set-option", "-w", "-t", at, "window-size", "latest"} }

// words are the words of a pane's command. tmux hands a single word to a shell; two or more it runs as they are.
func words(argv []string) []string {
	if len(argv) > 1 {
		return argv
	}
	return []string{"exec '" + strings.ReplaceAll(argv[0], "'", `'\''`) + "'"}
}

// printable drops what a terminal would not take as text.
func printable(title string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, title)
}

// SetTitle sets the title that attached terminals show. ErrNoSession when there is no such session.
func (s *Server) SetTitle(ctx context.Context, session, title string) error {
	at := target(session)
	if at == "" {
		return ErrNoSession
	}
	_, err := s.call(ctx, false, command{"set-option", "-t", at, optionTitle, printable(title)})
	return told("set a title", gone(err))
}

// Record is the record that was given to Start. ErrNoSession when there is no such session.
func (s *Server) Record(ctx context.Context, session string) ([]byte, error) {
	at := target(session)
	if at == "" {
		return nil, ErrNoSession
	}
	out, err := s.call(ctx, false, command{"show-options", "-v", "-t", at, optionRecord})
	if err != nil {
		return nil, told("read a record", gone(err))
	}
	record, err := base64.StdEncoding.DecodeString(strings.TrimSpace(out))
	return record, told("read a record", err)
}

// Ping is nil when the server answers; it is started where none runs.
func (s *Server) Ping(ctx context.Context) error {
	_, err := s.call(ctx, true, command{"display-message", "-p", "here"})
	return told("talk to it", err)
}

// Kill ends a session with all its processes (SIGHUP). It is nil when the session is already gone.
func (s *Server) Kill(ctx context.Context, session string) error {
	at := target(session)
	return s.kill(ctx, at, command{"kill-session", "-t", at})
}

// KillRun is Kill for one run of a session: where another run has taken its place it does nothing.
func (s *Server) KillRun(ctx context.Context, session string, run int) error {
	at := target(session)
	ours := "#{==:#{" + optionRun + "}," + strconv.Itoa(run) + "}"
	return s.kill(ctx, at, command{"if-shell", "-F", "-t", at, ours, line([]command{{"kill-session", "-t", at}})})
}

func (s *Server) kill(ctx context.Context, at string, cmd command) error {
	if at == "" {
		return nil
	}
	_, err := repeated(ctx, func(ctx context.Context) (string, error) { return s.change(ctx, false, cmd) })
	if err = told("end a session", gone(err)); errors.Is(err, ErrNoSession) {
		return nil
	}
	return err
}

// gone makes the certain absence of a server the absence of the session that was asked for.
func gone(err error) error {
	if errors.Is(err, ErrNoServer) {
		return ErrNoSession
	}
	return err
}
