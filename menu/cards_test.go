package menu

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// cardOf is the card of a session of the team as the runtime would have it, with the advice that follows from it.
func cardOf(handle string, change func(c *hitchpost.Card)) hitchpost.Card {
	c := hitchpost.Card{At: testNow, Database: hitchpost.Part{OK: true}, Whole: true}
	for _, s := range team() {
		if s.Handle == handle {
			c.Session = s
		}
	}
	s := &c.Session
	p := &c.Process
	p.Node = hitchpost.Node{Name: s.Node, State: hitchpost.Online, Since: ago(90 * time.Hour)}
	if s.State.Live() {
		p.Alive, p.How = hitchpost.IsAlive, "tmux runs it as process 4711"
		p.Tree = []hitchpost.LiveProcess{
			{Pid: 4711, Program: "claude", State: "sleep", Share: 0.123, RSS: 412 << 20, Runs: 26 * time.Hour},
			{Pid: 4790, Parent: 4711, Depth: 1, Program: "node", State: "running", Share: 0.98, RSS: 1 << 30, Runs: 42 * time.Second},
		}
		c.Advice.Restart.Unknown.Why = hitchpost.NotAsked
	} else {
		p.Alive, p.How = hitchpost.IsGone, "tmux answers and does not know it"
		p.Unknown.Why = hitchpost.NotAsked
		c.Advice.Restart = hitchpost.RestartPlan{Argv: s.Args, Path: "/usr/bin/python", Dir: s.Cwd}
	}
	c.Repo = hitchpost.CardRepo{
		At: testNow, Name: s.Repo, Top: s.Cwd, Branch: s.Branch, Upstream: "origin/" + s.Branch, Ahead: 2,
		Head:  hitchpost.Commit{Hash: "9f3c2d1e0b", Subject: "retry a declined card three times", At: ago(time.Hour)},
		Since: hitchpost.CommitList{Count: 1, First: []hitchpost.Commit{{Hash: "9f3c2d1e0b", Subject: "retry a declined card three times"}}},
	}
	c.Evidence = hitchpost.CardEvidence{
		Screen: []string{"$ npm test", "", "  12 passing (2 s)", "Do you want to go on?"}, ScreenAt: s.LastOutputAt,
		Events: []hitchpost.Event{
			{At: ago(3 * time.Hour), Kind: "started", Actor: "anna", Reason: "its process is up"},
			{At: s.StateSince, Kind: "lost", Reason: s.StateReason},
		},
		Tasks: []hitchpost.CardTask{{Task: hitchpost.Task{
			Name: "check", State: hitchpost.TaskFailed, ExitCode: ptr(2), StartedAt: ago(40 * time.Minute),
		}, Log: []string{"FAIL checkout.test.ts", "1 of 41 failed"}}},
	}
	if change != nil {
		change(&c)
	}
	plan := c.Advice.Restart
	c.Advice = hitchpost.Advise(hitchpost.Standing{
		Ref: s.Handle, Cwd: s.Cwd, State: s.State, Reason: s.StateReason, Database: true, Node: p.Node.State, NodeName: s.Node,
		Alive: p.Alive, How: p.How, Exit: s.Exit(), Left: p.Left, Agents: p.Others, Tree: c.Repo.Unknown, Dirty: c.Repo.Dirty(),
		Unended: c.Repo.Operation, HasCheck: s.Check != "", Last: c.Check.Last, Stale: c.Check.Stale,
	})
	c.Advice.Restart = plan
	return c
}

// onCard is a model that shows the card, as it comes from the service.
func onCard(t *testing.T, size hitchpost.Size, c hitchpost.Card) *model {
	t.Helper()
	f := newFake(team()...)
	for i := range f.sessions {
		if f.sessions[i].ID == c.Session.ID {
			f.sessions[i] = c.Session
		}
	}
	m := still(t, f, size, func(cfg *Config) { cfg.Selected = c.Session.ID })
	m.typed("i")
	m.handle(cardShown{m.card.gen, c, nil})
	if c.Whole {
		m.handle(cardFound{m.card.gen, c, nil})
	}
	return m
}

