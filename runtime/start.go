package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/kballard/go-shellquote"
	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/launch"
	"github.com/hitchpost/hitchpost/store"
)

// startLease is how long a session may be STARTING before the reconciler decides what became of it.
const startLease = 30 * time.Second

// Start makes a session and its process. Everything that can be refused is refused before anything is made: a title
// that cannot be shown, a directory or program that is not there. With r.Watch it stays with the process for that
// long, and an early end comes back in the result, not as an error.
func (s *Service) Start(ctx context.Context, a hitchpost.Actor, r hitchpost.StartRequest) (hitchpost.StartResult, error) {
	if err := a.Require(hitchpost.Drive); err != nil {
		return hitchpost.StartResult{}, err
	}
	session, err := s.newSession(ctx, r)
	if err != nil {
		return hitchpost.StartResult{}, err
	}
	if err := checkEnv(r.Env); err != nil {
		return hitchpost.StartResult{}, err
	}
	env, presetFiles, err := s.fromPreset(ctx, &session, r)
	if err != nil {
		return hitchpost.StartResult{}, err
	}
	if there, ok := s.board.named(hitchpost.Handle(session.Title)); ok && r.IfAbsent && r.Worktree {
		return hitchpost.StartResult{Session: there}, nil
	}
	undo, err := s.toWorktree(ctx, r, &session, env)
	if err != nil {
		return hitchpost.StartResult{}, err
	}
	p, err := s.firstProgram(ctx, &session, env)
	p.preset = presetFiles
	if err != nil {
		undo()
		return hitchpost.StartResult{}, err
	}
	return s.startIn(ctx, a, r, session, p, undo)
}

// create records a session that is about to start. With ifAbsent it gives the open one that has its handle, where there
// is one; such starts go one after the other, and wait for their turn until ctx ends.
func (s *Service) create(
	ctx context.Context, a hitchpost.Actor, session hitchpost.Session, ifAbsent bool, reason string,
) (hitchpost.Session, error) {
	if ifAbsent {
		select {
		case s.absent <- struct{}{}:
			defer func() { <-s.absent }()
		case <-ctx.Done():
			err := hitchpost.Errorf(hitchpost.UnavailableError, "other starts that must find their handle free take too long")
			return hitchpost.Session{}, err.Hinted("try again")
		}
		if there, ok := s.board.named(hitchpost.Handle(session.Title)); ok {
			return there, nil
		}
	}
	made, err := s.Store.Create(ctx, session, startLease, as(a, hitchpost.FromPerson, reason))
	if err == nil {
		s.board.put(made)
	}
	return made, err
}

// newSession is the session that r asks for, checked.
func (s *Service) newSession(ctx context.Context, r hitchpost.StartRequest) (hitchpost.Session, error) {
	kind, err := kindOf(r)
	if err != nil {
		return hitchpost.Session{}, err
	}
	if r.Node != "" && r.Node != s.Node.Name {
		return hitchpost.Session{}, hitchpost.Errorf(hitchpost.NotFoundError, "no node %q", r.Node).
			For("node").Hinted("this machine is %q", s.Node.Name)
	}
	cwd, err := s.directory(ctx, r.Cwd)
	if err != nil {
		return hitchpost.Session{}, err
	}
	if r.RestartCommand != "" {
		if words, err := shellquote.Split(r.RestartCommand); err != nil || len(words) == 0 {
			err := hitchpost.Errorf(hitchpost.UsageError, "the restart command has no words or an open quote")
			return hitchpost.Session{}, err.For("restart-command").Hinted("quote it as a shell would")
		}
	}
	if r.Check != "" {
		if _, err := checkWords(r.Check); err != nil {
			return hitchpost.Session{}, err
		}
	}
	title := r.Title
	if title == "" {
		title = defaultTitle(cwd, kind, titleWords(r))
	}
	if err := errors.Join(hitchpost.CheckTitle(title), hitchpost.CheckNote(r.Note)); err != nil {
		return hitchpost.Session{}, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return hitchpost.Session{}, fmt.Errorf("make an id: %w", err)
	}
	return hitchpost.Session{
		ID: id.String(), Title: title, Kind: kind, Node: s.Node.Name, Project: r.Project, Cwd: cwd,
		Args: r.Args, RestartCommand: r.RestartCommand, Note: r.Note, Check: r.Check,
	}, nil
}

