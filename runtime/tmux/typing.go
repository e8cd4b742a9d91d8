package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hitchpost/hitchpost"
)

// Typing is what is typed into a pane: the text as it is, then the keys by their names.
type Typing struct {
	Text string // UTF-8 without NUL; may be empty
	Keys []string
}

// ErrInputOff is returned where somebody switched the input of the pane off (tmux(1), select-pane -d).
var ErrInputOff = hitchpost.Errorf(hitchpost.ConflictError, "the input of its pane is switched off in tmux")

// CheckKeys is nil where tmux knows a key by each of the names. The error is a UsageError. Nothing is typed.
func (s *Server) CheckKeys(ctx context.Context, names []string) error {
	for _, name := range names {
		// Typed by send-keys, what is no name would be taken for text. A table that is not there is named so that there
		// is nothing to unbind; tmux looks at the key first.
		_, err := s.call(ctx, false, command{"unbind-key", "-T", noTable, "--", name})
		var r refusal
		switch {
		case errors.As(err, &r) && strings.Contains(string(r), noTable):
		case errors.As(err, &r):
			return hitchpost.Errorf(hitchpost.UsageError, "no key %q", name).
				Hinted("keys are named as in tmux: Enter, Escape, Tab, Up, F5, C-c, M-x")
		case err != nil:
			return told("look up a key", err)
		}
	}
	return nil
}

// noTable is a key table that nobody makes.
const noTable = "hitchpost-no-such-table"

// chunk is how many bytes of text go to tmux in one line; it reads a line before it does anything else.
const chunk = 32 << 10

// Type types into a pane, by its id as Look tells it, all in one turn of tmux: nothing that others type comes between.
// Text is pasted, with the brackets of a paste where the program asked for them. A pane that shows its history is
// brought back to the live screen first, or it would take the keys for itself.
//
// ErrNoSession where the pane is gone or its process has ended, and ErrInputOff: nothing was typed then. An error of kind
// UnconfirmedError says that tmux did not tell whether it typed; all others that nothing was typed.
func (s *Server) Type(ctx context.Context, pane string, t Typing) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	c, err := s.connected(ctx, false)
	if err != nil {
		return told("type", gone(err))
	}
	b := s.newBuffer()
	out, err := c.send(ctx, typingLines(pane, b.name, t))
	switch said := strings.TrimSpace(out); {
	case err == nil && said == saidTyped:
		return nil
	case err == nil && said == saidDead:
		return ErrNoSession
	case err == nil && said == saidOff:
		return ErrInputOff
	case err == nil:
		return told("type", fmt.Errorf("an answer that was not understood: %q", out))
	}
	if t.Text != "" {
		// It is gone where the paste was made.
		_, _ = s.call(context.WithoutCancel(ctx), false, command{"delete-buffer", "-b", b.name})
	}
	if r := refusal(""); errors.As(err, &r) {
		return told("type", err)
	}
	return &hitchpost.Error{Kind: hitchpost.UnconfirmedError, Message: "tmux did not say whether it typed: " + err.Error(),
		Hint: "look at the screen before you type it again", Cause: err}
}

const saidTyped, saidDead, saidOff = "typed", "dead", "off"

// typingLines are the lines for a control client that type t. The text is not a word of an argument list, and no format
// of tmux touches it.
//
// The pane is looked at in the turn in which it is typed into: tmux 3.3 ends, with all sessions, when it is told to paste
// into a pane whose process has ended.
func typingLines(pane, buffer string, t Typing) string {
	var lines strings.Builder
	add := []string{}
	for rest := t.Text; rest != ""; add = []string{"-a"} {
		n := min(len(rest), chunk)
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n--
		}
		set := append(command{"set-buffer"}, add...)
		lines.WriteString(line([]command{append(set, "-b", buffer, "--", rest[:n])}) + "\n")
		rest = rest[n:]
	}
	typed := []command{{"copy-mode", "-q", "-t", pane}}
	var untyped []command
	if t.Text != "" {
		typed = append(typed, command{"paste-buffer", "-d", "-p", "-r", "-b", buffer, "-t", pane})
		untyped = []command{{"delete-buffer", "-b", buffer}}
	}
	if len(t.Keys) > 0 {
		typed = append(typed, append(command{"send-keys", "-t", pane, "--"}, t.Keys...))
	}
	say := func(cmds []command, what string) string {
		return line(append(slices.Clip(cmds), command{"display-message", "-p", what}))
	}
	lines.WriteString(line([]command{
		{"if-shell", "-F", "-t", pane, "#{pane_dead}", say(untyped, saidDead),
			line([]command{{"if-shell", "-F", "-t", pane, "#{pane_input_off}", say(untyped, saidOff), say(typed, saidTyped)}})},
	}))
	return lines.String()
}
