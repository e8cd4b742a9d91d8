package menu

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/hitchpost/hitchpost"
)

// Every word of the card's page stands here. What is taken from a card is cleaned where it is put in.

const (
	wordCardNext     = "NEXT"
	wordCardProcess  = "MACHINE AND PROCESS"
	wordCardRepo     = "REPOSITORY"
	wordCardScreen   = "LAST SCREEN"
	wordCardEvidence = "SAID AND DONE"
	wordCardNote     = "NOTE"
	wordCardCheck    = "CHECK"
	wordCardMore     = "looking for more"
	wordCardStill    = "looking again"
	wordNoNote       = "none"
	wordNoCheck      = "none"
	wordBrief        = "THE FIRST PROMPT OF THE FRESH PROCESS WOULD BE"

	wordNotePage     = "NOTE, IN MARKDOWN"
	wordNoteMoved    = "NOTE: SOMEBODY ELSE HAS CHANGED IT MEANWHILE"
	wordNoteProposed = "NOTE: PROPOSED, NOT SAVED"
	wordNoteOdd      = "the note cannot be edited here: read and write it with the verb note"
	wordTheirs       = "THE NOTE AS SOMEBODY ELSE WROTE IT MEANWHILE"
	wordMine         = "WHAT YOU HAVE WRITTEN, NOT SAVED"
)

// The most lines that texts of the card are wrapped to, and the most lines of a list on the page.
const (
	cardWrap = 4
	cardList = 8
)

// cardSections is the whole page in the order of recovery, what to do next first.
func (m *model) cardSections() []section {
	c := &m.card.card
	s := m.session(c.Session)
	repo := section{title: wordCardRepo, lines: m.repoLines(c)}
	process := section{title: wordCardProcess, lines: m.processLines(c, s)}
	parts := []section{{title: wordCardNext, lines: m.nextLines(c)}, process, repo}
	screen := section{title: wordCardScreen, lines: m.shownLines(c), aside: true}
	if !c.Evidence.ScreenAt.IsZero() {
		screen.title += ", " + age(c.Evidence.ScreenAt, m.now)
	}
	return append(parts, screen,
		section{title: wordCardEvidence, lines: m.doneLines(c, s), aside: true},
		section{title: wordCardNote, lines: noteLines(s.Note), aside: true},
		section{title: wordCardCheck, lines: m.checkLines(c, s)})
}

// lines gathers the lines of a section.
type lines struct {
	theme *theme
	list  []pageLine
}

// say adds a text that is wrapped, faint what is less important, warn what must not be overlooked, and show one that is cut.
func (l *lines) say(format string, args ...any)   { l.add("", cardWrap, format, args) }
func (l *lines) faint(format string, args ...any) { l.add(l.theme.faint, cardWrap, format, args) }
func (l *lines) warn(format string, args ...any)  { l.add(l.theme.problem, cardWrap, format, args) }
func (l *lines) show(format string, args ...any)  { l.add("", 0, format, args) }

func (l *lines) add(ink ink, most int, format string, args []any) {
	l.list = append(l.list, pageLine{ink, clean(fmt.Sprintf(format, args...)), most})
}

// unknown adds why something is not known, where it is not.
func (l *lines) unknown(what string, u hitchpost.Unknown) {
	if !u.Known() {
		l.faint("%s: %s", what, u)
	}
}

func (m *model) lines() *lines { return &lines{theme: &m.theme} }

