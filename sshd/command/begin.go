package command

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	shellquote "github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

// watch is how long a new process is stayed with, so that one that ends at once is told of.
const watch = time.Second

// keyLimit bounds the key that is read from stdin, in bytes.
const keyLimit = 64 << 10

func (c *call) newVerb() *cobra.Command {
	var r hitchpost.StartRequest
	var kind string
	var attach bool
	cmd := &cobra.Command{
		Use: "new [-- ARG…]", Short: "start a session; prints its id and handle",
		Long: "Without words it is a login shell, with words it runs them: no shell reads\n" +
			"them again. A program that ends within a second is told of.",
		Example: "new --title api --cwd src/api -- make watch",
		RunE: func(cmd *cobra.Command, words []string) error {
			if before := cmd.ArgsLenAtDash(); before != 0 && len(words) > 0 {
				return usage("`new` does not take %q", words[0]).Hinted("put the program and its words behind --")
			}
			r.Kind, r.Args = hitchpost.Kind(kind), words
			if err := checkNew(r); err != nil {
				return err
			}
			if attach {
				if err := c.needsTerminal("new --attach"); err != nil {
					return err
				}
			} else {
				r.Watch = watch
			}
			if r.Note == "-" {
				note, err := c.input("note", hitchpost.MaxNote)
				if err != nil {
					return err
				}
				r.Note = note
			}
			r.Size = c.size()
			result, err := c.Service.Start(cmd.Context(), c.Actor, r)
			if err != nil {
				return err
			}
			if attach {
				return c.attach(cmd, hitchpost.AttachRequest{Ref: result.Session.ID})
			}
			return c.started(result)
		},
	}
	c.prints(cmd, "session")
	f := cmd.Flags()
	f.StringVar(&r.Title, "title", "", "title `T`; the handle is made from it")
	f.StringVar(&kind, "kind", "", "`KIND`: shell or command; follows from the words")
	f.StringVar(&r.Cwd, "cwd", "", "directory `DIR`, which exists; seen from the home if relative")
	f.StringVar(&r.Project, "project", "", "project `P`")
	f.StringVar(&r.Node, "node", "", "machine `N`")
	f.StringVar(&r.Note, "note", "", "handoff `TEXT`, or - to read it from stdin")
	f.StringVar(&r.Check, "check", "", "command `CMD` that checks the work")
	f.StringVar(&r.RestartCommand, "restart-command", "", "command `CMD` that a restart runs instead")
	f.StringArrayVar(&r.Env, "env", nil, "environment variable `K=V`, may be given again")
	f.BoolVar(&r.IfAbsent, "if-absent", false, "not where an open session has that title's handle: print that one")
	f.BoolVar(&attach, "attach", false, "attach to it; needs a terminal")
	return cmd
}

// checkNew refuses what could not mean anything.
func checkNew(r hitchpost.StartRequest) error {
	for _, v := range r.Env {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" {
			return usage("%q is no environment variable", v).Hinted("give --env NAME=VALUE")
		}
	}
	if r.IfAbsent && r.Title == "" {
		return usage("--if-absent needs a title to look for").Hinted("give one with --title")
	}
	return nil
}

// size is the size of the client's terminal, the zero value without one.
func (c *call) size() hitchpost.Size {
	if c.Terminal == nil {
		return hitchpost.Size{}
	}
	return c.Terminal.Size
}

// started prints a session whose process is up, or tells of one that ended at once. Ending well is no error.
func (c *call) started(r hitchpost.StartResult) error {
	if r.Early != nil && !r.Early.Well() {
		return early(r)
	}
	if r.Early != nil {
		c.endedWell(r)
	}
	return c.session(r.Session, table([][]string{{r.Session.ID, r.Session.Handle}}, 0))
}

// early is the error for a process that ended badly at once.
func early(r hitchpost.StartResult) error {
	return hitchpost.Errorf(hitchpost.FailedError, "%s", endedAtOnce(r)).
		Hinted("see it with `show %[1]s`; `restart %[1]s` or `close %[1]s`", r.Session.Handle)
}

