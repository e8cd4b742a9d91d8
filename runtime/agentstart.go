package runtime

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
	"github.com/hitchpost/hitchpost/runtime/durable"
	"github.com/hitchpost/hitchpost/runtime/launch"
)

// settings is the file that an agent's program is given: the person's settings and the session's own in one.
func (f folder) settings(id string) string { return filepath.Join(f.session(id), "settings.json") }

// given is a copy of the person's own part of it.
func (f folder) given(id string) string { return filepath.Join(f.session(id), "given-settings.json") }

// agentRun is what a run of an agent has beside its program.
type agentRun struct {
	agent        hitchpost.Agent
	conversation string
	settings     []byte // of the file that the program is given; nil: none
	given        []byte // the person's part of them; nil: none
	token        string // that its hooks are known by
}

// agentProgram is what a run of a session of kind claude executes. choose plans which conversation it opens. Nothing is
// written yet: all that can be refused is.
func (s *Service) agentProgram(
	ctx context.Context, session hitchpost.Session, run int, extra []string,
	choose func(claude.Words, hitchpost.Agent) (claude.Plan, error),
) (program, error) {
	words, err := claude.ParseWords(session.Args)
	if err != nil {
		return program{}, err
	}
	p := program{extra: extra, agent: &agentRun{}}
	p.env = s.environment(session.ID, extra)
	p.path, err = ask(ctx, s.disk, func() (string, error) {
		return launch.Program("claude", lookup(p.env, "PATH"), session.Cwd)
	})
	if err != nil {
		return program{}, noClaude(err)
	}
	install, err := s.agents.finder.Find(ctx, p.path, p.env)
	if err != nil {
		return program{}, err
	}
	p.agent.agent = hitchpost.Agent{Program: p.path, Version: install.Version}
	if err := s.agentFiles(ctx, session, words, &p); err != nil {
		return program{}, err
	}
	plan, err := choose(words, p.agent.agent)
	if err != nil {
		return program{}, err
	}
	if err := s.alone(ctx, session, p.agent.agent, plan); err != nil {
		return program{}, err
	}
	p.agent.conversation = plan.Conversation
	if was := session.Agent; was != nil && plan.Conversation == session.ConversationID {
		a := &p.agent.agent
		a.Title, a.LastPrompt, a.LastAnswer, a.Transcript = was.Title, was.LastPrompt, was.LastAnswer, was.Transcript
		a.TokensIn, a.TokensOut, a.ContextTokens = was.TokensIn, was.TokensOut, was.ContextTokens
	}
	p.argv = plan.Argv("claude", s.folder.settings(session.ID))
	p.env = s.environment(session.ID, append(extra[:len(extra):len(extra)],
		claude.Environment(run, p.agent.token, s.folder.hooks())...))
	return p, nil
}

func (s *Service) environment(session string, extra []string) []string {
	return launch.Environment(s.Account.Getenv, s.Account.Home, s.Account.User, s.Account.Shell, session,
		append(s.wayIn(session), extra...))
}

// noClaude tells of a machine without the program.
func noClaude(err error) error {
	if hitchpost.KindOf(err) != hitchpost.UsageError {
		return err
	}
	return hitchpost.Errorf(hitchpost.UsageError, "Claude Code cannot be run: %w", err).For("kind").
		Hinted("install it for the account that sessions run as, or name its folder with --env PATH=…")
}

// agentFiles finds out where the agent keeps what it writes, reads the settings that the person gave, and takes or makes
// the token.
func (s *Service) agentFiles(ctx context.Context, session hitchpost.Session, words claude.Words, p *program) error {
	type files struct {
		configDir, dir, token string
		settings, given       []byte
	}
	got, err := ask(ctx, s.disk, func() (files, error) {
		var f files
		var err error
		f.dir = claude.RealDir(session.Cwd)
		if f.configDir, err = claude.ConfigDir(p.env, session.Cwd); err != nil {
			return f, err
		}
		if f.given, err = s.givenSettings(session, words); err != nil {
			return f, err
		}
		f.settings, err = claude.MergeSettings(f.given, claude.Ours{
			Hook: []string{s.Wrapper[0], HookVerb}, Version: p.agent.agent.Version, Screen: words.Screen,
		})
		if err != nil {
			return f, err
		}
		f.token, err = s.hookToken(session.ID)
		if errors.Is(err, fs.ErrNotExist) {
			f.token, err = rand.Text(), nil
		}
		return f, err
	})
	if err != nil {
		return err
	}
	a := &p.agent.agent
	a.ConfigDir, a.Dir, a.Screen = got.configDir, got.dir, screenOf(got.settings)
	p.agent.settings, p.agent.given, p.agent.token = got.settings, got.given, got.token
	return nil
}

