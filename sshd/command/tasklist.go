package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

func (c *call) taskLsVerb() *cobra.Command {
	var r hitchpost.TaskListRequest
	var states string
	cmd := &cobra.Command{
		Use: "ls", Short: "the tasks that are kept, oldest first", Example: "task ls --state RUNNING --json", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if r.States, err = parseStates(cmd, "state", states, hitchpost.TaskStates()); err != nil {
				return err
			}
			tasks, err := c.Service.Tasks(cmd.Context(), c.Actor, r)
			if err != nil {
				return err
			}
			if c.json {
				return c.document(taskList{1, each(tasks, viewTask)})
			}
			return c.print(table(c.taskRows(tasks), c.columns()))
		},
	}
	c.prints(cmd, "task-list")
	cmd.Flags().StringVar(&states, "state", "", "only these states, `LIST` with commas")
	cmd.Flags().StringVar(&r.Session, "session", "", "only of session `REF`")
	cmd.Flags().StringVar(&r.Node, "node", "", "only on this machine, `N`")
	return cmd
}

func (c *call) taskRows(tasks []hitchpost.Task) [][]string {
	rows := make([][]string, 1, len(tasks)+1)
	rows[0] = []string{"ID", "STATE", "AGE", "TOOK", "EXIT", "NODE", "NAME", "COMMAND"}
	for _, t := range tasks {
		rows = append(rows, []string{
			t.ID, string(t.State), c.age(cmp.Or(t.EndedAt, t.StartedAt)), c.took(t), taskExit(t), t.Node, or(t.Name),
			quoted(t.Argv),
		})
	}
	return rows
}

// took is how long a task has run, for people; "-" where nobody saw its end.
func (c *call) took(t hitchpost.Task) string {
	end := t.EndedAt
	if t.State == hitchpost.TaskRunning {
		end = c.Now()
	}
	if end.IsZero() || t.StartedAt.IsZero() {
		return "-"
	}
	d := max(end.Sub(t.StartedAt), 0)
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// taskExit is the code or the signal of an ended task, for people.
func taskExit(t hitchpost.Task) string {
	switch {
	case t.ExitCode != nil:
		return strconv.Itoa(*t.ExitCode)
	case t.ExitSignal != "":
		return "SIG" + t.ExitSignal
	}
	return "-"
}

func (c *call) taskShowVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show ID", Short: "one task, all fields", Example: "task show 0198c4e2 --json", Args: exactly("an ID"),
		RunE: func(cmd *cobra.Command, words []string) error {
			t, err := c.Service.Task(cmd.Context(), c.Actor, words[0])
			if err != nil {
				return err
			}
			return c.task(t, c.taskFields(t))
		},
	}
	c.prints(cmd, "task")
	return cmd
}

// task prints t: as a document, or as the text for people.
func (c *call) task(t hitchpost.Task, text []byte) error {
	if c.json {
		return c.document(viewTask(t))
	}
	return c.print(text)
}

// taskDone prints where a task stands after an act.
func (c *call) taskDone(t hitchpost.Task) error {
	return c.task(t, table([][]string{{t.ID, string(t.State), taskExit(t)}}, 0))
}

func (c *call) taskFields(t hitchpost.Task) []byte {
	state := string(t.State)
	if t.Reason != "" {
		state += ": " + t.Reason
	}
	limit, used := "-", "-"
	if t.Timeout > 0 {
		limit = t.Timeout.String()
	}
	if u := t.Usage; u != nil {
		used = fmt.Sprintf("%.2fs user, %.2fs system, %.1f MiB", u.User.Seconds(), u.System.Seconds(), float64(u.MaxRSS)/(1<<20))
	}
	return table([][]string{
		{"id", t.ID},
		{"name", or(t.Name)},
		{"session", or(t.SessionID)},
		{"node", t.Node},
		{"cwd", t.Cwd},
		{"command", quoted(t.Argv)},
		{"state", state},
		{"exit", taskExit(t)},
		{"started by", or(t.Actor)},
		{"limit", limit},
		{"started", c.when(t.StartedAt)},
		{"ended", c.when(t.EndedAt)},
		{"took", c.took(t)},
		{"log", fmt.Sprintf("%d bytes", t.LogBytes)},
		{"used", used},
	}, 0)
}