// nextLines is the advice, and what a Restart would run.
func (m *model) nextLines(c *hitchpost.Card) []pageLine {
	l := m.lines()
	a := c.Advice
	switch {
	case m.card.err != "":
		l.warn("%s", m.card.err)
	case !m.card.known:
		l.faint("%s", hitchpost.NotYet)
	}
	if a.Why != "" {
		l.say("%s", a.Why)
	}
	if len(a.Command) > 0 {
		l.add(m.theme.key, cardWrap, "%s", []any{commandLine(a.Command)})
	}
	if len(a.Then) > 0 {
		l.say("then %s", commandLine(a.Then))
	}
	r := a.Restart
	switch {
	case !r.Unknown.Known() && r.Unknown.Why != hitchpost.NotAsked:
		l.faint("a restart runs: %s", r.Unknown)
	case r.Refused != "" && !strings.Contains(a.Why, r.Refused):
		l.warn("a restart is refused: %s", r.Refused)
	case len(r.Argv) > 0:
		l.say("a restart runs %s in %s", shellquote.Join(r.Argv...), r.Dir)
	}
	switch {
	case !c.Whole && m.card.known && m.card.looking:
		l.faint("%s%s", wordCardMore, ellipsis)
	case m.card.looking && m.card.found:
		l.faint("%s%s", wordCardStill, ellipsis)
	}
	return l.list
}

// commandLine is what a person types for a verb.
func commandLine(words []string) string { return "ssh host " + shellquote.Join(words...) }

func (m *model) processLines(c *hitchpost.Card, s hitchpost.Session) []pageLine {
	l := m.lines()
	p := c.Process
	node := s.Node
	if p.Node.State != "" {
		node += " " + string(p.Node.State)
	}
	if p.Node.State == hitchpost.Offline {
		l.warn("%s for %s: %s", node, age(p.Node.Since, m.now), p.Node.Reason)
	} else {
		l.show("%s", node)
	}
	if s.Project != "" {
		l.show("project %s", s.Project)
	}
	if !c.Database.OK && c.Database.Reason != "" {
		l.warn("database away: %s", c.Database.Reason)
	}
	l.say("%s", story(s, m.now))
	if m.card.known {
		l.say("process %s: %s", p.Alive, p.How)
	}
	if p.Unknown.Why != hitchpost.NotAsked {
		l.unknown("its processes", p.Unknown)
	}
	for _, t := range p.Tree[:min(len(p.Tree), cardList)] {
		l.show("%s%d %s %s %s cpu %.0f%% %s", strings.Repeat(" ", min(t.Depth, 8)), t.Pid, t.Program, t.State, short(t.Runs),
			100*t.Share, memory(t.RSS))
	}
	if more := p.More + max(len(p.Tree)-cardList, 0); more > 0 {
		l.faint("%d more", more)
	}
	l.neighbours(p)
	return l.list
}

// neighbours tells what else there is of the session, and in its tree.
func (l *lines) neighbours(p hitchpost.CardProcess) {
	if len(p.Left) > 0 {
		l.warn("left behind by its last run: %s", hitchpost.NameProcesses(p.Left))
	}
	var agents, others []hitchpost.OtherProcess
	for _, o := range p.Others {
		if o.Agent != "" {
			agents = append(agents, o)
		} else {
			others = append(others, o)
		}
	}
	if len(agents) > 0 {
		l.warn("another agent in its tree: %s", hitchpost.NameProcesses(agents))
	}
	if len(others) > 0 {
		l.say("also in its tree: %s", hitchpost.NameProcesses(others))
	}
	if p.Hidden > 0 {
		l.faint("%d of this account cannot be looked at", p.Hidden)
	}
	l.unknown("what it left behind", p.LeftWhy)
	l.unknown("what else works in its tree", p.OthersWhy)
}

// shownLines is the end of the last screen.
func (m *model) shownLines(c *hitchpost.Card) []pageLine {
	l := m.lines()
	l.unknown("not known", firstWhy(c.Evidence.ScreenWhy, m.card.known))
	for _, text := range c.Evidence.Screen {
		l.show("%s", text)
	}
	return l.list
}

// firstWhy is why something is not known of a card, of which nothing may be known yet.
func firstWhy(u hitchpost.Unknown, known bool) hitchpost.Unknown {
	if !known {
		return hitchpost.Unknown{Why: hitchpost.NotYet}
	}
	return u
}

