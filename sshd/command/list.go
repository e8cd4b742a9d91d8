package command

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

func (c *call) lsVerb() *cobra.Command {
	var r hitchpost.ListRequest
	var states string
	cmd := &cobra.Command{
		Use: "ls", Short: "open sessions", Example: "ls --state RUNNING,DETACHED --json", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if r.States, err = parseStates(cmd, "state", states, hitchpost.States()); err != nil {
				return err
			}
			sessions, err := c.Service.List(cmd.Context(), c.Actor, r)
			if err != nil {
				return err
			}
			if c.json {
				return c.document(listSessions(sessions))
			}
			return c.print(table(c.sessionRows(sessions, r.All), c.columns()))
		},
	}
	c.prints(cmd, "session-list")
	cmd.Flags().StringVar(&states, "state", "", "only these states, `LIST` with commas")
	cmd.Flags().StringVar(&r.Node, "node", "", "only on this machine, `N`")
	cmd.Flags().StringVar(&r.Project, "project", "", "only of this project, `P`")
	cmd.Flags().BoolVar(&r.All, "all", false, "closed ones too")
	return cmd
}

// where is what a session works in, and that others do so too.
func where(s hitchpost.Session) string {
	text := cmp.Or(s.Work(), s.Cwd)
	var others []string
	for _, c := range s.Clash {
		others = append(others, cmp.Or(c.Session, c.Agent))
	}
	if len(others) > 0 {
		text += " (clash: " + strings.Join(others, ", ") + ")"
	}
	return text
}

// parseStates reads the value of a flag: names of states with commas between them, in any case. It is nil without that
// flag or a default of it.
func parseStates[S ~string](cmd *cobra.Command, flag, list string, all []S) ([]S, error) {
	if list == "" && !cmd.Flags().Changed(flag) {
		return nil, nil
	}
	var out []S
	for name := range strings.SplitSeq(list, ",") {
		found := slices.IndexFunc(all, func(s S) bool { return strings.EqualFold(string(s), strings.TrimSpace(name)) })
		if found < 0 {
			names := each(all, func(s S) string { return string(s) })
			return nil, usage("no state %q", name).Hinted("use one of: %s", strings.Join(names, ", "))
		}
		out = append(out, all[found])
	}
	return out, nil
}

// sessionRows is the list for people. With the closed ones it tells which are closed and the ids of all: a closed session
// has no handle that finds it.
func (c *call) sessionRows(sessions []hitchpost.Session, all bool) [][]string {
	projects := slices.ContainsFunc(sessions, func(s hitchpost.Session) bool { return s.Project != "" })
	rows := make([][]string, 1, len(sessions)+1)
	rows[0] = []string{"HANDLE", "STATE", "AGE", "KIND", "NODE", "WHERE", "OUTPUT", "ATTACHED", "TITLE"}
	for _, s := range sessions {
		rows = append(rows, []string{
			s.Handle, string(s.State), c.age(s.StateSince), string(s.Kind), s.Node, where(s),
			c.age(s.LastOutputAt), strconv.Itoa(s.Attached), s.Title,
		})
	}
	if projects {
		rows[0] = slices.Insert(rows[0], 5, "PROJECT")
		for i, s := range sessions {
			rows[i+1] = slices.Insert(rows[i+1], 5, or(s.Project))
		}
	}
	if !all {
		return rows
	}
	rows[0] = slices.Concat([]string{"ID"}, slices.Insert(rows[0], 3, "CLOSED"))
	for i, s := range sessions {
		rows[i+1] = slices.Concat([]string{s.ID}, slices.Insert(rows[i+1], 3, c.age(s.ClosedAt)))
	}
	return rows
}

func (c *call) showVerb() *cobra.Command {
	var screen bool
	cmd := &cobra.Command{
		Use: "show REF", Short: "one session, all fields", Example: "show api --json", Args: exactly("a REF"),
		RunE: func(cmd *cobra.Command, words []string) error {
			s, err := c.Service.Show(cmd.Context(), c.Actor, words[0])
			if err != nil {
				return err
			}
			if !screen {
				return c.session(s, c.sessionFields(s))
			}
			got, err := c.Service.Capture(cmd.Context(), c.Actor, s.ID, hitchpost.CaptureRequest{})
			if err != nil {
				return err
			}
			if c.json {
				return c.document(screenView{viewSession(s), string(got.Text), at(got.At)})
			}
			return c.print(bytes.Join([][]byte{c.sessionFields(s), withNewline(got.Text)}, []byte("\n")))
		},
	}
	c.prints(cmd, "session")
	c.printsWith(cmd, "screen", "screen")
	cmd.Flags().BoolVar(&screen, "screen", false, "and what its screen shows, as text")
	return cmd
}

// session prints s: as a document, or as the text for people.
func (c *call) session(s hitchpost.Session, text []byte) error {
	if c.json {
		return c.document(viewSession(s))
	}
	return c.print(text)
}

func (c *call) sessionFields(s hitchpost.Session) []byte {
	state := string(s.State)
	if s.StateReason != "" {
		state += ": " + s.StateReason
	}
	if s.StateSource != "" {
		state += " (" + string(s.StateSource) + ")"
	}
	rows := [][]string{
		{"id", s.ID},
		{"handle", s.Handle},
		{"title", s.Title},
		{"kind", string(s.Kind)},
		{"node", s.Node},
		{"project", or(s.Project)},
		{"cwd", s.Cwd},
		{"repo", or(s.Repo)},
		{"branch", or(s.Branch)},
		{"worktree", or(s.Worktree)},
		{"clash", or(hitchpost.NameAgents(s.Clash))},
		{"state", state},
		{"since", c.when(s.StateSince)},
		{"attached", strconv.Itoa(s.Attached)},
		{"args", or(quoted(s.Args))},
		{"conversation", or(s.ConversationID)},
	}
	return table(slices.Concat(rows, c.agentRows(s), [][]string{
		{"outcome", or(outcome(s))},
		{"restarts", strconv.Itoa(s.Restarts)},
		{"note", or(s.Note)},
		{"check", or(s.Check)},
		{"created", c.when(s.CreatedAt)},
		{"started", c.when(s.StartedAt)},
		{"ended", c.when(s.EndedAt)},
		{"closed", c.when(s.ClosedAt)},
		{"last output", c.when(s.LastOutputAt)},
		{"last attached", c.when(s.LastAttachedAt)},
	}), 0)
}

// outcome is how the last process of s ended, or empty.
func outcome(s hitchpost.Session) string {
	if e := s.Exit(); e != nil {
		return e.String()
	}
	return ""
}

// withNewline ends text with a newline, if it is not empty.
func withNewline(text []byte) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return append(text[:len(text):len(text)], '\n')
	}
	return text
}
