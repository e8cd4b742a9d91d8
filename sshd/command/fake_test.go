package command_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd/command"
)

var (
	now     = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	someone = hitchpost.Actor{
		Name: "ann", Role: hitchpost.Admin, Fingerprint: "SHA256:abc", KeyType: "ssh-ed25519",
		Login: "dev", Remote: "192.0.2.1:5022",
	}
)

// fake is a service at the interface that this package declares. It notes what it was asked and answers what it holds.
type fake struct {
	sessions []hitchpost.Session
	early    *hitchpost.Exit
	lines    []string
	status   hitchpost.Status
	keys     []hitchpost.Key
	screen   string
	seenAt   time.Time
	unseen   bool // what is sent is not seen to arrive
	err      error
	failOn   map[string]error // by REF, for Restart
	revives  bool             // what is restarted is DETACHED
	tasks    fakeTasks
	pages    [][]hitchpost.Event
	denials  []string

	asked []any // the requests, in order
	refs  []string
}

func (f *fake) note(ref string, request any) {
	f.refs, f.asked = append(f.refs, ref), append(f.asked, request)
}

func (f *fake) one(ref string) (hitchpost.Session, error) {
	if f.err != nil {
		return hitchpost.Session{}, f.err
	}
	for _, s := range f.sessions {
		if s.Handle == ref || s.ID == ref {
			return s, nil
		}
	}
	return hitchpost.Session{}, hitchpost.Errorf(hitchpost.NotFoundError, "no session %q", ref).Hinted("ls lists them")
}

func (f *fake) List(_ context.Context, _ hitchpost.Actor, r hitchpost.ListRequest) ([]hitchpost.Session, error) {
	f.note("", r)
	return f.sessions, f.err
}

func (f *fake) Show(_ context.Context, _ hitchpost.Actor, ref string) (hitchpost.Session, error) {
	f.note(ref, "show")
	return f.one(ref)
}

func (f *fake) Start(_ context.Context, _ hitchpost.Actor, r hitchpost.StartRequest) (hitchpost.StartResult, error) {
	f.note("", r)
	if f.err != nil {
		return hitchpost.StartResult{}, f.err
	}
	return hitchpost.StartResult{Session: f.sessions[0], Early: f.early, FirstLines: f.lines}, nil
}

func (f *fake) Restart(
	_ context.Context, _ hitchpost.Actor, ref string, r hitchpost.RestartRequest,
) (hitchpost.StartResult, error) {
	f.note(ref, r)
	if err := f.failOn[ref]; err != nil {
		return hitchpost.StartResult{}, err
	}
	s, err := f.one(ref)
	if f.revives {
		s.State = hitchpost.Detached
	}
	return hitchpost.StartResult{Session: s, Early: f.early, FirstLines: f.lines}, err
}

func (f *fake) Stop(
	_ context.Context, _ hitchpost.Actor, ref string, r hitchpost.StopRequest,
) (hitchpost.Session, error) {
	f.note(ref, r)
	return f.one(ref)
}

func (f *fake) CloseSession(_ context.Context, _ hitchpost.Actor, ref string) (hitchpost.Session, error) {
	f.note(ref, "close")
	return f.one(ref)
}

func (f *fake) Rename(_ context.Context, _ hitchpost.Actor, ref, title string) (hitchpost.Session, error) {
	f.note(ref, title)
	return f.one(ref)
}

func (f *fake) Capture(_ context.Context, _ hitchpost.Actor, ref string, r hitchpost.CaptureRequest) (hitchpost.Captured, error) {
	f.note(ref, r)
	_, err := f.one(ref)
	return hitchpost.Captured{Text: []byte(f.screen), At: f.seenAt}, err
}

func (f *fake) Send(_ context.Context, _ hitchpost.Actor, ref string, r hitchpost.SendRequest) (hitchpost.SendResult, error) {
	f.note(ref, r)
	s, err := f.one(ref)
	return hitchpost.SendResult{Session: s, Seen: !f.unseen}, err
}

func (f *fake) Wait(_ context.Context, _ hitchpost.Actor, ref string, r hitchpost.WaitRequest) (hitchpost.Session, error) {
	f.note(ref, r)
	return f.one(ref)
}

func (f *fake) Note(_ context.Context, _ hitchpost.Actor, ref string, r hitchpost.NoteRequest) (hitchpost.Session, error) {
	f.note(ref, r)
	return f.one(ref)
}