// TestCardFrames holds the card against the golden frames.
func TestCardFrames(t *testing.T) {
	t.Parallel()
	dirty := func(c *hitchpost.Card) {
		c.Session.Note = "# Goal\n\nrank by recency\n- epoch 12 of 40 was done"
		c.Session.Check = "make check"
		c.Check = hitchpost.CardCheck{Stale: hitchpost.Stale, Why: "files have changed since", Last: &hitchpost.Check{
			Command: "make check", State: hitchpost.TaskSucceeded, Exit: &hitchpost.Exit{Code: ptr(0)}, StartedAt: ago(10 * time.Hour),
		}}
		c.Repo.Changed = hitchpost.NameList{Count: 2, First: []string{"train.py", "rank/model.py"}}
		c.Repo.Untracked = hitchpost.NameList{Count: 31, AtLeast: true, First: []string{"runs/12/loss.csv"}}
		c.Repo.FromHead = hitchpost.DiffStat{Files: 2, Insertions: 41, Deletions: 7}
		c.Repo.Checkpoint = &hitchpost.Checkpoint{N: 3, At: ago(10 * time.Hour), Message: "before the restart"}
		c.Repo.FromCheckpoint = hitchpost.DiffStat{Files: 1, Insertions: 3}
	}
	for name, c := range map[string]hitchpost.Card{
		"live":       cardOf("api-tests", nil),
		"waiting":    cardOf("checkout-flow", nil),
		"lost-dirty": cardOf("train", dirty),
		"lost-clean": cardOf("train", nil),
		"clash": cardOf("train", func(c *hitchpost.Card) {
			c.Process.Others = []hitchpost.OtherProcess{{Pid: 9001, Program: "claude", Agent: "claude", Session: "ranking-review",
				Since: ago(time.Hour)}}
			c.Advice.Restart.Argv, c.Advice.Restart.Refused = nil, "session ranking-review works in the same tree"
		}),
		"rebase": cardOf("train", func(c *hitchpost.Card) {
			c.Repo.Operation, c.Repo.Step, c.Repo.Steps, c.Repo.Of, c.Repo.Branch = "rebase", 2, 5, "recency", ""
			c.Repo.Conflicted = hitchpost.NameList{Count: 1, First: []string{"rank/model.py"}}
		}),
		"nothing": {Session: team()[4], Process: hitchpost.CardProcess{Alive: hitchpost.NotCertain, How: hitchpost.NotYet,
			Unknown: hitchpost.Unknown{Why: hitchpost.NotYet}, LeftWhy: hitchpost.Unknown{Why: hitchpost.NotYet},
			OthersWhy: hitchpost.Unknown{Why: hitchpost.NotYet}}, Repo: hitchpost.CardRepo{Unknown: hitchpost.Unknown{Why: hitchpost.NotYet}},
			Evidence: hitchpost.CardEvidence{ScreenWhy: hitchpost.Unknown{Why: hitchpost.NotYet},
				EventsWhy: hitchpost.Unknown{Why: hitchpost.NotYet}, TasksWhy: hitchpost.Unknown{Why: hitchpost.NotYet}},
			Advice: hitchpost.Advice{Do: hitchpost.StepWait, Why: "nobody knows whether it is alive: not known yet", Command: []string{"status"},
				Restart: hitchpost.RestartPlan{Unknown: hitchpost.Unknown{Why: hitchpost.NotYet}}}},
	} {
		for _, size := range sizes {
			name := fmt.Sprintf("card-%s-%dx%d", name, size.Cols, size.Rows)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				golden(t, name, draw(t, onCard(t, size, c)))
			})
		}
	}
}

