package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hitchpost/hitchpost"
)

// AgentNews is what was heard of the agent that a session runs.
type AgentNews struct {
	Run int // of the process that it is of, the session's Restarts
	// Agent replaces what is kept, all but Former, which is the store's. Its Mark is that of the hook event that brought
	// the news; where it is empty none did, and the mark that is kept stays.
	Agent hitchpost.Agent
	// Conversation is the agent's id of the conversation that the process has now, and How, in one word, the
	// way in which it left the one before. Empty: unchanged.
	Conversation, How string
	// Waits tells whether the agent needs a person; nil: that is not known.
	Waits  *bool
	Reason string // why it waits or no longer does, for people
	Source hitchpost.Source
	// Since is when that came to be, by the agent's own source. It counts where it lies between the start of the process
	// and now; else the time is now.
	Since time.Time
}

// NoteAgent keeps what was heard of the agent of an open session, and returns the session as it is then. News with a mark
// that is not above the one kept changes nothing, and news that says what is known writes nothing. A conversation that is
// left joins the former ones, and an event tells of it. It is not refused where another session runs the new one: the
// process has it already. One that waits for another reason, or again, waits since then. Of one that is not
// live, only agent and conversation are kept. NotFoundError and, where the session is closed or in another run,
// ConflictError: nothing was changed.
func (s *Store) NoteAgent(ctx context.Context, id string, n AgentNews) (noted hitchpost.Session, err error) {
	if n.Conversation != "" && !hitchpost.IsConversation(n.Conversation) {
		return noted, noConversation(n.Conversation)
	}
	err = s.write(ctx, "note what an agent does", func(ctx context.Context, tx *writing) error {
		found, now, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := hearable(found, n); err != nil {
			return err
		}
		if noted, err = hear(ctx, tx, found, n, now); err != nil {
			return err
		}
		if noted.Revision != found.Revision {
			tx.notify(Notice{TopicSession, id})
		}
		return nil
	})
	return noted, err
}

// hearable is nil where the news is of the last process of the session. It may have ended since: which conversation it
// had is then what a Restart goes on with.
func hearable(s hitchpost.Session, n AgentNews) error {
	switch {
	case !s.Open():
		return hitchpost.Errorf(hitchpost.ConflictError, "session %s is closed", s.Handle)
	case n.Run != s.Restarts:
		return hitchpost.Errorf(hitchpost.ConflictError, "session %s is in run %d and not in run %d", s.Handle, s.Restarts, n.Run)
	}
	return nil
}

// hear does to a locked session what the news says.
func hear(ctx context.Context, tx *writing, found hitchpost.Session, n AgentNews, now time.Time) (hitchpost.Session, error) {
	if found.Agent != nil {
		switch {
		case n.Agent.Mark == "":
			n.Agent.Mark = found.Agent.Mark
		case n.Agent.Mark <= found.Agent.Mark:
			return found, nil
		}
	}
	s, err := keepAgent(ctx, tx, found, n, now)
	if err != nil {
		return s, err
	}
	by := By{Source: n.Source, Reason: n.Reason}
	switch {
	case n.Waits == nil || !s.State.Live():
		return s, nil
	case *n.Waits && waitsAnew(s, n, now):
		return step(ctx, tx, s, Transition{Change: hitchpost.ChangeWaits, By: by, Since: n.Since}, now)
	case !*n.Waits && s.State == hitchpost.WaitingForInput:
		if s, err = step(ctx, tx, s, Transition{Change: hitchpost.ChangeAnswered, By: by}, now); err != nil {
			return s, err
		}
		return settle(ctx, tx, s, by, now)
	}
	return s, nil
}

// waitsAnew reports whether the news tells of a wait that is not kept already.
func waitsAnew(s hitchpost.Session, n AgentNews, now time.Time) bool {
	return s.State != hitchpost.WaitingForInput || s.StateReason != plain(n.Reason) ||
		within(s, n.Since, now) && micros(n.Since).After(s.StateSince)
}

// within reports whether t lies in the time of the session's process.
func within(s hitchpost.Session, t, now time.Time) bool {
	return !t.IsZero() && !t.Before(s.StartedAt) && !t.After(now)
}

// sinceOr is t where it lies in the time of the session's process, else now.
func sinceOr(s hitchpost.Session, t, now time.Time) time.Time {
	if within(s, t, now) {
		return micros(t)
	}
	return now
}

// keepAgent writes agent and conversation of a locked session where they are news.
func keepAgent(ctx context.Context, tx *writing, found hitchpost.Session, n AgentNews, now time.Time) (
	hitchpost.Session, error) {
	s := moved(known(found, n.Agent), n.Conversation, n.How, sinceOr(found, n.Since, now))
	was, err := agentJSON(found.Agent)
	if err != nil {
		return s, err
	}
	is, err := agentJSON(s.Agent)
	if err != nil {
		return s, err
	}
	if s.ConversationID == found.ConversationID && is == was {
		return found, nil
	}
	if s.ConversationID != found.ConversationID {
		if err := lockConversation(ctx, tx, s.ConversationID); err != nil {
			return s, err
		}
		event := hitchpost.Event{SessionID: s.ID, At: now, Kind: EventConversation, Reason: moveReason(found, s, n.How)}
		tx.append(&event, By{Source: n.Source})
	}
	err = tx.QueryRow(ctx, `update terminal_sessions set conversation_id = $2, agent = $3 where id = $1 returning revision`,
		s.ID, s.ConversationID, is).Scan(&s.Revision)
	return s, err
}

// moveReason tells how a conversation was left for another one.
func moveReason(from, to hitchpost.Session, how string) string {
	if how == "" {
		how = "changed"
	}
	if from.ConversationID == "" {
		return fmt.Sprintf("%s: %s is the first", how, to.ConversationID)
	}
	return fmt.Sprintf("%s: %s after %s", how, to.ConversationID, from.ConversationID)
}

// conversationSpace sets the advisory locks of conversations apart from those of leases and events.
const conversationSpace = 0x485043 // "HPC"

// lockConversation keeps every other transaction from giving that conversation to a session until the end of this one.
// A transaction takes one of these at most, after the row of its session, so that two never wait for each other.
func lockConversation(ctx context.Context, tx pgx.Tx, conversation string) error {
	_, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1, hashtext($2))`, conversationSpace, conversation)
	return err
}

// alone sees to it that no session but that with the id runs the conversation, until the end of the transaction: two
// processes on one would each write its own continuation, of which the next Restart finds one.
func alone(ctx context.Context, tx pgx.Tx, conversation, id string) error {
	if conversation == "" {
		return nil
	}
	if !hitchpost.IsConversation(conversation) {
		return noConversation(conversation)
	}
	if err := lockConversation(ctx, tx, conversation); err != nil {
		return err
	}
	busy := slices.DeleteFunc(hitchpost.States(), hitchpost.State.Ended)
	var holder string
	err := tx.QueryRow(ctx, `select handle from terminal_sessions
		where conversation_id = $1 and conversation_id <> '' and closed_at is null and id <> $2 and state = any($3)
		order by created_at, id limit 1`, conversation, id, busy).Scan(&holder)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return hitchpost.Errorf(hitchpost.ConflictError, "session %s runs the conversation %s", holder, conversation).
		Hinted("attach to %s or stop it, or begin a copy of the conversation", holder).For("conversation")
}

func noConversation(id string) error {
	return hitchpost.Errorf(hitchpost.UsageError, "%q is no id of a conversation", plain(id)).
		Hinted("give it as the agent shows it")
}