func kindOf(r hitchpost.StartRequest) (hitchpost.Kind, error) {
	kind := r.Kind
	if kind == "" {
		kind = hitchpost.Shell
		if len(r.Args) > 0 || r.Preset != "" {
			kind = hitchpost.Command
		}
	}
	switch {
	case r.Preset != "" && kind != hitchpost.Command:
		return "", hitchpost.Errorf(hitchpost.UsageError, "a session with a preset is of kind command").
			For("kind").Hinted("leave the kind out, or the preset")
	case r.Preset != "":
		return kind, nil
	case kind == hitchpost.Shell && len(r.Args) > 0:
		return "", hitchpost.Errorf(hitchpost.UsageError, "a shell session takes no command").
			For("kind").Hinted("choose the kind command to run one")
	case kind == hitchpost.Command && len(r.Args) == 0:
		return "", hitchpost.Errorf(hitchpost.UsageError, "a command session needs a command").
			For("command").Hinted("say what to run")
	case kind == hitchpost.Claude && r.RestartCommand != "":
		return "", hitchpost.Errorf(hitchpost.UsageError, "a session of kind claude restarts into its conversation").
			For("restart-command").Hinted("leave the restart command out, or choose the kind command")
	case kind != hitchpost.Shell && kind != hitchpost.Command && kind != hitchpost.Claude:
		return "", hitchpost.Errorf(hitchpost.UsageError, "no kind %q", string(kind)).
			For("kind").Hinted("choose claude, shell or command")
	}
	return kind, nil
}

// directory makes cwd absolute and checks that a program can start there.
func (s *Service) directory(ctx context.Context, cwd string) (string, error) {
	return ask(ctx, s.disk, func() (string, error) { return s.enterable(cwd) })
}

func (s *Service) enterable(cwd string) (string, error) {
	switch {
	case cwd == "", cwd == "~":
		cwd = s.Account.Home
	case len(cwd) > 1 && cwd[:2] == "~/":
		cwd = filepath.Join(s.Account.Home, cwd[2:])
	case !filepath.IsAbs(cwd):
		cwd = filepath.Join(s.Account.Home, cwd)
	}
	cwd = filepath.Clean(cwd)
	info, err := os.Stat(cwd)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", hitchpost.Errorf(hitchpost.UsageError, "no directory %q on %s", cwd, s.Node.Name).
			For("cwd").Hinted("make it first, or choose another")
	case err != nil:
		return "", hitchpost.Errorf(hitchpost.UsageError, "directory %q cannot be used: %w", cwd, err).
			For("cwd").Hinted("check its permissions, or choose another")
	case !info.IsDir():
		return "", hitchpost.Errorf(hitchpost.UsageError, "%q is not a directory", cwd).
			For("cwd").Hinted("choose a directory")
	}
	if err := unix.Access(cwd, unix.X_OK); err != nil { // without opening it: one may be entered that may not be read
		return "", hitchpost.Errorf(hitchpost.UsageError, "directory %q may not be entered: %w", cwd, err).
			For("cwd").Hinted("check its permissions, or choose another")
	}
	return cwd, nil
}

func defaultTitle(cwd string, kind hitchpost.Kind, args []string) string {
	title := filepath.Base(cwd)
	switch {
	case kind == hitchpost.Claude:
		title = "claude " + title
	case len(args) > 0:
		title = filepath.Base(args[0]) + " " + title
	}
	if hitchpost.CheckTitle(title) != nil {
		return "session"
	}
	return title
}

// program is what a run of a session executes.
type program struct {
	path  string // absolute
	argv0 string // what the program sees as its own name, where that is not argv[0]
	argv  []string
	env   []string
	extra []string  // the part of env that was asked for
	agent *agentRun // nil where no agent is followed
	// preset holds the files of the session's preset; nil without one.
	preset map[string][]byte
}