// doneLines is what the agent said, the tasks and the events.
func (m *model) doneLines(c *hitchpost.Card, s hitchpost.Session) []pageLine {
	l := m.lines()
	for _, text := range agentStory(s) {
		l.say("%s", text)
	}
	if a := s.Agent; a != nil && a.TokensIn+a.TokensOut > 0 {
		l.faint("%d tokens in, %d out", a.TokensIn, a.TokensOut)
	}
	l.unknown("tasks", c.Evidence.TasksWhy)
	for _, t := range c.Evidence.Tasks {
		ink := ink("")
		if t.Task.State == hitchpost.TaskFailed || t.Task.State == hitchpost.TaskLost {
			ink = m.theme.problem
		}
		l.add(ink, cardWrap, "%s", []any{"task " + t.Task.Called() + ": " + taskStory(t.Task, m.now)})
		for _, text := range t.Log {
			l.add(m.theme.faint, 0, " %s", []any{text})
		}
	}
	if n := c.Evidence.TasksMore; n > 0 {
		l.faint("%s before", plural(n, "task"))
	}
	l.unknown("events", c.Evidence.EventsWhy)
	for _, e := range c.Evidence.Events {
		l.show("%s %s%s", fitRight(age(e.At, m.now), ageWidth), e.Kind, eventEnd(e))
	}
	return l.list
}

func taskStory(t hitchpost.Task, now time.Time) string {
	words := string(t.State)
	if e := t.Exit(); e != nil {
		words += ", " + e.String()
	}
	if !t.StartedAt.IsZero() {
		words += ", began " + age(t.StartedAt, now) + " ago"
	}
	return words
}

func eventEnd(e hitchpost.Event) string {
	words := ""
	if e.Actor != "" {
		words += " by " + e.Actor
	}
	if e.Reason != "" {
		words += ": " + e.Reason
	}
	return words
}

func noteLines(note string) []pageLine {
	if strings.TrimSpace(note) == "" {
		return []pageLine{{text: wordNoNote}}
	}
	var list []pageLine
	for text := range strings.SplitSeq(strings.TrimRight(note, "\n"), "\n") {
		if len(list) == noteMost {
			return append(list, pageLine{text: ellipsis})
		}
		list = append(list, pageLine{text: clean(strings.ReplaceAll(text, "\t", "    ")), most: noteWrap})
	}
	return list
}

// The most of a note that a page shows, in lines, and of one line of it.
const (
	noteMost = 1000
	noteWrap = 100
)

func (m *model) checkLines(c *hitchpost.Card, s hitchpost.Session) []pageLine {
	l := m.lines()
	if s.Check == "" {
		l.say("%s", wordNoCheck)
		return l.list
	}
	l.say("%s", s.Check)
	last := c.Check.Last
	switch {
	case !m.card.known || !c.Check.Unknown.Known():
		l.unknown("its last result", firstWhy(c.Check.Unknown, m.card.known))
	case last == nil:
		l.say("it has never run")
	default:
		words := string(last.State)
		if last.Exit != nil {
			words += ", " + last.Exit.String()
		}
		words += ", began " + age(last.StartedAt, m.now) + " ago"
		if c.Check.Why != "" {
			words += "; " + c.Check.Why
		}
		if last.Passed() && c.Check.Stale == hitchpost.Fresh {
			l.add(m.theme.good, cardWrap, "%s", []any{words})
		} else {
			l.say("%s", words)
		}
	}
	return l.list
}

// short is a span of time in one word.
func short(d time.Duration) string {
	if d < time.Minute {
		return strconv.Itoa(int(d/time.Second)) + "s"
	}
	return age(time.Unix(0, 0), time.Unix(0, 0).Add(d))
}

// memory is a number of bytes in one word.
func memory(n uint64) string {
	units := "KMGT"
	v, unit := float64(n)/1024, 0
	for v >= 1000 && unit < len(units)-1 {
		v, unit = v/1024, unit+1
	}
	return fmt.Sprintf("%.0f%c", v, units[unit])
}