func (f *fake) Events(
	_ context.Context, _ hitchpost.Actor, q hitchpost.EventQuery, show func([]hitchpost.Event) error,
) error {
	f.note(q.Ref, q)
	for _, page := range f.pages {
		if err := show(page); err != nil {
			return err
		}
	}
	return f.err
}

func (f *fake) FollowEvents(
	ctx context.Context, a hitchpost.Actor, q hitchpost.EventQuery, show func([]hitchpost.Event) error, away func(error),
) error {
	away(errNoKey)
	if err := f.Events(ctx, a, q, show); err != nil {
		return err
	}
	return context.Canceled
}

func (f *fake) NoteDenial(_ hitchpost.Actor, verb string) { f.denials = append(f.denials, verb) }

func (f *fake) Keys(context.Context, hitchpost.Actor) ([]hitchpost.Key, error) { return f.keys, f.err }

func (f *fake) AddKey(_ context.Context, a hitchpost.Actor, k hitchpost.Key) (hitchpost.Key, error) {
	f.note("", k)
	k.CreatedAt, k.Actor, k.Role = now, cmp.Or(k.Actor, a.Name), cmp.Or(k.Role, hitchpost.Operator)
	return k, f.err
}

func (f *fake) RevokeKey(_ context.Context, _ hitchpost.Actor, fingerprint string) (hitchpost.Key, error) {
	f.note(fingerprint, "revoke")
	for _, k := range f.keys {
		if k.Fingerprint == fingerprint {
			k.RevokedAt = now
			return k, nil
		}
	}
	return hitchpost.Key{}, hitchpost.Errorf(hitchpost.NotFoundError, "no key %q", fingerprint)
}

func (f *fake) RevokeActor(_ context.Context, _ hitchpost.Actor, name string) ([]hitchpost.Key, error) {
	f.note(name, "revoke actor")
	var of []hitchpost.Key
	for _, k := range f.keys {
		if k.Actor == name {
			k.RevokedAt = now
			of = append(of, k)
		}
	}
	return of, f.err
}

func (f *fake) Status(context.Context, hitchpost.Actor) (hitchpost.Status, error) {
	return f.status, f.err
}

// untouched is a stdin that must not be read.
type untouched struct{ t testing.TB }

func (u untouched) Read([]byte) (int, error) {
	u.t.Error("stdin was read")
	return 0, io.EOF
}

// result is what a client sees.
type result struct {
	status      int
	out, errors string
	writes      int // to stdout
	attached    *hitchpost.AttachRequest
}

// client is one client's way to run commands.
type client struct {
	t        testing.TB
	service  command.Service
	stdin    string // empty: must not be read
	terminal *hitchpost.Terminal
	cause    error // why ctx has ended; nil: it has not
}

func (c client) run(words ...string) result {
	c.t.Helper()
	var out counter
	var errs bytes.Buffer
	var r result
	var stdin io.Reader = untouched{c.t}
	if c.stdin != "" {
		stdin = strings.NewReader(c.stdin)
	}
	ctx, cancel := context.WithCancelCause(c.t.Context())
	defer cancel(nil)
	if c.cause != nil {
		cancel(c.cause)
	}
	r.status = command.Run(ctx, command.Invocation{
		Words: words, Actor: someone, Service: c.service, Stdin: stdin, Stdout: &out, Stderr: &errs, Terminal: c.terminal,
		Version: "1.2.3", ParseKey: parseKey, Now: func() time.Time { return now },
		Attach: func(_ context.Context, a hitchpost.AttachRequest) int {
			r.attached = &a
			return 42
		},
	})
	r.out, r.errors, r.writes = out.String(), errs.String(), out.writes
	c.holdsToSchemas(words, r)
	return r
}

// holdsToSchemas checks that every document that is printed is one that some schema knows.
func (c client) holdsToSchemas(words []string, r result) {
	c.t.Helper()
	isJSON := func(text string) bool { return strings.HasPrefix(text, "{") && !slices.Contains(words, "--schema") }
	if !isJSON(r.out) && !isJSON(r.errors) {
		return
	}
	all, err := published()
	if err != nil {
		c.t.Fatal(err)
	}
	known := func(line string) bool {
		for _, s := range all {
			if s.Check([]byte(line)) == nil {
				return true
			}
		}
		return false
	}
	for line := range strings.Lines(r.errors) {
		if !isJSON(r.errors) {
			break
		}
		if err := all[""].Check([]byte(line)); err != nil {
			c.t.Errorf("%q: %v: %s", words, err, line)
		}
	}
	for line := range strings.Lines(r.out) {
		if !isJSON(r.out) {
			break
		}
		cut := r.status != 0 && !strings.HasSuffix(line, "\n") // an error in the middle of a long list
		if !cut && !known(line) {
			c.t.Errorf("%q: no schema knows %s", words, line)
		}
	}
}