// firstProgram finds what the first run of a session executes. One of kind claude gets its conversation with it.
func (s *Service) firstProgram(ctx context.Context, session *hitchpost.Session, extra []string) (program, error) {
	if session.Kind != hitchpost.Claude {
		p, err := s.program(ctx, *session, extra)
		if err == nil && p.agent != nil {
			session.Agent = &p.agent.agent
		}
		return p, err
	}
	p, err := s.agentProgram(ctx, *session, 0, extra, s.firstConversation(ctx))
	if err == nil {
		session.ConversationID, session.Agent = p.agent.conversation, &p.agent.agent
	}
	return p, err
}

// program finds what a session is to run, with the session's own PATH and directory, and checks that it can.
func (s *Service) program(ctx context.Context, session hitchpost.Session, extra []string) (program, error) {
	argv := session.Args
	if session.Restarts > 0 || session.State.Ended() {
		argv = restartWords(session)
		own, err := s.ownConversation(ctx, session, extra)
		if err != nil {
			return program{}, err
		}
		if own != nil {
			argv = own
		}
	}
	p := program{argv: argv, extra: extra}
	p.env = s.environment(session.ID, extra)
	if session.Kind == hitchpost.Shell {
		// A login shell is told that it is one by a dash before its name; login(1).
		p.argv, p.argv0 = []string{s.Account.Shell}, "-"+filepath.Base(s.Account.Shell)
	}
	var err error
	p.path, err = ask(ctx, s.disk, func() (string, error) {
		return launch.Program(p.argv[0], lookup(p.env, "PATH"), session.Cwd)
	})
	if err == nil && lookup(extra, presetVariable) != "" {
		err = s.hookedBy(ctx, session, &p)
	}
	return p, err
}

// restartWords is what a Restart of a command session runs.
func restartWords(session hitchpost.Session) []string {
	if session.RestartCommand == "" {
		return session.Args
	}
	words, err := shellquote.Split(session.RestartCommand)
	if err != nil || len(words) == 0 { // checked when it was set
		return session.Args
	}
	return words
}

func lookup(env []string, name string) string {
	for _, kv := range env {
		if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:]
		}
	}
	return ""
}

// watchEarly stays with a new process for d, and reports its end if it comes that soon.
func (s *Service) watchEarly(ctx context.Context, session hitchpost.Session, d time.Duration) (hitchpost.StartResult, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	now, err := s.await(ctx, session, ended)
	if err != nil {
		return hitchpost.StartResult{Session: now}, nil // it lives
	}
	exit := hitchpost.Exit{Code: now.ExitCode, Signal: now.ExitSignal, At: now.EndedAt}
	res := hitchpost.StartResult{Session: now, Early: &exit}
	if e, err := readEvidence(s.folder.evidence(session.ID)); err == nil && e.Run == now.Restarts {
		res.FirstLines = firstLines(e.text(hitchpost.CaptureRequest{History: true}), 10)
	}
	return res, nil
}

// await returns the session once its state on the board satisfies ok, or is of another run. It fails with the cause of
// ctx's end, and with NotFoundError when the session has left the board.
func (s *Service) await(
	ctx context.Context, session hitchpost.Session, ok func(hitchpost.Session) bool,
) (hitchpost.Session, error) {
	for {
		changed := s.board.next()
		now, open := s.board.get(session.ID)
		if !open {
			return session, hitchpost.Errorf(hitchpost.NotFoundError, "%s is no longer on the list", session.Handle)
		}
		if now.Restarts != session.Restarts || ok(now) {
			return now, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return now, context.Cause(ctx)
		}
	}
}

// encodeRecord is what a tmux session carries of itself, so that it can be adopted by a store that does not know it.
func encodeRecord(session hitchpost.Session) ([]byte, error) {
	b, err := json.Marshal(session)
	if err != nil {
		return nil, fmt.Errorf("encode session record: %w", err)
	}
	return b, nil
}

func decodeRecord(raw []byte) (hitchpost.Session, error) {
	var session hitchpost.Session
	if err := json.Unmarshal(raw, &session); err != nil {
		return session, fmt.Errorf("decode session record: %w", err)
	}
	return session, nil
}

// as names the actor, the source and the reason in an event.
func as(a hitchpost.Actor, source hitchpost.Source, reason string) store.By {
	return store.By{Actor: a.Name, Fingerprint: a.Fingerprint, Source: source, Reason: reason}
}
