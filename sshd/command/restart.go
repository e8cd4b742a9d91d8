package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

func (c *call) restartVerb() *cobra.Command {
	var r hitchpost.RestartRequest
	var all, noted bool
	var states string
	cmd := &cobra.Command{
		Use: "restart REF", Short: "a fresh process for an ended session", Example: "restart api",
		Long: "It is refused where a process of the session has outlived its terminal, and\n" +
			"for an agent where another works in the same tree, unless --force starts it\n" +
			"beside them. The files are kept as a checkpoint first. An agent goes on with\n" +
			"its conversation, or with --fresh begins a new one. With --with-note its first\n" +
			"prompt is the note and the facts of the card in short; for kind claude.\n" +
			"With --all each RECOVERABLE session, one after the other, each seen to run; it\n" +
			"stops after three failures in a row.",
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := checkConversation(cmd, &r, all); err != nil {
				return err
			}
			if all && noted {
				return usage("--with-note is for one session").Hinted("give a REF in place of --all")
			}
			if !all {
				if cmd.Flags().Changed("state") {
					return usage("--state goes with --all").Hinted("as in: restart --all --state RECOVERABLE")
				}
				if err := exactly("a REF or --all")(cmd, words); err != nil {
					return err
				}
				if noted {
					if err := c.brief(cmd.Context(), words[0], &r); err != nil {
						return err
					}
				}
				result, err := c.restart(cmd, words[0], r)
				if err != nil {
					return err
				}
				return c.started(result)
			}
			if len(words) > 0 {
				return usage("`restart --all` does not take %q", words[0]).Hinted("give a REF or --all")
			}
			chosen, err := parseStates(cmd, "state", states, hitchpost.States())
			if err != nil {
				return err
			}
			return c.restartAll(cmd, chosen, r)
		},
	}
	c.prints(cmd, "session")
	c.printsWith(cmd, "all", "session-list")
	cmd.Flags().BoolVar(&all, "all", false, "every session in the states of --state")
	cmd.Flags().BoolVar(&r.Force, "force", false, "also beside what an earlier run has left, or another agent")
	cmd.Flags().BoolVar(&r.Fresh, "fresh", false, "for an agent: begin a new conversation")
	cmd.Flags().StringVar(&r.Conversation, "conversation", "", "for an agent: go on with the conversation of that `ID`, a UUID")
	cmd.Flags().BoolVar(&noted, "with-note", false, "for kind claude: tell it the note and the facts first")
	cmd.Flags().StringVar(&states, "state", string(hitchpost.Recoverable), "with --all: these states, `LIST` with commas")
	return cmd
}

// brief has the fresh process told the session's note and the facts of its card.
func (c *call) brief(ctx context.Context, ref string, r *hitchpost.RestartRequest) error {
	if err := c.Actor.Require(hitchpost.Drive); err != nil {
		return err
	}
	card, err := c.Service.Card(ctx, c.Actor, ref, nil)
	if err == nil {
		err = hitchpost.CanBrief(card.Session)
	}
	if err != nil {
		return err
	}
	r.Prompt = hitchpost.Briefing(card)
	return nil
}

// checkConversation refuses a choice of the conversation that could not mean anything, and has the id in lower case.
func checkConversation(cmd *cobra.Command, r *hitchpost.RestartRequest, all bool) error {
	chosen := cmd.Flags().Changed("conversation")
	switch {
	case r.Fresh && chosen:
		return usage("--fresh and --conversation do not go together").Hinted("give one of them")
	case all && (r.Fresh || chosen):
		return usage("--fresh and --conversation are for one session").Hinted("give a REF in place of --all")
	case !chosen:
		return nil
	}
	r.Conversation = strings.ToLower(r.Conversation)
	if id, err := uuid.Parse(r.Conversation); err != nil || id.String() != r.Conversation {
		return usage("%q is no id of a conversation", r.Conversation).
			Hinted("give a UUID, such as one that `show REF` names")
	}
	return nil
}

func (c *call) restart(cmd *cobra.Command, ref string, r hitchpost.RestartRequest) (hitchpost.StartResult, error) {
	r.Size, r.Watch = c.size(), watch
	return c.Service.Restart(cmd.Context(), c.Actor, ref, r)
}

// restartFailures is after how many failures in a row a restart of many stops: what fails so often fails for all. What a
// safeguard refuses is no failure of that kind: it is about one session.
const restartFailures = 3

// restartAll restarts one session after the other and sees each live before it goes on. What was restarted is printed
// also when some could not be; those are told of on stderr.
func (c *call) restartAll(cmd *cobra.Command, states []hitchpost.State, r hitchpost.RestartRequest) error {
	for _, s := range states {
		if !s.Ended() {
			return usage("a session that is %s cannot be restarted", s).Hinted("use RECOVERABLE, STOPPED or FAILED")
		}
	}
	if err := c.Actor.Require(hitchpost.Drive); err != nil {
		return err // once, and not for each of them
	}
	sessions, err := c.Service.List(cmd.Context(), c.Actor, hitchpost.ListRequest{States: states})
	if err != nil {
		return err
	}
	var up []hitchpost.Session // or through with their work already
	var errs []error
	for inARow := 0; len(sessions) > 0 && inARow < restartFailures; sessions = sessions[1:] {
		result, err := c.restart(cmd, sessions[0].ID, r)
		if err == nil {
			err = c.seenUp(result)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", sessions[0].Handle, err))
			if !hitchpost.Forcible(err) {
				inARow++
			}
			continue
		}
		up, inARow = append(up, result.Session), 0
	}
	if err := c.restarted(up); err != nil || len(errs) == 0 {
		return err
	}
	return partly(errs, up, len(sessions))
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
	c.say("%s", endedAtOnce(r))
}

func (c *call) restarted(up []hitchpost.Session) error {
	if c.json {
		return c.document(listSessions(up))
	}
	rows := each(up, func(s hitchpost.Session) []string { return []string{s.ID, s.Handle} })
	return c.print(table(rows, 0))
}

// partly is the error of a restart of many that did not all come up. Its kind is that of the first.
func partly(errs []error, up []hitchpost.Session, untried int) error {
	run, through := 0, ""
	for _, s := range up {
		if s.State.Live() {
			run++
		}
	}
	if n := len(up) - run; n > 0 {
		through = fmt.Sprintf("%d ended well at once, ", n)
	}
	e := failure(errs[0])
	text := make([]string, len(errs))
	for i, err := range errs {
		text[i] = err.Error()
	}
	out := hitchpost.Errorf(e.Kind, "%d restarted, %s%d failed, %d not tried (%s)", run, through, len(errs), untried,
		strings.Join(text, "; "))
	out.Cause = errors.Join(errs...)
	if slices.ContainsFunc(errs, hitchpost.Forcible) {
		return out.Hinted("end what is left first, or start beside it with --force")
	}
	return out.Hinted("see them with `ls`")
}