// givenSettings reads the settings that the person gave. Those of a Restart may be gone, as a file in /tmp is after a
// reboot: then it is those of the last start.
func (s *Service) givenSettings(session hitchpost.Session, words claude.Words) ([]byte, error) {
	now, err := claude.ReadSettings(words.Settings, session.Cwd)
	if err == nil {
		return now, nil
	}
	last, lost := durable.Read(s.folder.given(session.ID), givenLimit)
	if lost != nil {
		return nil, err
	}
	s.Log.Warn("the settings of the last start are used again", "session", session.ID, "err", err)
	return last, nil
}

// givenLimit is more than settings can have.
const givenLimit = 2 << 20

// HookVerb is the word behind the program that makes it what an agent's hooks call.
const HookVerb = "hook"

// screenOf is the screen that an agent with these settings draws on.
func screenOf(settings []byte) hitchpost.AgentScreen {
	var set struct{ Tui string }
	if json.Unmarshal(settings, &set) == nil && set.Tui == claude.ScreenFull {
		return hitchpost.AlternateScreen
	}
	return hitchpost.MainScreen
}

// firstConversation plans the first start of a session. A conversation to resume must be there, and one to begin must not.
func (s *Service) firstConversation(ctx context.Context) func(claude.Words, hitchpost.Agent) (claude.Plan, error) {
	return func(words claude.Words, agent hitchpost.Agent) (claude.Plan, error) {
		id, err := uuid.NewV7()
		if err != nil {
			return claude.Plan{}, err
		}
		if words.Resume != "" {
			state, err := s.transcript(ctx, agent, words.Resume)
			switch {
			case err != nil:
				return claude.Plan{}, err
			case state != claude.TranscriptMessages:
				err := hitchpost.Errorf(hitchpost.NotFoundError, "there is no conversation %s to resume", words.Resume)
				return claude.Plan{}, err.Hinted("check the id; conversations are looked for in %s", agent.ConfigDir)
			}
		}
		if words.SessionID != "" {
			state, err := s.transcript(ctx, agent, words.SessionID)
			switch {
			case err != nil:
				return claude.Plan{}, err
			case state != claude.TranscriptNone:
				err := hitchpost.Errorf(hitchpost.ConflictError, "there is a conversation %s already", words.SessionID)
				return claude.Plan{}, err.Hinted("resume it with --resume, or choose another id")
			}
		}
		return claude.PlanStart(words, id.String()), nil
	}
}

// transcript is what a conversation has on disk.
func (s *Service) transcript(ctx context.Context, agent hitchpost.Agent, id string) (claude.TranscriptState, error) {
	return ask(ctx, s.disk, func() (claude.TranscriptState, error) {
		_, state, err := claude.FindTranscript(ctx, agent.ConfigDir, id)
		return state, err
	})
}

// alone is nil where no process has the conversation of the plan open, in a session or outside of any. Two would each
// write its own continuation, of which the next Restart finds one. A copy harms nobody.
func (s *Service) alone(ctx context.Context, session hitchpost.Session, agent hitchpost.Agent, plan claude.Plan) error {
	if plan.Way == claude.WayFork {
		return nil
	}
	if holder, ok := s.board.talks(plan.Conversation, session.ID); ok {
		return hitchpost.Errorf(hitchpost.ConflictError, "session %s runs the conversation %s", holder.Handle, plan.Conversation).
			Hinted("attach to %s or stop it, or begin a copy of the conversation with --fork-session", holder.Handle)
	}
	entries, err := ask(ctx, s.disk, func() ([]claude.Entry, error) { return claude.ReadRegistry(agent.ConfigDir) })
	if err != nil {
		return err
	}
	if open := claude.OfConversation(entries, plan.Conversation); len(open) > 0 {
		err := hitchpost.Errorf(hitchpost.ConflictError, "process %d has the conversation %s open", open[0].Pid,
			plan.Conversation)
		return err.Hinted("end it first, or begin a copy of the conversation with --fork-session")
	}
	return nil
}

// talks finds a live session, other than the one with the id, that runs the conversation.
func (b *board) talks(conversation, id string) (hitchpost.Session, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sessions {
		if s.ConversationID == conversation && s.ID != id && !s.State.Ended() {
			return s, true
		}
	}
	return hitchpost.Session{}, false
}

// writeAgent writes the files of an agent's run. Those of the run before are over.
func (s *Service) writeAgent(id string, run *agentRun) error {
	err := durable.Replace(s.folder.token(id), []byte(run.token))
	if err == nil && run.settings != nil {
		err = durable.Replace(s.folder.settings(id), run.settings)
	}
	if err == nil && len(run.given) > 0 {
		err = durable.Replace(s.folder.given(id), run.given)
	}
	return err
}
