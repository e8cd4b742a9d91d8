package hitchpost

import (
	"fmt"
	"strconv"
	"strings"
)

// Standing is what the next safe command of a session follows from.
type Standing struct {
	Ref    string // what people type for it
	Cwd    string
	State  State
	Reason string // of State
	Closed bool

	Database  bool // it answers
	Node      NodeState
	NodeName  string
	Alive     Liveness
	How       string // how Alive is known
	Uncertain string // why nobody knows what its agent does; empty: it is known
	Exit      *Exit  // of its last process

	Left    []OtherProcess // of an earlier run
	Agents  []OtherProcess // others that work in its tree and are agents
	Unseen  Unknown        // why there may be more of both
	Refused string         // why a Restart would be refused

	Tree     Unknown // of these, to Since
	Dirty    bool    // there is something that no commit has
	Kept     bool    // the newest checkpoint holds it
	Conflict int     // files
	Unended  string  // operation of git that has begun and not ended
	Unpushed int     // commits that no remote has, where there is a remote
	Since    int     // commits made since it began

	HasCheck bool
	Last     *Check
	Stale    Staleness
}

// Advise tells the next safe command. The first row of its table that fits decides; what is not known is never taken for
// good, and nothing counts as done but by an exit code, a check or a commit. Restart is not filled in.
func Advise(s Standing) Advice {
	for _, row := range adviceTable() {
		if row.fits(s) {
			a := row.advice(s)
			a.Row = row.name
			return a
		}
	}
	return Advice{Row: "nothing", Do: StepLook, Why: "nothing is known of " + s.Ref, Command: []string{"show", s.Ref}}
}

// adviceRow is a row of the table.
type adviceRow struct {
	name   string
	fits   func(Standing) bool
	advice func(Standing) Advice
}

// adviceTable is in the order of what must be known before the next question makes sense: first whether anything can be
// said, then a process that lives, then what keeps a fresh one from being safe, then what would be lost by it.
func adviceTable() []adviceRow {
	return append(append(unclearRows(), aliveRows()...), endedRows()...)
}

func unclearRows() []adviceRow {
	return []adviceRow{
		{"closed", func(s Standing) bool { return s.Closed }, func(s Standing) Advice {
			return Advice{Do: StepNone, Why: "it is closed; its history and its files are still there",
				Command: []string{"history", s.Ref}}
		}},
		{"database away", func(s Standing) bool { return !s.Database && s.Alive != IsAlive }, func(Standing) Advice {
			return Advice{Do: StepWait, Why: "the database is away, so that nobody knows how it stands",
				Command: []string{"status"}}
		}},
		{"node offline", func(s Standing) bool { return s.Node == Offline && s.Alive != IsAlive }, func(s Standing) Advice {
			return Advice{Do: StepWait, Why: s.NodeName + " is offline: its process may be alive there",
				Command: []string{"node", "ls"}}
		}},
		{"on its way", func(s Standing) bool { return s.State == Starting || s.State == Stopping }, func(s Standing) Advice {
			return Advice{Do: StepWait, Why: "its start or stop is under way", Command: []string{"wait", s.Ref, "--for",
				"RUNNING,DETACHED,WAITING_FOR_INPUT,STOPPED,FAILED,RECOVERABLE", "--timeout", "30s"}}
		}},
		{"just gone", func(s Standing) bool { return s.State.Live() && s.Alive == IsGone }, func(s Standing) Advice {
			return Advice{Do: StepWait, Why: "its process has just gone: its state follows in a moment",
				Command: []string{"card", s.Ref}}
		}},
		{"just come", func(s Standing) bool { return s.State.Ended() && s.Alive == IsAlive }, func(s Standing) Advice {
			return Advice{Do: StepWait, Why: "its process is there although it counts as " + string(s.State) +
				": its state follows in a moment", Command: []string{"card", s.Ref}}
		}},
		{"not certain", func(s Standing) bool { return s.Alive == NotCertain }, func(s Standing) Advice {
			return Advice{Do: StepWait, Why: join("nobody knows whether it is alive", s.How), Command: []string{"status"}}
		}},
	}
}