func endedAtOnce(r hitchpost.StartResult) string {
	text := fmt.Sprintf("%s ended at once: %s", r.Session.Handle, r.Early)
	var lines []string
	for _, line := range r.FirstLines {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > 0 {
		text += " (" + strings.Join(lines, " / ") + ")"
	}
	return text
}

// input reads all of stdin, which may be limit bytes of UTF-8 text.
func (c *call) input(what string, limit int64) (string, error) {
	data, err := io.ReadAll(io.LimitReader(c.Stdin, limit+1))
	switch {
	case err != nil:
		return "", hitchpost.Errorf(hitchpost.FailedError, "the %s could not be read from stdin: %w", what, err)
	case int64(len(data)) > limit:
		return "", usage("the %s on stdin is longer than %d bytes", what, limit).Hinted("send less")
	case !utf8.Valid(data) || strings.ContainsRune(string(data), 0):
		return "", usage("the %s on stdin is not UTF-8 text", what).Hinted("send text")
	}
	return string(data), nil
}

func (c *call) restartVerb() *cobra.Command {
	var all, force bool
	var states string
	cmd := &cobra.Command{
		Use: "restart REF", Short: "a fresh process for an ended session", Example: "restart api",
		Long: "It is refused where a process of the session has outlived its terminal, unless\n" +
			"--force starts a new one beside it. With --all each RECOVERABLE session, one\n" +
			"after the other, each seen to run; it stops after three failures in a row.",
		RunE: func(cmd *cobra.Command, words []string) error {
			if !all {
				if cmd.Flags().Changed("state") {
					return usage("--state goes with --all").Hinted("as in: restart --all --state RECOVERABLE")
				}
				if err := exactly("a REF or --all")(cmd, words); err != nil {
					return err
				}
				result, err := c.restart(cmd, words[0], force)
				if err != nil {
					return err
				}
				return c.started(result)
			}
			if len(words) > 0 {
				return usage("`restart --all` does not take %q", words[0]).Hinted("give a REF or --all")
			}
			chosen, err := parseStates(states, true)
			if err != nil {
				return err
			}
			return c.restartAll(cmd, chosen, force)
		},
	}
	c.prints(cmd, "session")
	c.printsWith(cmd, "all", "session-list")
	cmd.Flags().BoolVar(&all, "all", false, "every session in the states of --state")
	cmd.Flags().BoolVar(&force, "force", false, "also beside what an earlier run has left running")
	cmd.Flags().StringVar(&states, "state", string(hitchpost.Recoverable), "with --all: these states, `LIST` with commas")
	return cmd
}

func (c *call) restart(cmd *cobra.Command, ref string, force bool) (hitchpost.StartResult, error) {
	r := hitchpost.RestartRequest{Size: c.size(), Watch: watch, Force: force}
	return c.Service.Restart(cmd.Context(), c.Actor, ref, r)
}

// restartFailures is after how many failures in a row a restart of many stops: what fails so often fails for all.
const restartFailures = 3

// restartAll restarts one session after the other and sees each live before it goes on. What was restarted is printed
// also when some could not be; those are told of on stderr.
func (c *call) restartAll(cmd *cobra.Command, states []hitchpost.State, force bool) error {
	for _, s := range states {
		if !s.Ended() {
			return usage("a session that is %s cannot be restarted", s).Hinted("use RECOVERABLE, STOPPED or FAILED")
		}
	}
	sessions, err := c.Service.List(cmd.Context(), c.Actor, hitchpost.ListRequest{States: states})
	if err != nil {
		return err
	}
	var up []hitchpost.Session
	var errs []error
	for inARow := 0; len(sessions) > 0 && inARow < restartFailures; sessions = sessions[1:] {
		result, err := c.restart(cmd, sessions[0].ID, force)
		if err == nil {
			err = c.seenUp(result)
		}
		if err != nil {
			errs, inARow = append(errs, fmt.Errorf("%s: %w", sessions[0].Handle, err)), inARow+1
			continue
		}
		up, inARow = append(up, result.Session), 0
	}
	if err := c.restarted(up); err != nil || len(errs) == 0 {
		return err
	}
	return partly(errs, len(up), len(sessions))
}

// seenUp is nil where a restarted session lives after it was watched, and where its program has ended well by then: it
// has done its work, which is told.
func (c *call) seenUp(r hitchpost.StartResult) error {
	switch {
	case r.Early != nil && !r.Early.Well():
		return early(r)
	case r.Early != nil:
		c.endedWell(r)
	case !r.Session.State.Live():
		return hitchpost.Errorf(hitchpost.FailedError, "it is %s and does not run", r.Session.State).
			Hinted("see it with `show %s`", r.Session.Handle)
	}
	return nil
}

// endedWell tells of a program that has ended well as soon as it was started.
func (c *call) endedWell(r hitchpost.StartResult) {
	if !c.json {
		fmt.Fprintf(c.Stderr, "hitchpost: %s\n", hitchpost.OneLine(endedAtOnce(r)))
	}
}

func (c *call) restarted(up []hitchpost.Session) error {
	if c.json {
		return c.document(listSessions(up))
	}
	rows := each(up, func(s hitchpost.Session) []string { return []string{s.ID, s.Handle} })
	return c.print(table(rows, 0))
}

// partly is the error of a restart of many that did not all come up. Its kind is that of the first.
func partly(errs []error, up, untried int) error {
	e := failure(errs[0])
	text := make([]string, len(errs))
	for i, err := range errs {
		text[i] = err.Error()
	}
	out := hitchpost.Errorf(e.Kind, "%d restarted, %d failed, %d not tried (%s)", up, len(errs), untried,
		strings.Join(text, "; "))
	out.Cause = errors.Join(errs...)
	if slices.ContainsFunc(errs, hitchpost.Forcible) {
		return out.Hinted("end what is left first, or start beside it with --force")
	}
	return out.Hinted("see them with `ls`")
}

func quoted(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return shellquote.Join(words...)
}
