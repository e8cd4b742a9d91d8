package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
	"github.com/hitchpost/hitchpost/runtime/durable"
	"github.com/hitchpost/hitchpost/store"
)

// hooks is the spool in which the hooks of agents leave what they tell.
func (f folder) hooks() string { return filepath.Join(f.root, "hooks") }

// token is what the hooks of a session's agent are known by. It holds for every run.
func (f folder) token(id string) string { return filepath.Join(f.session(id), "hook-token") }

// heard is what the hooks of the present run amount to, for a service that starts in the middle of it.
func (f folder) heard(id string) string { return filepath.Join(f.session(id), "hooks.json") }

// heardLimit is more than a file of that kind has.
const heardLimit = 64 << 10

// heedHooks takes in what hooks have left in the spool. What cannot be recorded now stays there.
func (s *Service) heedHooks(ctx context.Context) {
	if s.agents.spool == nil {
		return
	}
	var away error // of the store: who waited for it once a session would hold up everybody
	dropped, err := s.agents.spool.Read(ctx, s.hookToken, func(ctx context.Context, e claude.Event) error {
		if away != nil {
			return away
		}
		err := s.heedHook(ctx, e)
		if hitchpost.KindOf(err) == hitchpost.UnavailableError {
			away = err
		}
		return err
	})
	if ctx.Err() != nil {
		return
	}
	if dropped.Any() {
		s.Log.Warn("hook events dropped", "torn", dropped.Torn, "large", dropped.TooLarge, "stranger", dropped.Stranger,
			"token", dropped.Token, "full", dropped.Full)
	}
	s.agentTrouble("the spool of hooks", err)
}

// hookToken is fs.ErrNotExist for a session whose files are gone, or that never had a token.
func (s *Service) hookToken(session string) (string, error) {
	if id, err := uuid.Parse(session); err != nil || id.String() != session { // it becomes a part of a path
		return "", fs.ErrNotExist
	}
	token, err := durable.Read(s.folder.token(session), heardLimit)
	return string(token), err
}

// lateHook is for how long an event of a run that the store does not know yet is kept, however clocks were set.
const lateHook = time.Minute

// heedHook takes in one event. An error leaves it in the spool.
func (s *Service) heedHook(ctx context.Context, e claude.Event) error {
	session, ok := s.board.get(e.Session)
	switch {
	case !ok || session.Agent == nil || session.Node != s.Node.Name || e.Run < session.Restarts:
		return nil
	case e.Run > session.Restarts && time.Since(e.At).Abs() < lateHook: // tmux is ahead of a restored store, for a moment
		return errors.New("an event of a run that is not known yet")
	case e.Run > session.Restarts:
		return nil
	}
	if session.Kind != hitchpost.Claude {
		return s.heedOther(ctx, session, e)
	}
	seen := s.agents.of(s, session)
	if !s.calledByAgent(session, seen, e) {
		return nil
	}
	if moved(session, e) && !opens(seen, e) && !seen.hooks.Outran(e) {
		if err := s.moveConversation(ctx, session, e); err != nil {
			return err
		}
		seen.differ, seen.asked, seen.answer = time.Time{}, time.Time{}, ""
	}
	if next := seen.hooks.With(e); next != seen.hooks {
		seen.hooks, seen.worked = next, seen.worked || next.Phase == claude.PhaseWorking
		s.agentTrouble("what hooks told is not kept", s.keepHeard(session, next))
	}
	if e.Name == claude.HookStop {
		seen.answer, seen.said = e.Message, time.Now()
	}
	if e.Name == claude.HookStop || e.Name == claude.HookUserPromptSubmit {
		seen.due = time.Now().Add(factsLag)
	}
	return nil
}

