package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
)

// TaskService is what the verbs of tasks drive.
type TaskService interface {
	// RunTask returns once the process is up. The task goes on whatever becomes of ctx.
	RunTask(context.Context, hitchpost.Actor, hitchpost.TaskRequest) (hitchpost.Task, error)
	Tasks(context.Context, hitchpost.Actor, hitchpost.TaskListRequest) ([]hitchpost.Task, error)
	Task(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.Task, error)
	// WaitTask returns the task once it has ended.
	WaitTask(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.Task, error)
	CancelTask(ctx context.Context, a hitchpost.Actor, ref string) (hitchpost.Task, error)
	TaskLog(ctx context.Context, a hitchpost.Actor, ref string, r hitchpost.TaskLogRequest, w io.Writer) error
	// FeedTask returns once all of r was given or the task takes no more; a Read of r may then still be under way.
	FeedTask(ctx context.Context, a hitchpost.Actor, ref string, r io.Reader) error
}

func (c *call) taskVerb() *cobra.Command {
	cmd := c.parent("task", "background commands", c.taskRunVerb(), c.taskLsVerb(), c.taskShowVerb(), c.taskLogVerb(),
		c.taskWaitVerb(), c.taskCancelVerb())
	cmd.Long = "An ID is a whole one, 4 or more characters that begin one alone, or last: the\n" +
		"task that you started last, with whichever of your keys."
	cmd.Example = "task run --wait -- make test"
	return cmd
}

func (c *call) taskRunVerb() *cobra.Command {
	var r hitchpost.TaskRequest
	var timeout duration
	var wait bool
	cmd := &cobra.Command{
		Use: "run -- ARG…", Short: "start one; prints its id",
		Long: "It runs without a terminal, and no shell reads its words. It goes on when you\n" +
			"leave; its output and its exit code are kept. With --wait you see what it\n" +
			"prints, and the exit status is its own: 128+N for signal N, 124 when its limit\n" +
			"was over. With --stdin you wait too: your input is fed to it, to its end or\n" +
			"until you leave.",
		Example: "task run --wait --timeout 10m -- make test", Args: behindDashes,
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 {
				return usage("`task run` needs a command").Hinted("as in: %s", cmd.Example)
			}
			if cmd.Flags().Changed("timeout") && timeout == 0 {
				return usage("a task that is ended at once is of no use").Hinted("give --timeout a time like 10m")
			}
			r.Argv, r.Timeout = words, time.Duration(timeout)
			t, err := c.Service.RunTask(cmd.Context(), c.Actor, r)
			switch {
			case err != nil:
				return err
			case wait || r.Stdin:
				return c.stay(cmd.Context(), t, r.Stdin)
			}
			if err := c.task(t, []byte(t.ID+"\n")); err != nil {
				return err
			}
			c.tellEarlyEnd(cmd.Context(), t)
			return nil
		},
	}
	c.prints(cmd, "task")
	f := cmd.Flags()
	f.StringVar(&r.Name, "name", "", "name `N` for people")
	f.StringVar(&r.Session, "session", "", "session `REF` that it belongs to, and whose directory it has")
	f.StringVar(&r.Cwd, "cwd", "", "directory `DIR`, which exists; seen from the home if relative")
	f.StringVar(&r.Node, "node", "", "machine `N`")
	f.BoolVar(&wait, "wait", false, "stay until it ends")
	f.Var(&timeout, "timeout", "end it after `D` like 10m: TERM, and KILL 10s later (default never)")
	f.BoolVar(&r.Stdin, "stdin", false, "feed it your input; implies --wait")
	return cmd
}

