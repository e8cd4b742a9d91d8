package tmux

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
)

// paneFormat is one pane on one line. No field can hold the separator: all are numbers, ids and our own names. The
// last is a constant, so that a line that was cut is seen.
const paneFormat = "#{session_name}|#{session_id}|#{pane_id}|#{" + optionPane + "}|#{pane_pid}|#{pane_dead}|" +
	"#{pane_dead_status}|#{pane_dead_signal}|#{window_activity}|#{" + optionRun + "}|" +
	"#{window_width}|#{window_height}|#{session_attached}|."

const paneFields = 14

// Listing is what tmux runs of ours at one moment, each session and each task by its one pane.
type Listing struct {
	Sessions []Pane
	Tasks    []Pane // Session is the id of the task
}

// List lists every session and every task of ours in one call. The answer is complete, or it is an error. No server at
// all, when that is certain, is an empty one.
func (s *Server) List(ctx context.Context) (Listing, error) {
	out, err := s.call(ctx, false,
		command{"list-panes", "-a", "-F", paneFormat},
		command{"list-sessions", "-F", sessionMark + "#{session_id}"})
	if errors.Is(err, ErrNoServer) {
		return Listing{}, nil
	}
	if err != nil {
		return Listing{}, told("list the sessions", err)
	}
	lines, err := whole(out)
	if err != nil {
		return Listing{}, told("list the sessions", err)
	}
	var all Listing
	if all.Sessions, err = parsePanes(lines, namePrefix); err == nil {
		all.Tasks, err = parsePanes(lines, taskPrefix)
	}
	return all, told("list the sessions", err)
}

// Panes is List for the sessions alone.
func (s *Server) Panes(ctx context.Context) ([]Pane, error) {
	all, err := s.List(ctx)
	return all.Sessions, err
}

// sessionMark begins a line that names a session, among those of panes.
const sessionMark = "="

// whole takes the lines of panes out of the answer about panes and sessions, made in one turn of tmux. A session without
// a pane there is none in tmux, so an answer in which one lacks is not all that tmux has, and would make sessions lost
// that live. One at least is there: the lobby, as long as we are connected.
func whole(out string) (panes string, err error) {
	var lines strings.Builder
	sessions, paned := map[string]bool{}, map[string]bool{}
	for l := range strings.Lines(out) {
		if id, ok := strings.CutPrefix(l, sessionMark); ok && !strings.Contains(id, "|") {
			sessions[strings.TrimSuffix(id, "\n")] = true
			continue
		}
		lines.WriteString(l)
		if f := strings.Split(l, "|"); len(f) > 1 {
			paned[f[1]] = true
		}
	}
	if len(sessions) == 0 || !maps.Equal(sessions, paned) {
		return "", fmt.Errorf("half an answer: %d sessions, %d with panes", len(sessions), len(paned))
	}
	return lines.String(), nil
}

// parsePanes reads lines of paneFormat and keeps one pane for each session whose name is prefix and an id: the one that
// was started. Where a person added panes and ended that one, the session is reported as dead.
func parsePanes(out, prefix string) ([]Pane, error) {
	var panes []Pane
	at := map[string]int{}
	for l := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(l, "\n"), "|")
		if len(f) != paneFields || f[paneFields-1] != "." {
			return nil, fmt.Errorf("a line that was not understood: %q", l)
		}
		session, ours := strings.CutPrefix(f[0], prefix)
		if !ours || !validID(session) {
			continue
		}
		p, err := parsePane(session, f)
		if err != nil {
			return nil, fmt.Errorf("a line that was not understood: %q: %w", l, err)
		}
		started := f[2] == f[3] || f[3] == ""
		i, seen := at[session]
		switch {
		case !seen:
			if !started {
				p.Dead = true
			}
			at[session] = len(panes)
			panes = append(panes, p)
		case started && panes[i].PaneID != f[3]:
			panes[i] = p
		}
	}
	return panes, nil
}

func parsePane(session string, f []string) (Pane, error) {
	var firstErr error
	num := func(text string) int {
		if text == "" {
			return 0
		}
		n, err := strconv.Atoi(text)
		if err != nil && firstErr == nil {
			firstErr = err
		}
		return n
	}
	p := Pane{
		Session:    session,
		TmuxID:     f[1],
		PaneID:     f[2],
		Pid:        num(f[4]),
		Dead:       f[5] == "1",
		LastOutput: time.Unix(int64(num(f[8])), 0),
		Run:        num(f[9]),
		Size:       hitchpost.Size{Cols: num(f[10]), Rows: num(f[11])},
		Attached:   num(f[12]),
	}
	if p.Dead && f[6] != "" {
		code := num(f[6])
		p.DeadCode = &code
	}
	if p.Dead && f[7] != "" {
		p.DeadCode, p.DeadSignal = nil, signalName(f[7])
	}
	return p, firstErr
}

// signalName is a signal as tmux names it, a number or a name, without SIG.
func signalName(text string) string {
	if n, err := strconv.Atoi(text); err == nil {
		if name := unix.SignalName(syscall.Signal(n)); name != "" {
			return strings.TrimPrefix(name, "SIG")
		}
	}
	return strings.TrimPrefix(strings.ToUpper(text), "SIG")
}