// calledByAgent reports whether the session's own agent called the hook, and not another that it started: that one has
// the same environment.
func (s *Service) calledByAgent(session hitchpost.Session, seen *agentSeen, e claude.Event) bool {
	if seen.pid != 0 {
		return e.From(seen.pid)
	}
	if pane := s.agents.pane(session); pane != 0 && len(e.Callers) > 0 {
		// Not in the register yet: between it and the first process of the pane stands at most a shell for the hook.
		return slices.Index(e.Callers, pane) <= 2 && slices.Contains(e.Callers, pane)
	}
	return e.Conversation == session.ConversationID || e.Name == claude.HookSessionStart
}

// moved reports whether the event tells that the session's process has another conversation now. A SessionEnd tells which
// one is left, and one that came to nothing names any.
func moved(session hitchpost.Session, e claude.Event) bool {
	return claude.IsConversation(e.Conversation) && e.Conversation != session.ConversationID &&
		e.Name != claude.HookSessionEnd && e.Subagent == ""
}

// opens reports whether the event is the beginning of the run. A run begins with the conversation that it was given; of a
// copy, some versions first name the one that is copied.
func opens(seen *agentSeen, e claude.Event) bool {
	return e.Name == claude.HookSessionStart && seen.hooks.Heard.IsZero()
}

// moveConversation records the conversation that an event tells of. Also for a session that has ended since: it is the
// one that a Restart goes on with.
func (s *Service) moveConversation(ctx context.Context, session hitchpost.Session, e claude.Event) error {
	how := e.Source
	if how == "" {
		how = "fork"
	}
	agent := *session.Agent
	agent.Mark = e.Mark
	return s.noteAgent(ctx, session, store.AgentNews{
		Run: session.Restarts, Agent: agent, Conversation: e.Conversation, How: how, Source: hitchpost.FromHook, Since: e.At,
	})
}

// noteAgent hands news of an agent to the store, and shows the result on the board at once. News that comes too late, or
// that the store cannot hold, is no error.
func (s *Service) noteAgent(ctx context.Context, session hitchpost.Session, n store.AgentNews) error {
	got, err := s.Store.NoteAgent(ctx, session.ID, n)
	switch hitchpost.KindOf(err) {
	case hitchpost.ConflictError, hitchpost.NotFoundError:
		return nil
	case hitchpost.UsageError: // what cannot be kept would be in the way of all that comes behind it
		s.Log.Warn("news of an agent dropped", "session", session.ID, "err", err)
		return nil
	}
	if err != nil {
		return err
	}
	s.board.put(got)
	return nil
}

// of is what was seen of the agent of the session's present run, also by a service before this one.
func (b *agentBook) of(s *Service, session hitchpost.Session) *agentSeen {
	if seen := b.seen[session.ID]; seen != nil && seen.run == session.Restarts {
		return seen
	}
	seen := &agentSeen{run: session.Restarts, hooks: s.readHeard(session)}
	b.seen[session.ID] = seen
	return seen
}

// readHeard is what the hooks of the session's last run amounted to when that was written down last.
func (s *Service) readHeard(session hitchpost.Session) claude.Hooks {
	var kept heardFile
	data, err := durable.Read(s.folder.heard(session.ID), heardLimit)
	if err != nil || json.Unmarshal(data, &kept) != nil || kept.Run != session.Restarts {
		return claude.Hooks{}
	}
	return kept.Hooks
}

// heardFile is what hooks amounted to, on disk.
type heardFile struct {
	Run   int          `json:"run"`
	Hooks claude.Hooks `json:"hooks"`
}

// keepHeard writes it down, in one piece. It is not made durable, which would take a disk's time at every step of every
// agent: after a power loss the process is gone, and what is left of the file is no JSON or of an earlier step.
func (s *Service) keepHeard(session hitchpost.Session, hooks claude.Hooks) error {
	data, err := json.Marshal(heardFile{session.Restarts, hooks})
	if err != nil {
		return err
	}
	path := s.folder.heard(session.ID)
	aside := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)) // one at a time: nobody else looks at the agents
	if err := os.WriteFile(aside, data, 0o600); err != nil {
		return err
	}
	return os.Rename(aside, path)
}
