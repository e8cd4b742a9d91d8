package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Glance is what a session's pane shows at one moment.
type Glance struct {
	Pane      string // its id, such as %5
	Dead      bool   // its process has ended
	Cursor    [2]int
	Alternate bool     // the alternate screen is on
	History   int      // rows above the screen
	Rows      []string // the newest of the history, as many as were asked for, and the screen; without blanks at their ends
	Screen    int      // how many of Rows are the screen
}

const glanceFormat = "#{pane_id}|#{pane_dead}|#{cursor_x}|#{cursor_y}|#{alternate_on}|#{history_size}|#{pane_height}|."

// Look returns what the session's pane shows, with up to so many rows of its history. ErrNoSession where there is no such
// session.
func (s *Server) Look(ctx context.Context, session string, history int) (Glance, error) {
	at := target(session)
	if at == "" {
		return Glance{}, ErrNoSession
	}
	b := s.newBuffer()
	out, err := s.call(ctx, false, append([]command{
		{"display-message", "-p", "-t", at, glanceFormat},
		{"capture-pane", "-b", b.name, "-t", at, "-S", "-" + strconv.Itoa(history)},
	}, b.save()...)...)
	text, rest, err := s.collect(ctx, b, out, err)
	if err != nil {
		return Glance{}, told("look at the screen", gone(err))
	}
	g, err := parseGlance(rest, string(text), history)
	return g, told("look at the screen", err)
}

func parseGlance(said, text string, history int) (Glance, error) {
	f := strings.Split(strings.TrimSpace(said), "|")
	if len(f) != 8 || f[7] != "." {
		return Glance{}, fmt.Errorf("an answer that was not understood: %q", said)
	}
	var n [5]int
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(f[i+2]); err != nil {
			return Glance{}, fmt.Errorf("an answer that was not understood: %q", said)
		}
	}
	g := Glance{
		Pane: f[0], Dead: f[1] == "1", Cursor: [2]int{n[0], n[1]}, Alternate: n[2] != 0, History: n[3], Screen: n[4],
		Rows: strings.Split(strings.TrimSuffix(text, "\n"), "\n"),
	}
	for want := min(g.History, history) + g.Screen; len(g.Rows) < want; {
		g.Rows = append(g.Rows, "")
	}
	return g, nil
}