func aliveRows() []adviceRow {
	alive := func(s Standing) bool { return s.Alive == IsAlive }
	return []adviceRow{
		{"waiting", func(s Standing) bool { return alive(s) && s.State == WaitingForInput }, func(s Standing) Advice {
			return Advice{Do: StepAnswer, Why: join("it waits for you", s.Reason) + beside(s), Command: []string{"attach", s.Ref}}
		}},
		{"uncertain", func(s Standing) bool { return alive(s) && s.Uncertain != "" }, func(s Standing) Advice {
			return Advice{Do: StepAttach, Why: "it is alive, and what it does is uncertain: " + s.Uncertain + beside(s),
				Command: []string{"attach", s.Ref}}
		}},
		{"alive", alive, func(s Standing) Advice {
			return Advice{Do: StepAttach, Why: "it is alive" + beside(s), Command: []string{"attach", s.Ref}}
		}},
	}
}

func endedRows() []adviceRow {
	return append([]adviceRow{
		{"left behind", func(s Standing) bool { return len(s.Left) > 0 }, func(s Standing) Advice {
			why := "its last run left behind " + NameProcesses(s.Left) + ": end that first, or wait for it"
			return Advice{Do: StepHold, Why: why, Command: processes(s.Left)}
		}},
		{"another agent", func(s Standing) bool { return len(s.Agents) > 0 }, func(s Standing) Advice {
			a := Advice{Do: StepHold, Why: "another agent works in the same tree: " + NameProcesses(s.Agents),
				Command: processes(s.Agents)}
			if s.Agents[0].Session != "" {
				a.Command = []string{"attach", s.Agents[0].Session}
			}
			return a
		}},
		{"not looked at", func(s Standing) bool { return !s.Unseen.Known() }, func(s Standing) Advice {
			return Advice{Do: StepHold, Why: join("nobody knows what else works in its tree", s.Unseen.String()),
				Command: []string{"card", s.Ref}}
		}},
		{"directory gone", func(s Standing) bool { return s.Tree.Why == NoDirectory }, func(s Standing) Advice {
			return Advice{Do: StepLook, Why: "its directory is gone: make it again before a restart, or close it",
				Command: []string{"history", s.Ref}}
		}},
		{"conflicts", func(s Standing) bool { return s.Conflict > 0 }, func(s Standing) Advice {
			why := fmt.Sprintf("%s in conflict", count(s.Conflict, "file is", "files are"))
			if s.Unended != "" {
				why += ", in an unfinished " + s.Unended
			}
			return gitStatus(s, why)
		}},
		{"unfinished", func(s Standing) bool { return s.Unended != "" }, func(s Standing) Advice {
			return gitStatus(s, "git is in the middle of a "+s.Unended+": continue it or abort it first")
		}},
		{"tree unknown", func(s Standing) bool { return !s.Tree.Known() && s.Tree.Why != NoRepository }, func(s Standing) Advice {
			return gitStatus(s, join("nobody knows what changed", s.Tree.String()))
		}},
	}, overRows()...)
}

// overRows are for a session whose process is gone and whose tree holds nothing in the way of another.
func overRows() []adviceRow {
	return []adviceRow{
		{"check runs", func(s Standing) bool { return s.Last != nil && s.Last.State == TaskRunning }, func(s Standing) Advice {
			return Advice{Do: StepWait, Why: "its check is running", Command: []string{"task", "wait", s.Last.TaskID}}
		}},
		{"unchecked", unchecked, func(s Standing) Advice {
			return Advice{Do: StepCheck, Why: whyUnchecked(s), Command: []string{"check", s.Ref}}
		}},
		{"done", done, func(s Standing) Advice {
			return Advice{Do: StepClose, Why: whyDone(s), Command: []string{"close", s.Ref}}
		}},
		{"unpushed", func(s Standing) bool { return complete(s) && !s.Dirty && s.Unpushed > 0 }, func(s Standing) Advice {
			why := count(s.Unpushed, "commit is", "commits are") + " on no remote: push before you close it"
			return Advice{Do: StepLook, Why: why, Command: inTree(s, "git", "log", "--oneline", "HEAD", "--not", "--remotes")}
		}},
		{"refused", func(s Standing) bool { return s.Refused != "" }, func(s Standing) Advice {
			return Advice{Do: StepLook, Why: "a restart would be refused: " + s.Refused, Command: []string{"history", s.Ref}}
		}},
		{"dirty", func(s Standing) bool { return s.Dirty && !s.Kept }, func(s Standing) Advice {
			why := "its process is gone" + ending(s) + ", and its tree holds work that no commit has"
			return Advice{Do: StepCheckpoint, Why: why, Command: []string{"checkpoint", s.Ref}, Then: []string{"restart", s.Ref}}
		}},
		{"gone", func(Standing) bool { return true }, func(s Standing) Advice {
			why := "its process is gone" + ending(s)
			if s.Kept && s.Dirty {
				why += "; its newest checkpoint holds the tree as it is"
			}
			return Advice{Do: StepRestart, Why: why, Command: []string{"restart", s.Ref}}
		}},
	}
}

