package menu

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
)

var testNow = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

func ago(d time.Duration) time.Time { return testNow.Add(-d) }

func ptr[T any](v T) *T { return &v }

// fake is the service at the interface that this package declares. It keeps what it was asked, and answers from hooks.
type fake struct {
	mu       sync.Mutex
	sessions []hitchpost.Session
	status   hitchpost.Status
	calls    []string
	last     string
	changed  chan struct{} // one watcher is enough for the tests

	screen   func(ctx context.Context, ref string) ([]byte, error)
	seenAt   time.Time
	complete func(prefix string) ([]string, error)
	act      func(ctx context.Context, verb, ref string) (hitchpost.StartResult, error)
	card     func(ctx context.Context, ref string, show func(hitchpost.Card)) (hitchpost.Card, error)
}

func newFake(sessions ...hitchpost.Session) *fake {
	return &fake{
		sessions: sessions,
		status:   hitchpost.Status{Database: hitchpost.Part{OK: true}},
		changed:  make(chan struct{}, 1),
	}
}

// set changes what is known and wakes the watcher.
func (f *fake) set(change func(f *fake)) {
	f.mu.Lock()
	f.sessions = append([]hitchpost.Session(nil), f.sessions...)
	change(f)
	f.mu.Unlock()
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

func (f *fake) record(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
}

func (f *fake) called() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.calls, "\n")
}

func (f *fake) Snapshot() ([]hitchpost.Session, hitchpost.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sessions, f.status
}

func (f *fake) Watch(context.Context) <-chan struct{} { return f.changed }