// TestCardOfHostileTexts draws cards of which every text tries to leave its place, at odd sizes and all the way down.
func TestCardOfHostileTexts(t *testing.T) {
	t.Parallel()
	for _, s := range hostile() {
		n := s.Title
		unknown := hitchpost.Unknown{Why: n, Detail: n}
		names := hitchpost.NameList{Count: 3, First: []string{n, n, n}}
		c := cardOf("train", func(c *hitchpost.Card) {
			c.Session.Handle, c.Session.Title, c.Session.StateReason, c.Session.Note, c.Session.Check = n, n, n, n+"\n"+n, n
			c.Session.Agent = s.Agent
			c.Process.How, c.Process.Node.Reason = n, n
			c.Process.Tree = []hitchpost.LiveProcess{{Program: n, State: n}}
			c.Process.Left = []hitchpost.OtherProcess{{Program: n, Agent: n, Session: n}}
			c.Process.Others, c.Process.LeftWhy, c.Process.OthersWhy = c.Process.Left, unknown, unknown
			c.Repo.Name, c.Repo.Branch, c.Repo.Upstream, c.Repo.Operation, c.Repo.Of, c.Repo.Head.Subject = n, n, n, n, n, n
			c.Repo.Changed, c.Repo.Conflicted, c.Repo.HeadWhy = names, names, unknown
			c.Evidence.Screen, c.Evidence.Events[0].Reason, c.Evidence.Events[0].Actor = []string{n}, n, n
			c.Evidence.Tasks[0].Task.Name, c.Evidence.Tasks[0].Log = n, []string{n}
			c.Advice.Restart.Argv, c.Advice.Restart.Dir = []string{n}, n
		})
		for _, size := range []hitchpost.Size{{Cols: 1, Rows: 1}, {Cols: 9, Rows: 7}, {Cols: 40, Rows: 20}, {Cols: 121, Rows: 30}} {
			m := onCard(t, size, c)
			for range 40 {
				content, _ := m.frame()
				draw(t, m)
				if text := stripped(content); strings.ContainsFunc(text, func(r rune) bool {
					return r != '\n' && r != '\u2068' && r != '\u2069' && clean(string(r)) == string(shown) && r != shown
				}) {
					t.Fatalf("%q at %v: %q", n, size, text)
				}
				m.typed("j")
			}
			m.typed("w")
			draw(t, m)
		}
	}
}

// TestCardScrolls goes down to the end of a card and up again.
func TestCardScrolls(t *testing.T) {
	t.Parallel()
	m := onCard(t, hitchpost.Size{Cols: 40, Rows: 20}, cardOf("train", nil))
	top := draw(t, m)
	m.typed("G")
	if end := draw(t, m); !strings.Contains(end, wordCardCheck) || strings.Contains(end, wordCardNext) {
		t.Errorf("the end is\n%s", end)
	}
	m.typed("<pgup><pgup><pgup><pgup><pgup><pgup>")
	if got := draw(t, m); got != top {
		t.Errorf("the top is\n%s\nand was\n%s", got, top)
	}
}

// TestCardFillsIn has the parts of a card come one after the other, and a look that was left bring nothing.
func TestCardFillsIn(t *testing.T) {
	t.Parallel()
	c := cardOf("train", nil)
	early := c
	early.Whole, early.Repo = false, hitchpost.CardRepo{Unknown: hitchpost.Unknown{Why: hitchpost.NotYet}}
	m := onCard(t, sizes[2], early)
	if got := draw(t, m); !strings.Contains(got, wordCardMore) || strings.Contains(got, "retry a declined") {
		t.Errorf("an early card is\n%s", got)
	}
	gen := m.card.gen
	m.handle(cardFound{gen, c, nil})
	if got := draw(t, m); strings.Contains(got, wordCardMore) || !strings.Contains(got, "retry a declined") {
		t.Errorf("a whole card is\n%s", got)
	}
	m.handle(cardShown{gen, early, nil})
	m.typed("u")
	m.handle(cardShown{m.card.gen, early, nil})
	if got := draw(t, m); !strings.Contains(got, wordCardStill) || !strings.Contains(got, "retry a declined") {
		t.Errorf("while it is looked for again it is\n%s", got)
	}
	m.handle(cardFound{gen, early, nil})
	m.handle(cardFound{m.card.gen, hitchpost.Card{}, hitchpost.Errorf(hitchpost.UnavailableError, "the database is away")})
	if got := draw(t, m); !strings.Contains(got, "the database is away") || !strings.Contains(got, "retry a declined") {
		t.Errorf("after a look that failed it is\n%s", got)
	}
}

