package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

// fail tells the person or script of the err of a verb, on stderr alone, and returns the exit status that stands for it.
func (c *call) fail(ctx context.Context, verb *cobra.Command, err error) int {
	switch cause := context.Cause(ctx); {
	case errors.Is(err, errLeft):
	case cause != nil:
		err = cause // whatever fails now fails because of that
	case errors.Is(err, errGone):
		return hitchpost.FailedError.ExitStatus()
	}
	e := failure(err)
	if how := given(e.Field, verb); how != "" && e.Hint != "" {
		e = e.Hinted("%s (%s)", e.Hint, how)
	}
	c.tell(e)
	return e.Kind.ExitStatus()
}

// Refuse tells the person or script on stderr why Split could not read the line, and returns the exit status that stands
// for it.
func Refuse(stderr io.Writer, line string, err error) (exitStatus int) {
	c := &call{Invocation: Invocation{Words: strings.Fields(line), Stderr: stderr}}
	return c.fail(context.Background(), nil, err)
}

// tell tells the person or script of e, on stderr alone.
func (c *call) tell(e *hitchpost.Error) {
	if c.json || c.asksForJSON() {
		_ = writeJSON(c.Stderr, errorDocument{errorView{e.Kind, cut(e.Message), orNull(cut(e.Hint)), viewObstacles(e.InTheWay)}})
		return
	}
	c.line(e.Error())
}

// say tells people of what is no error. Scripts find it in the document.
func (c *call) say(format string, args ...any) {
	if !c.json {
		c.line(fmt.Sprintf(format, args...))
	}
}

// line prints text on one line of stderr.
func (c *call) line(text string) {
	fmt.Fprintf(c.Stderr, "hitchpost: %s\n", hitchpost.OneLine(strings.ReplaceAll(cut(text), "\n", "; ")))
}

// maxTold is how much of a text is told, in bytes: a word that cannot be used may be of any length.
const maxTold = 4 << 10

func cut(text string) string {
	if len(text) <= maxTold {
		return text
	}
	return strings.ToValidUTF8(text[:maxTold], "") + "…"
}

// given is how what an error is about is given on the command line of the verb, or found by another; empty where there
// is nothing to add.
func given(field string, verb *cobra.Command) string {
	switch field {
	case "cwd", "kind", "name", "note", "preset", "title", "signal", "timeout", "force", "worktree", "branch",
		"message": // each is called like its flag
		if verb.Flags().Lookup(field) != nil {
			return "--" + field
		}
	case "command":
		if verb.Name() == "new" || verb.Name() == "run" {
			return "behind --"
		}
	case "restart-command":
		if verb.Name() == "new" {
			return "--restart-command"
		}
	case "check":
		if verb.Name() == "new" {
			return "--check"
		}
		return "`check REF --set CMD`"
	case "conversation":
		return "`new --kind claude -- --resume ID --fork-session`"
	case "checkpoint":
		return "`checkpoint ls REF`"
	case "session":
		return "`ls --all`"
	case "task":
		return "`task ls`"
	case "node":
		return "`node ls`"
	case "key":
		return "`key ls`"
	}
	return ""
}

// failure is err as the one kind of error that people read. A cause that has words for people keeps its own.
func failure(err error) *hitchpost.Error {
	var e *hitchpost.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled):
		return hitchpost.Errorf(hitchpost.UnavailableError, "interrupted").Hinted("try again")
	case errors.Is(err, context.DeadlineExceeded):
		return hitchpost.Errorf(hitchpost.UnavailableError, "no answer in time").Hinted("try again")
	}
	return hitchpost.Errorf(hitchpost.FailedError, "%w", err)
}

// asksForJSON looks for --json in a line that could not be read as a whole.
func (c *call) asksForJSON() bool {
	words := c.Words
	if end := slices.Index(words, "--"); end >= 0 {
		words = words[:end]
	}
	return slices.Contains(words, "--json") || slices.Contains(words, "--json=true")
}

// errorDocument is what a script reads on stderr.
type errorDocument struct {
	Error errorView `json:"error"`
}

type errorView struct {
	Code     hitchpost.ErrorKind `json:"code"`
	Message  string              `json:"message"`
	Hint     *string             `json:"hint"`
	InTheWay []obstacleView      `json:"in_the_way,omitempty"`
}

func usage(format string, args ...any) *hitchpost.Error {
	return hitchpost.Errorf(hitchpost.UsageError, format, args...)
}