// unchecked reports whether the check has not seen the files as they are.
func unchecked(s Standing) bool {
	return s.HasCheck && (s.Last == nil || !fresh(s) || !settled(*s.Last))
}

// fresh reports whether the check saw the files as they are. Outside of a repository nobody can tell, and a further check
// would change nothing about that.
func fresh(s Standing) bool {
	return s.Stale == Fresh || s.Stale == StaleUnknown && s.Tree.Why == NoRepository
}

// settled reports whether a check came to a result: it passed, or its command said that it did not.
func settled(c Check) bool { return c.Passed() || c.State == TaskFailed && c.Exit != nil }

func whyUnchecked(s Standing) string {
	switch {
	case s.Last == nil:
		return "its check has never run"
	case s.Stale == Stale:
		return "files have changed since its check " + result(*s.Last)
	case s.Stale != Fresh:
		return "nobody knows whether files have changed since its check " + result(*s.Last)
	default:
		return "its last check came to no result"
	}
}

func result(c Check) string {
	if c.Passed() {
		return "passed"
	}
	if c.Exit != nil {
		return "failed with " + c.Exit.String()
	}
	return "came to no result"
}

// complete reports whether an artifact says that the work is done: the check passed on the files as they are and the
// process ended well or commits were made, or there is no check and the process ended well.
func complete(s Standing) bool {
	well := s.Exit != nil && s.Exit.Well()
	if s.HasCheck {
		return s.Last != nil && s.Last.Passed() && fresh(s) && (well || s.Since > 0)
	}
	return well
}

func done(s Standing) bool { return complete(s) && !s.Dirty && s.Unpushed == 0 }

func whyDone(s Standing) string {
	var facts []string
	if s.Exit != nil && s.Exit.Well() {
		facts = append(facts, "it ended with exit 0")
	}
	if s.HasCheck {
		facts = append(facts, "its check passed on the files as they are")
		if s.Stale != Fresh {
			facts[len(facts)-1] = "its check passed"
		}
	}
	if s.Tree.Known() {
		facts = append(facts, "everything is committed")
	}
	return strings.Join(facts, ", ")
}

// ending tells how the process ended, as a part of a sentence.
func ending(s Standing) string {
	if s.Exit != nil {
		return " (" + s.Exit.String() + ")"
	}
	return ""
}

// beside tells what else one should know of a session that is alive itself.
func beside(s Standing) string {
	switch {
	case !s.Database:
		return "; the database is away, and to attach works all the same"
	case len(s.Agents) == 0:
		return ""
	}
	return "; beware, another agent works in the same tree: " + NameProcesses(s.Agents)
}

func gitStatus(s Standing, why string) Advice {
	return Advice{Do: StepLook, Why: why, Command: inTree(s, "git", "status")}
}

// inTree are the words that run a command in the session's directory.
func inTree(s Standing, command ...string) []string {
	return append([]string{"task", "run", "--wait", "--session", s.Ref, "--"}, command...)
}

// processes are the words that show processes.
func processes(list []OtherProcess) []string {
	pids := make([]string, 0, len(list))
	for _, p := range list[:min(len(list), namedProcesses)] {
		pids = append(pids, strconv.Itoa(p.Pid))
	}
	return []string{"task", "run", "--wait", "--", "ps", "-o", "pid,ppid,etime,args", "-p", strings.Join(pids, ",")}
}

// namedProcesses is how many processes a sentence names.
const namedProcesses = 3

// NameProcesses lists processes in a sentence, fit for one line of a terminal.
func NameProcesses(list []OtherProcess) string {
	var words []string
	for i, p := range list {
		if i == namedProcesses {
			words = append(words, fmt.Sprintf("%d more", len(list)-i))
			break
		}
		about := "process " + strconv.Itoa(p.Pid)
		if p.Session != "" {
			about += " of session " + p.Session
		}
		if !p.Since.IsZero() {
			about += ", since " + p.Since.UTC().Format("2006-01-02 15:04:05Z")
		}
		name := p.Agent
		if name == "" {
			name = OneLine(p.Program)
		}
		words = append(words, name+" ("+about+")")
	}
	return strings.Join(words, ", ")
}

func join(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