// line runs a command line as the client's shell sent it.
func (c client) line(line string) result {
	c.t.Helper()
	words, err := command.Split(line)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.run(words...)
}

type counter struct {
	bytes.Buffer
	writes int
}

func (c *counter) Write(p []byte) (int, error) {
	c.writes++
	return c.Buffer.Write(p)
}

var errNoKey = errors.New("no key")

func parseKey(line string) (hitchpost.Key, error) {
	fields := strings.Fields(line)
	if len(fields) < 2 || fields[0] != "ssh-ed25519" {
		e := hitchpost.Errorf(hitchpost.UsageError, "that is no public key")
		e.Cause = errNoKey
		return hitchpost.Key{}, e
	}
	return hitchpost.Key{
		Fingerprint: "SHA256:" + fields[1], Type: fields[0], AuthorizedKey: fields[0] + " " + fields[1],
		Comment: strings.Join(fields[2:], " "),
	}, nil
}

const nodeID = "0193a000-0000-7000-8000-00000000000a"

// full is a session with a value in every field.
func full() hitchpost.Session {
	code := 7
	return hitchpost.Session{
		ID: "0193a000-0000-7000-8000-000000000001", Handle: "api", Title: "api <wörk> & \"play\"", Kind: hitchpost.Command,
		Node: "box", Project: "shop", Cwd: "/home/dev/src/api", Repo: "api", Branch: "main", Worktree: "/data/worktrees/api-fix", WorktreeOf: "/src/api", State: hitchpost.Failed,
		Clash: []hitchpost.OtherProcess{
			{Agent: "claude", Session: "web", Since: now.Add(-time.Hour), Dir: "/home/dev/src/api"},
			{Agent: "codex", Program: "node", Pid: 77},
		},
		StateReason: "ended with code 7", StateSource: hitchpost.FromExit, StateSince: now.Add(-90 * time.Second), Attached: 2,
		Args: []string{"make", "a b"}, RestartCommand: "make again", ConversationID: "c-1", Note: "next: tests",
		Check:    "make test",
		ExitCode: &code, ExitSignal: "", Restarts: 3,
		CreatedAt: now.Add(-49 * time.Hour), StartedAt: now.Add(-3 * time.Hour).Add(5 * time.Millisecond),
		EndedAt: now.Add(-90 * time.Second).In(time.FixedZone("CET", 3600)), LastOutputAt: now.Add(-2 * time.Minute),
		LastAttachedAt: now.Add(time.Hour), // a clock was set back since
		Agent:          fullAgent(),
	}
}

// fullAgent is an agent with a value in every field, some from files that anybody could write.
func fullAgent() *hitchpost.Agent {
	return &hitchpost.Agent{
		Program: "/opt/claude", Version: "2.1.332", ConfigDir: "/home/dev/.claude", Dir: "/home/dev/src/api", Status: "busy",
		StatusSource: hitchpost.FromRegistry, StatusAt: now.Add(-3 * time.Second),
		Uncertain: "the register says busy, the last hook says turn finished", Hooks: hitchpost.HooksNotSeen,
		Screen: hitchpost.AlternateScreen, Title: "Fix \x1b[31mit\u202e", LastPrompt: "fix\nit", LastAnswer: "日本 done\x07",
		TokensIn: 10, TokensOut: 20, ContextTokens: 30, Transcript: "/home/dev/.claude/projects/x/c-1.jsonl", Mark: "9",
		Former: []hitchpost.FormerConversation{
			{ID: "c-0", Since: now.Add(-49 * time.Hour), Until: now.Add(-2 * time.Hour), How: "clear"},
			{ID: "c-0b", Since: now.Add(-2 * time.Hour), Until: now.Add(-time.Hour)},
		},
	}
}

// bare is a session with as few values as one can have.
func bare() hitchpost.Session {
	return hitchpost.Session{
		ID: "0193a000-0000-7000-8000-000000000002", Handle: "sh", Title: "sh", Kind: hitchpost.Shell, Node: "box", Cwd: "/",
		State: hitchpost.Starting, StateSource: hitchpost.FromPerson, StateSince: now, CreatedAt: now,
	}
}
