package tmux

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Attach opens a view of a session. The view begins with the history and goes on with the screen of the same instant.
//
// Only a client that is attached already and whose buffer is empty is drawn in the very turn of tmux's loop in which
// it is switched; capturing first and attaching then loses what the pane prints in between. So clients wait in the
// lobby, and one queue of commands sizes the window, captures its history and switches the client. What the PTY gives
// after that begins with the screen.
//
// Errors: ErrNoSession, UnavailableError.
func (s *Server) Attach(ctx context.Context, a Attach) (*View, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	if target(a.Session) == "" {
		return nil, ErrNoSession
	}
	size := a.Terminal.Size.Clamp()
	c, err := s.park.take(ctx, classify(a.Terminal), size)
	if err != nil {
		return nil, told("attach", gone(err))
	}
	v := newView(s, c, a)
	r, err := s.cut(ctx, a, c)
	if err != nil {
		v.Close()
		return nil, told("attach", gone(err))
	}
	v.play(r.bytes())
	return v, nil
}

// seen is what tmux tells of the session within the turn of the cut.
type seen struct{ history, width int }

const seenFormat = "#{history_size} #{window_width}"

// cut carries out the turn in which history and screen part.
func (s *Server) cut(ctx context.Context, a Attach, c *parked) (replay, error) {
	r := replay{modes: c.modes, clear: a.Clear, height: c.size.Rows, rows: -1}
	b := s.newBuffer()
	out, err := s.change(ctx, false, cutCommands(a, c, b)...)
	var raw []byte
	if a.ReplayLines != 0 {
		raw, out, err = s.collect(ctx, b, out, err)
	}
	if err != nil {
		return r, err
	}
	var now seen
	if now.history, now.width, err = twoNumbers(out); err != nil {
		return r, err
	}
	r.history = lastLogical(raw, a.ReplayLines, now.history > rowsFor(a.ReplayLines))
	if len(r.history) == len(raw) && now.width == c.size.Cols && now.history <= rowsFor(a.ReplayLines) {
		r.rows = now.history
	}
	if len(a.Before) > 0 {
		r.history, r.rows = slices.Concat(a.Before, r.history), -1
	}
	return r, nil
}

// cutCommands is the turn. Resizing comes first: else the history would be wrapped for the old width and rows would
// cross the boundary. It makes the window's size manual, hence the last but one. An empty history is not captured:
// -E -1 would give the first row of the screen.
func cutCommands(a Attach, c *parked, b buffer) []command {
	at := target(a.Session)
	var cmds []command
	if a.ReadOnly {
		// Its size does not count, as long as another client is attached anywhere that lacks the flag; see control.
		cmds = append(cmds, command{"refresh-client", "-t", c.TTY(), "-f", "ignore-size"})
	} else {
		cmds = append(cmds, command{"resize-window", "-t", at, "-x", strconv.Itoa(c.size.Cols), "-y",
			strconv.Itoa(c.size.Rows)})
	}
	save := ""
	if a.ReplayLines != 0 {
		start := "-"
		if rows := rowsFor(a.ReplayLines); rows < historyLimit {
			start += strconv.Itoa(rows)
		}
		cmds = append(cmds, command{"if-shell", "-F", "-t", at, "#{history_size}",
			line([]command{{"capture-pane", "-t", at, "-e", "-J", "-S", start, "-E", "-1", "-b", b.name}})})
		save = line(b.save())
	}
	cmds = append(cmds, command{"switch-client", "-E", "-c", c.TTY(), "-t", at})
	if !a.ReadOnly {
		cmds = append(cmds, latest(at))
	}
	if save != "" {
		cmds = append(cmds, command{"if-shell", "-F", "-t", at, "#{history_size}", save})
	}
	return append(cmds, command{"display-message", "-p", "-t", at, seenFormat})
}

// historyLimit is history-limit of the settings, in rows.
const historyLimit = 50000

// rowsFor is how many rows to capture for so many logical lines: a few for each, as nobody knows how they are wrapped.
// Where they are wrapped more often, fewer lines are replayed.
func rowsFor(lines int) int {
	const rowsPerLine = 4
	if lines < 0 || lines > historyLimit/rowsPerLine {
		return historyLimit
	}
	return lines * rowsPerLine
}

// lastLogical are the last n lines of raw; negative: all. torn says that the first line may have lost its beginning;
// it is left out.
func lastLogical(raw []byte, n int, torn bool) []byte {
	if torn {
		_, raw, _ = bytes.Cut(raw, []byte("\n"))
	}
	if n < 0 {
		return raw
	}
	return raw[lastLines(raw, n):]
}

func twoNumbers(out string) (a, b int, err error) {
	f := strings.Fields(out)
	if len(f) != 2 {
		return 0, 0, fmt.Errorf("an answer that was not understood: %q", out)
	}
	if a, err = strconv.Atoi(f[0]); err != nil {
		return 0, 0, err
	}
	b, err = strconv.Atoi(f[1])
	return a, b, err
}