// TestEnterFollowsTheAdviceOnceItHasStood presses Enter on a card at once, and when there was time to read it.
func TestEnterFollowsTheAdviceOnceItHasStood(t *testing.T) {
	t.Parallel()
	now := testNow
	f := newFake(team()...)
	m := still(t, f, sizes[1], func(c *Config) {
		c.Selected, c.Now = "0190a1b2-0005", func() time.Time { return now }
	})
	m.typed("<enter>")
	m.handle(cardFound{m.card.gen, cardOf("train", nil), nil})
	m.typed("<enter><enter>")
	if m.mode != modeCard || f.called() != "" {
		t.Fatalf("mode %d, asked %q", m.mode, f.called())
	}
	now = now.Add(cardCalm)
	m.typed("<enter>")
	m.tasks.end()
	if m.mode != modeList || f.called() != "restart 0190a1b2-0005" {
		t.Errorf("mode %d, asked %q", m.mode, f.called())
	}
	for name, c := range map[string]hitchpost.Card{
		"checkpoint first": cardOf("train", func(c *hitchpost.Card) { c.Repo.Changed = hitchpost.NameList{Count: 1, First: []string{"x"}} }),
		"hold":             cardOf("train", func(c *hitchpost.Card) { c.Process.Left = []hitchpost.OtherProcess{{Pid: 7, Program: "x"}} }),
	} {
		f := newFake(team()...)
		m := still(t, f, sizes[1], func(c *Config) { c.Selected, c.Now = "0190a1b2-0005", func() time.Time { return now } })
		m.typed("i")
		m.handle(cardFound{m.card.gen, c, nil})
		now = now.Add(time.Hour)
		m.typed("<enter>")
		m.tasks.end()
		if m.mode != modeCard || f.called() != "" || strings.Contains(draw(t, m), "enter restart") {
			t.Errorf("%s: mode %d, asked %q", name, m.mode, f.called())
		}
	}
	m = onCard(t, sizes[1], cardOf("docs", nil))
	m.typed("<enter>")
	if m.choice == nil || m.choice.Attach != "0190a1b2-0003" {
		t.Errorf("choice %+v", m.choice)
	}
}

// TestRestartWithNoteShowsWhatItSends reads what the fresh process would be told, then has it told.
func TestRestartWithNoteShowsWhatItSends(t *testing.T) {
	t.Parallel()
	c := cardOf("checkout-flow", func(c *hitchpost.Card) {
		c.Session.State, c.Session.Note = hitchpost.Recoverable, "the flaky tests are four"
	})
	m := onCard(t, sizes[1], c)
	m.typed("w")
	for _, want := range []string{wordBrief, "This session was restarted.", "the flaky tests are four", "y restart with note"} {
		if got := draw(t, m); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	m.typed("<esc>")
	if m.mode != modeCard {
		t.Errorf("mode %d", m.mode)
	}
	m.typed("w<enter>y")
	m.tasks.end()
	want := fmt.Sprintf("restart 0190a1b2-0002\nprompt %q", hitchpost.Briefing(c))
	if got := m.service.(*fake).called(); got != want {
		t.Errorf("asked\n%s\nwant\n%s", got, want)
	}
	m = onCard(t, sizes[1], cardOf("train", nil))
	m.typed("wy")
	if got := draw(t, m); m.mode != modeCard || !strings.Contains(got, "train takes no note with its restart") {
		t.Errorf("mode %d\n%s", m.mode, got)
	}
}
