package command

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

func (c *call) eventsVerb() *cobra.Command {
	var follow bool
	var since ago
	var count int
	cmd := &cobra.Command{
		Use: "events [REF]", Short: "what happened, to one session or to all", Example: "events api --since 2h",
		Args: between(0, "a REF"),
		Long: "With --follow it goes on with what happens from now on, or from --since on;\n" +
			"with --json as one object a line. It ends after --count of them, or when you\n" +
			"end ssh, which does not notice that a reader behind a pipe has had enough.\n" +
			"Logins, refusals and changes of keys are for admins.",
		RunE: func(cmd *cobra.Command, words []string) error {
			if cmd.Flags().Changed("count") && count < 1 {
				return usage("--count is at least 1").Hinted("leave it out for all")
			}
			q := hitchpost.EventQuery{Since: since.before(c.Now()), Count: count}
			if len(words) > 0 {
				if q.Ref = words[0]; q.Ref == "" {
					return usage("no session was named").Hinted("give a REF, or none for all that happened")
				}
			}
			if follow {
				return c.followEvents(cmd, q)
			}
			return c.listEvents(cmd, q)
		},
	}
	c.prints(cmd, "event-list")
	c.printsWith(cmd, "follow", "event")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on with those to come")
	cmd.Flags().IntVar(&count, "count", 0, "the last `N` of them; with --follow the first N, and then it ends")
	cmd.Flags().Var(&since, "since", "from `T` on: 2h or 7d ago, or a time like 2026-01-31T08:00:00Z")
	return cmd
}

// listEvents prints the log as it is: of one page at once, and of more page by page.
func (c *call) listEvents(cmd *cobra.Command, q hitchpost.EventQuery) error {
	var buf bytes.Buffer
	between := ""
	if c.json {
		buf.WriteString(`{"version":1,"events":[`)
	} else {
		buf.Write(c.eventLine(eventTitles()))
	}
	full := false
	err := c.Service.Events(cmd.Context(), c.Actor, q, func(page []hitchpost.Event) error {
		if full {
			if err := c.print(buf.Bytes()); err != nil {
				return err
			}
			buf.Reset()
		}
		full = true
		for _, e := range page {
			if !c.json {
				buf.Write(c.eventLine(eventCells(e)))
				continue
			}
			one, err := json.Marshal(viewEvent(e))
			if err != nil {
				return err
			}
			buf.WriteString(between)
			buf.Write(escapeControls(one))
			between = ","
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.json {
		buf.WriteString("]}\n")
	}
	return c.print(buf.Bytes())
}

// followEvents prints what is appended as it comes, until the client has enough.
func (c *call) followEvents(cmd *cobra.Command, q hitchpost.EventQuery) error {
	c.follows()
	if !c.json {
		if err := c.print(c.eventLine(eventTitles())); err != nil {
			return err
		}
	}
	return c.Service.FollowEvents(cmd.Context(), c.Actor, q, func(page []hitchpost.Event) error {
		var buf bytes.Buffer
		for _, e := range page {
			if !c.json {
				buf.Write(c.eventLine(eventCells(e)))
			} else if err := writeJSON(&buf, viewEvent(e)); err != nil {
				return err
			}
		}
		return c.print(buf.Bytes())
	}, func(error) {
		c.tell(hitchpost.Errorf(hitchpost.UnavailableError, "the database is away").
			Hinted("waiting; what happens meanwhile follows once it is back"))
	})
}

// The columns of events for people have a width of their own, as not all events are known when the first is shown.
const (
	eventTimeWidth    = len("2006-01-02 15:04:05Z")
	eventKindWidth    = len("task_exited_badly")
	eventSessionWidth = 16
	eventActorWidth   = 10
)

func eventTitles() []string { return []string{"TIME", "EVENT", "SESSION", "ACTOR", "WHAT"} }

func eventCells(e hitchpost.Event) []string {
	what := e.Reason
	if e.From != e.To {
		what = strings.TrimPrefix(string(e.From)+" > ", " > ") + string(e.To)
		if e.Reason != "" {
			what += ": " + e.Reason
		}
	}
	return []string{
		e.At.UTC().Format("2006-01-02 15:04:05Z"), e.Kind, or(e.Handle), or(e.Actor), or(what) + " (" + string(e.Source) + ")",
	}
}

// eventLine lays one event out, cleaned and cut to the terminal.
func (c *call) eventLine(cells []string) []byte {
	widths := []int{eventTimeWidth, eventKindWidth, eventSessionWidth, eventActorWidth}
	var line strings.Builder
	for i, cell := range cells {
		cell = hitchpost.OneLine(cell)
		line.WriteString(cell)
		if i < len(widths) {
			line.WriteString(strings.Repeat(" ", max(widths[i]-width(cell), 0)+2))
		}
	}
	text := strings.TrimRight(line.String(), " ")
	if limit := c.columns(); limit > 0 {
		text = fit(text, limit)
	}
	return []byte(text + "\n")
}

// ago is a flag that names a moment: so long ago, or a time as in RFC 3339. The zero value names none.
type ago struct {
	text   string
	moment func(now time.Time) time.Time
}

func (a *ago) String() string { return a.text }

func (a *ago) Type() string { return "T" }

func (a *ago) Set(text string) error {
	if back, err := hitchpost.ParseDuration(text); err == nil {
		*a = ago{text, func(now time.Time) time.Time { return now.Add(-back) }}
		return nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return usage("%q is no time", text).Hinted("give one like 2h or 7d ago, or like 2026-01-31T08:00:00Z")
	}
	*a = ago{text, func(time.Time) time.Time { return at }}
	return nil
}

// before is the moment, seen from now; zero where none was given.
func (a *ago) before(now time.Time) time.Time {
	if a.moment == nil {
		return time.Time{}
	}
	return a.moment(now)
}