func (c *call) taskLogVerb() *cobra.Command {
	var r hitchpost.TaskLogRequest
	var tail int
	cmd := &cobra.Command{
		Use: "log ID", Short: "what it printed", Example: "task log 0198c4e2 --tail 20 --follow", Args: exactly("an ID"),
		Long: "The bytes as the task wrote them, stdout and stderr together. Of a very long\n" +
			"log the middle is left out; a line tells of it. With --follow it goes on until\n" +
			"the task has ended.",
		RunE: func(cmd *cobra.Command, words []string) error {
			if cmd.Flags().Changed("tail") {
				if tail < 0 {
					return usage("--tail is at least 0").Hinted("leave it out for the whole log")
				}
				r.Tail = &tail
			}
			if r.Follow {
				c.follows()
			}
			return c.Service.TaskLog(cmd.Context(), c.Actor, words[0], r, gone{c.Stdout})
		},
	}
	cmd.Flags().BoolVar(&r.Follow, "follow", false, "and what it prints from now on, until it ends")
	cmd.Flags().IntVar(&tail, "tail", 0, "only the last `N` lines")
	c.printsNothing(cmd)
	return cmd
}

func (c *call) taskWaitVerb() *cobra.Command {
	var timeout duration
	cmd := &cobra.Command{
		Use: "wait ID", Short: "until it has ended; its exit status", Example: "task wait 0198c4e2 --timeout 10m",
		Args: exactly("an ID"),
		Long: "The exit status is the task's own, 128+N for signal N, and 124 when its limit\n" +
			"or --timeout was over. --timeout ends the wait and not the task.",
		RunE: func(cmd *cobra.Command, words []string) error {
			t, err := c.Service.Task(cmd.Context(), c.Actor, words[0]) // also where there is no time to wait
			if err != nil {
				return err
			}
			ctx, cancel := cmd.Context(), context.CancelFunc(func() {})
			if cmd.Flags().Changed("timeout") {
				ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(timeout), errWaited)
			}
			defer cancel()
			waited, err := c.Service.WaitTask(ctx, c.Actor, t.ID)
			switch {
			case errors.Is(err, errWaited):
				return hitchpost.Errorf(hitchpost.TimeoutError, "task %s is still running", t.ID).For("timeout").
					Hinted("wait again, or end it with `task cancel %s`", t.ID)
			case err != nil:
				return err
			}
			err = c.taskDone(waited)
			c.end(waited)
			return err
		},
	}
	c.prints(cmd, "task")
	cmd.Flags().Var(&timeout, "timeout", "give up after `D` like 10m, with exit status 124 (default never)")
	return cmd
}

var errWaited = errors.New("the time to wait is over")

func (c *call) taskCancelVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cancel ID", Short: "end it: TERM, and KILL 10s later", Example: "task cancel 0198c4e2", Args: exactly("an ID"),
		RunE: func(cmd *cobra.Command, words []string) error {
			t, err := c.Service.CancelTask(cmd.Context(), c.Actor, words[0])
			if err != nil {
				return err
			}
			return c.taskDone(t)
		},
	}
	c.prints(cmd, "task")
	return cmd
}

type taskView struct {
	ID         string              `json:"id"`
	Name       *string             `json:"name"`
	SessionID  *string             `json:"session_id"`
	Node       string              `json:"node"`
	Cwd        string              `json:"cwd"`
	Argv       []string            `json:"argv"`
	State      hitchpost.TaskState `json:"state"`
	Reason     *string             `json:"state_reason"`
	ExitCode   *int                `json:"exit_code"`
	ExitSignal *string             `json:"exit_signal"`
	TimedOut   bool                `json:"timed_out"`
	Actor      *string             `json:"actor"`
	StartedAt  stamp               `json:"started_at"`
	EndedAt    stamp               `json:"ended_at"`
	LogBytes   int64               `json:"log_bytes"`
	Usage      *usageView          `json:"usage"`
}

type usageView struct {
	UserSeconds   float64 `json:"user_seconds"`
	SystemSeconds float64 `json:"system_seconds"`
	MaxRSSBytes   int64   `json:"max_rss_bytes"`
}

func viewTask(t hitchpost.Task) taskView {
	v := taskView{
		ID: t.ID, Name: orNull(t.Name), SessionID: orNull(t.SessionID), Node: t.Node, Cwd: t.Cwd, Argv: t.Argv, State: t.State,
		Reason: orNull(t.Reason), ExitCode: t.ExitCode, ExitSignal: orNull(t.ExitSignal), TimedOut: t.TimedOut,
		Actor: orNull(t.Actor), StartedAt: at(t.StartedAt), EndedAt: at(t.EndedAt), LogBytes: t.LogBytes,
	}
	if u := t.Usage; u != nil {
		v.Usage = &usageView{u.User.Seconds(), u.System.Seconds(), u.MaxRSS}
	}
	return v
}

type taskList struct {
	Version int        `json:"version"`
	Tasks   []taskView `json:"tasks"`
}