// stay shows what a task prints until it has ended, and takes over its exit status. With --json nothing but the document
// of the ended task is printed.
func (c *call) stay(ctx context.Context, t hitchpost.Task, stdin bool) error {
	c.follows()
	fed := make(chan error, 1)
	feeding, stopFeeding := context.WithCancel(ctx)
	defer stopFeeding()
	if stdin {
		go func() { fed <- c.Service.FeedTask(feeding, c.Actor, t.ID, c.Stdin) }()
	}
	var err error
	if !c.json {
		err = c.Service.TaskLog(ctx, c.Actor, t.ID, hitchpost.TaskLogRequest{Follow: true}, gone{c.Stdout})
	}
	ended := t
	if err == nil {
		ended, err = c.Service.WaitTask(ctx, c.Actor, t.ID)
	}
	stopFeeding()
	if stdin {
		if ferr := <-fed; ferr != nil && err == nil && !errors.Is(ferr, context.Canceled) {
			c.tell(hitchpost.Errorf(hitchpost.FailedError, "the input of the task was not taken to its end: %w", ferr))
		}
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return goesOn(context.Cause(ctx), t)
	case hitchpost.KindOf(err) == hitchpost.UnavailableError:
		return goesOn(err, t) // the status says "try again": a script must not run it twice for that
	default:
		return err
	}
	if c.json {
		err = c.document(viewTask(ended))
	}
	c.end(ended)
	return err
}

// errLeft marks what somebody is told who leaves while what they waited for goes on.
var errLeft = errors.New("the client waits no longer")

// goesOn is the error for whoever has to stop waiting for a task because of why.
func goesOn(why error, t hitchpost.Task) error {
	e := failure(why)
	e = hitchpost.Errorf(e.Kind, "%s; task %s goes on", e.Message, t.ID).
		Hinted("`task wait %[1]s` waits again, `task cancel %[1]s` ends it", t.ID)
	e.Cause = errLeft
	return e
}

// end takes over the exit status of a task, and tells of an end that the status alone does not explain.
func (c *call) end(t hitchpost.Task) {
	exit := t.Exit()
	switch {
	case t.TimedOut:
		c.status = hitchpost.TimeoutError.ExitStatus()
	case exit == nil:
		c.status = hitchpost.FailedError.ExitStatus()
	default:
		c.status = exit.Status(func(name string) int { return int(unix.SignalNum("SIG" + name)) })
	}
	if plain := t.State == hitchpost.TaskSucceeded || t.State == hitchpost.TaskFailed && exit != nil && !t.TimedOut; plain {
		return
	}
	c.say("task %s is %s: %s", t.ID, t.State, t.Reason)
}

// tellEarlyEnd stays with a new task for a moment, and tells of one that fails at once. That is no error of this verb:
// the task was started, and its end is kept. A script that wants to know waits for it.
func (c *call) tellEarlyEnd(ctx context.Context, t hitchpost.Task) {
	if c.json {
		return
	}
	limited, cancel := context.WithTimeout(ctx, watch)
	defer cancel()
	t, err := c.Service.WaitTask(limited, c.Actor, t.ID)
	if err != nil || t.State == hitchpost.TaskSucceeded || !t.State.Ended() {
		return
	}
	text := fmt.Sprintf("task %s ended at once: %s", t.ID, t.Reason)
	first := &head{limit: firstBytes}
	if err := c.Service.TaskLog(ctx, c.Actor, t.ID, hitchpost.TaskLogRequest{}, first); err == nil || errors.Is(err, errEnough) {
		if lines := first.lines(firstLines); len(lines) > 0 {
			text += " (" + strings.Join(lines, " / ") + ")"
		}
	}
	c.say("%s", text)
}

// How much of the log of a task that failed at once is shown.
const (
	firstBytes = 4 << 10
	firstLines = 10
)

var errEnough = errors.New("enough was read")

// head keeps the beginning of what is written to it.
type head struct {
	limit int
	kept  []byte
}

func (h *head) Write(p []byte) (int, error) {
	if n := h.limit - len(h.kept); n < len(p) {
		h.kept = append(h.kept, p[:n]...)
		return n, errEnough
	}
	h.kept = append(h.kept, p...)
	return len(p), nil
}

// lines are the first n lines that are not blank.
func (h *head) lines(n int) []string {
	var out []string
	for line := range bytes.Lines(h.kept) {
		if text := strings.TrimSpace(string(line)); text != "" && len(out) < n {
			out = append(out, text)
		}
	}
	return out
}

// gone is an output whose errors say that nobody takes it.
type gone struct{ w io.Writer }

func (g gone) Write(p []byte) (int, error) {
	n, err := g.w.Write(p)
	if err != nil {
		return n, errGone
	}
	return n, nil
}