func (f *fake) do(ctx context.Context, verb, ref string) (hitchpost.StartResult, error) {
	f.mu.Lock()
	act := f.act
	f.mu.Unlock()
	if act != nil {
		return act(ctx, verb, ref)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sessions {
		if s.ID == ref {
			return hitchpost.StartResult{Session: s}, nil
		}
	}
	return hitchpost.StartResult{Session: hitchpost.Session{ID: "new", Handle: "new", State: hitchpost.Detached}}, nil
}

func (f *fake) Start(ctx context.Context, _ hitchpost.Actor, r hitchpost.StartRequest) (hitchpost.StartResult, error) {
	f.record("start title=%q kind=%s cwd=%q args=%q", r.Title, r.Kind, r.Cwd, r.Args)
	return f.do(ctx, "start", "")
}

func (f *fake) Restart(ctx context.Context, _ hitchpost.Actor, ref string, r hitchpost.RestartRequest) (hitchpost.StartResult, error) {
	verb := "restart"
	if r.Force {
		verb = "force"
	}
	f.record("%s %s", verb, ref)
	if r.Prompt != "" {
		f.record("prompt %q", r.Prompt)
	}
	return f.do(ctx, verb, ref)
}

// Card is what a service with nothing but its memory would know.
func (f *fake) Card(
	ctx context.Context, _ hitchpost.Actor, ref string, show func(hitchpost.Card),
) (hitchpost.Card, error) {
	if f.card != nil {
		return f.card(ctx, ref, show)
	}
	c := hitchpost.Card{At: testNow, Database: hitchpost.Part{OK: true}}
	sessions, _ := f.Snapshot()
	for _, s := range sessions {
		if s.ID == ref {
			c.Session = s
		}
	}
	c.Process.Alive, c.Process.How = hitchpost.IsGone, "tmux answers and does not know it"
	if c.Session.State.Live() {
		c.Process.Alive, c.Process.How = hitchpost.IsAlive, "tmux runs it"
	}
	c.Process.Unknown.Why, c.Repo.Unknown.Why = hitchpost.NotAsked, hitchpost.NoRepository
	show(c)
	c.Advice = hitchpost.Advise(hitchpost.Standing{
		Ref: c.Session.Handle, State: c.Session.State, Database: true, Alive: c.Process.Alive,
		Tree: hitchpost.Unknown{Why: hitchpost.NoRepository},
	})
	c.Whole = true
	return c, nil
}

// Note writes like the store does: in place of what is expected, or not at all.
func (f *fake) Note(
	_ context.Context, _ hitchpost.Actor, ref string, r hitchpost.NoteRequest,
) (hitchpost.Session, error) {
	f.record("note %s %q", ref, r.Text)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sessions = append([]hitchpost.Session(nil), f.sessions...)
	for i, s := range f.sessions {
		if s.ID != ref {
			continue
		}
		if r.Expect != nil && *r.Expect != s.Note {
			return s, hitchpost.Errorf(hitchpost.ConflictError, "the note was changed meanwhile").For("note")
		}
		f.sessions[i].Note = r.Text
		return f.sessions[i], nil
	}
	return hitchpost.Session{}, hitchpost.Errorf(hitchpost.NotFoundError, "no such session")
}

func (f *fake) Stop(ctx context.Context, _ hitchpost.Actor, ref string, _ hitchpost.StopRequest) (hitchpost.Session, error) {
	f.record("stop %s", ref)
	res, err := f.do(ctx, "stop", ref)
	return res.Session, err
}

func (f *fake) CloseSession(ctx context.Context, _ hitchpost.Actor, ref string) (hitchpost.Session, error) {
	f.record("close %s", ref)
	res, err := f.do(ctx, "close", ref)
	return res.Session, err
}

func (f *fake) Rename(ctx context.Context, _ hitchpost.Actor, ref, title string) (hitchpost.Session, error) {
	f.record("rename %s %q", ref, title)
	res, err := f.do(ctx, "rename", ref)
	return res.Session, err
}

func (f *fake) Capture(ctx context.Context, _ hitchpost.Actor, ref string, _ hitchpost.CaptureRequest) (hitchpost.Captured, error) {
	if f.screen == nil {
		return hitchpost.Captured{Text: []byte("$ echo " + ref + "\n" + ref + "\n$ \n")}, nil
	}
	text, err := f.screen(ctx, ref)
	return hitchpost.Captured{Text: text, At: f.seenAt}, err
}

func (f *fake) Complete(_ context.Context, _ hitchpost.Actor, prefix string) ([]string, error) {
	f.record("complete %q", prefix)
	if f.complete == nil {
		return nil, nil
	}
	return f.complete(prefix)
}

func (f *fake) Last(context.Context, hitchpost.Actor) string { return f.last }

// team is a list as a person with some agents and two machines has it.
func team() []hitchpost.Session {
	return []hitchpost.Session{
		{ID: "0190a1b2-0001", Handle: "api-tests", Title: "API tests", Kind: hitchpost.Command, Node: "devbox",
			Cwd: "/home/anna/src/shop-api", Project: "shop", Repo: "shop-api", Branch: "fix/timeout", State: hitchpost.Detached,
			StateReason: "last client left", StateSource: hitchpost.FromTmux, StateSince: ago(12 * time.Minute),
			Args: []string{"make", "watch-tests"}, CreatedAt: ago(3 * time.Hour), LastOutputAt: ago(20 * time.Second)},
		{ID: "0190a1b2-0002", Handle: "checkout-flow", Title: "Checkout flow: retry when the card is declined", Kind: hitchpost.Claude,
			Clash: []hitchpost.OtherProcess{{Pid: 4242, Program: "codex", Agent: "codex"}},
			Node:  "devbox", Cwd: "/home/anna/src/shop-web", Project: "shop", Repo: "shop-web", Branch: "checkout-retry",
			State: hitchpost.WaitingForInput, StateReason: "permission: Bash", StateSource: hitchpost.FromHook,
			StateSince: ago(47 * time.Minute), CreatedAt: ago(26 * time.Hour), LastOutputAt: ago(47 * time.Minute),
			Agent: &hitchpost.Agent{Version: "2.1.197", Hooks: hitchpost.HooksSeen, Title: "Retry declined cards",
				LastPrompt: "retry three times when the card is declined, and tell the customer in between",
				LastAnswer: "I have added the retry. To see whether it works I would run the tests of the checkout, which take " +
					"about a minute; may I? There are 41 of them, and four are marked as flaky."}},
		{ID: "0190a1b2-0003", Handle: "docs", Title: "docs", Kind: hitchpost.Claude, Node: "gpu-1", Cwd: "/srv/docs",
			Repo: "docs", Branch: "main", State: hitchpost.WaitingForInput, StateReason: "turn finished",
			StateSource: hitchpost.FromRegistry, StateSince: ago(3 * time.Minute), CreatedAt: ago(5 * time.Hour), LastOutputAt: ago(3 * time.Minute),
			Agent: &hitchpost.Agent{Version: "2.1.332", Hooks: hitchpost.HooksNotSeen,
				Uncertain: "the register says idle for 3m, the last hook said busy 4m ago", Title: "docs", LastPrompt: "go on"}},
		{ID: "0190a1b2-0004", Handle: "deploy-shell", Title: "deploy shell", Kind: hitchpost.Shell, Node: "devbox",
			Cwd: "/home/anna", State: hitchpost.Running, StateReason: "a client attached", StateSource: hitchpost.FromTmux,
			StateSince: ago(2 * time.Minute), Attached: 2, CreatedAt: ago(50 * time.Hour), LastOutputAt: ago(5 * time.Second)},
		{ID: "0190a1b2-0005", Handle: "train", Title: "train the ranking model", Kind: hitchpost.Command, Node: "gpu-1",
			Cwd: "/srv/ranking", Repo: "ranking", Branch: "7f3c2d1", State: hitchpost.Recoverable,
			StateReason: "the host was restarted", StateSource: hitchpost.FromReconciler, StateSince: ago(9 * time.Hour),
			Args: []string{"python", "train.py"}, CreatedAt: ago(90 * time.Hour), LastOutputAt: ago(9 * time.Hour)},
		{ID: "0190a1b2-0006", Handle: "migrate-db", Title: "migrate db", Kind: hitchpost.Command, Node: "devbox",
			Cwd: "/home/anna/src/shop-api", Repo: "shop-api", Branch: "main", State: hitchpost.Failed,
			StateReason: "the program ended", StateSource: hitchpost.FromExit, StateSince: ago(31 * time.Hour),
			Args: []string{"./migrate", "up"}, ExitCode: ptr(3), CreatedAt: ago(32 * time.Hour), LastOutputAt: ago(31 * time.Hour)},
		{ID: "0190a1b2-0007", Handle: "notes", Title: "notes", Kind: hitchpost.Shell, Node: "devbox", Cwd: "/home/anna/notes",
			State: hitchpost.Stopped, StateReason: "stopped by anna", StateSource: hitchpost.FromPerson, StateSince: ago(75 * time.Hour),
			ExitCode: ptr(0), CreatedAt: ago(200 * time.Hour), LastOutputAt: ago(76 * time.Hour)},
		{ID: "0190a1b2-0008", Handle: "api-server", Title: "API server", Kind: hitchpost.Command, Node: "devbox",
			Cwd: "/home/anna/src/shop-api", Repo: "shop-api", Branch: "fix/timeout", State: hitchpost.Detached,
			StateReason: "started", StateSource: hitchpost.FromTmux, StateSince: ago(3 * time.Hour),
			Args: []string{"make", "run"}, CreatedAt: ago(3 * time.Hour), LastOutputAt: ago(40 * time.Minute)},
	}
}

var anna = hitchpost.Actor{Name: "anna", Role: hitchpost.Admin}
