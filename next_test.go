package hitchpost_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// gone is a session whose process was lost, in a clean tree; each case changes what it is about.
func gone() hitchpost.Standing {
	return hitchpost.Standing{
		Ref: "api", Cwd: "/src/api", State: hitchpost.Recoverable, Database: true, Node: hitchpost.Online, NodeName: "vm",
		Alive: hitchpost.IsGone,
	}
}

func alive() hitchpost.Standing {
	s := gone()
	s.State, s.Alive = hitchpost.Detached, hitchpost.IsAlive
	return s
}

func exit(code int) *hitchpost.Exit { return &hitchpost.Exit{Code: &code} }

func checked(state hitchpost.TaskState, code int) *hitchpost.Check {
	return &hitchpost.Check{TaskID: "0198c4e2", State: state, Exit: exit(code)}
}

type adviceCase struct {
	row     string
	name    string
	of      hitchpost.Standing
	change  func(*hitchpost.Standing)
	do      hitchpost.Step
	why     string // a part of it
	command string // behind `ssh host`
	then    string
}

func unclearAdvice() []adviceCase {
	return []adviceCase{
		{row: "closed", of: gone(), change: func(s *hitchpost.Standing) { s.Closed, s.State = true, hitchpost.Stopped },
			do: hitchpost.StepNone, why: "closed", command: "history api"},
		{row: "database away", of: gone(), change: func(s *hitchpost.Standing) { s.Database = false },
			do: hitchpost.StepWait, why: "the database is away", command: "status"},
		{row: "node offline", of: gone(),
			change: func(s *hitchpost.Standing) { s.Node, s.Alive = hitchpost.Offline, hitchpost.NotCertain },
			do:     hitchpost.StepWait, why: "vm is offline: its process may be alive there", command: "node ls"},
		{row: "on its way", name: "starting", of: gone(), change: func(s *hitchpost.Standing) { s.State = hitchpost.Starting },
			do: hitchpost.StepWait, why: "under way",
			command: "wait api --for RUNNING,DETACHED,WAITING_FOR_INPUT,STOPPED,FAILED,RECOVERABLE --timeout 30s"},
		{row: "on its way", name: "stopping", of: alive(), change: func(s *hitchpost.Standing) { s.State = hitchpost.Stopping },
			do: hitchpost.StepWait, why: "under way",
			command: "wait api --for RUNNING,DETACHED,WAITING_FOR_INPUT,STOPPED,FAILED,RECOVERABLE --timeout 30s"},
		{row: "just gone", of: alive(), change: func(s *hitchpost.Standing) { s.Alive = hitchpost.IsGone },
			do: hitchpost.StepWait, why: "just gone", command: "card api"},
		{row: "just come", of: gone(), change: func(s *hitchpost.Standing) { s.Alive = hitchpost.IsAlive },
			do: hitchpost.StepWait, why: "although it counts as RECOVERABLE", command: "card api"},
		{row: "not certain", of: alive(),
			change: func(s *hitchpost.Standing) { s.Alive, s.How = hitchpost.NotCertain, "tmux does not answer" },
			do:     hitchpost.StepWait, why: "nobody knows whether it is alive: tmux does not answer", command: "status"},
		{row: "not certain", name: "of one that ended", of: gone(),
			change: func(s *hitchpost.Standing) { s.Alive = hitchpost.NotCertain },
			do:     hitchpost.StepWait, why: "nobody knows whether it is alive", command: "status"},
	}
}

func aliveAdvice() []adviceCase {
	other := []hitchpost.OtherProcess{{Pid: 7, Agent: "claude", Session: "web"}}
	return []adviceCase{
		{row: "waiting", of: alive(), change: func(s *hitchpost.Standing) {
			s.State, s.Reason = hitchpost.WaitingForInput, "may it run make?"
		}, do: hitchpost.StepAnswer, why: "it waits for you: may it run make?", command: "attach api"},
		{row: "uncertain", of: alive(), change: func(s *hitchpost.Standing) { s.Uncertain = "hook says idle, register says busy" },
			do: hitchpost.StepAttach, why: "uncertain: hook says idle, register says busy", command: "attach api"},
		{row: "alive", of: alive(), change: func(*hitchpost.Standing) {}, do: hitchpost.StepAttach, why: "it is alive",
			command: "attach api"},
		{row: "alive", name: "whatever the tree says", of: alive(), change: func(s *hitchpost.Standing) {
			s.Dirty, s.Conflict, s.HasCheck, s.Unseen = true, 3, true, hitchpost.Unknown{Why: hitchpost.TookTooLong}
		}, do: hitchpost.StepAttach, why: "it is alive", command: "attach api"},
		{row: "alive", name: "database away", of: alive(), change: func(s *hitchpost.Standing) { s.Database = false },
			do: hitchpost.StepAttach, why: "the database is away, and to attach works all the same", command: "attach api"},
		{row: "alive", name: "beside another agent", of: alive(), change: func(s *hitchpost.Standing) { s.Agents = other },
			do: hitchpost.StepAttach, why: "beware, another agent works in the same tree: claude (process 7 of session web)",
			command: "attach api"},
	}
}

func blockedAdvice() []adviceCase {
	since := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	status := "task run --wait --session api -- git status"
	return []adviceCase{
		{row: "left behind", of: gone(), change: func(s *hitchpost.Standing) {
			s.Left = []hitchpost.OtherProcess{{Pid: 7, Program: "ma\x1bke", Since: since}, {Pid: 9, Program: "cc"}}
		}, do: hitchpost.StepHold, why: "left behind ma\ufffdke (process 7, since 2026-11-30 09:00:00Z), cc (process 9)",
			command: "task run --wait -- ps -o pid,ppid,etime,args -p 7,9"},
		{row: "another agent", of: gone(), change: func(s *hitchpost.Standing) {
			s.Agents = []hitchpost.OtherProcess{{Pid: 7, Agent: "codex"}}
		}, do: hitchpost.StepHold, why: "another agent works in the same tree: codex (process 7)",
			command: "task run --wait -- ps -o pid,ppid,etime,args -p 7"},
		{row: "another agent", name: "of a session", of: gone(), change: func(s *hitchpost.Standing) {
			s.Agents = []hitchpost.OtherProcess{{Pid: 7, Agent: "claude", Session: "web"}}
		}, do: hitchpost.StepHold, why: "process 7 of session web", command: "attach web"},
		{row: "not looked at", of: gone(), change: func(s *hitchpost.Standing) {
			s.Unseen = hitchpost.Unknown{Why: hitchpost.TookTooLong}
		}, do: hitchpost.StepHold, why: "nobody knows what else works in its tree: took too long", command: "card api"},
		{row: "directory gone", of: gone(), change: func(s *hitchpost.Standing) {
			s.Tree, s.Refused = hitchpost.Unknown{Why: hitchpost.NoDirectory}, "no directory"
		}, do: hitchpost.StepLook, why: "its directory is gone", command: "history api"},
		{row: "conflicts", of: gone(), change: func(s *hitchpost.Standing) { s.Conflict, s.Dirty, s.Unended = 2, true, "merge" },
			do: hitchpost.StepLook, why: "2 files are in conflict, in an unfinished merge", command: status},
		{row: "unfinished", of: gone(), change: func(s *hitchpost.Standing) { s.Unended = "rebase" },
			do: hitchpost.StepLook, why: "in the middle of a rebase", command: status},
		{row: "tree unknown", of: gone(), change: func(s *hitchpost.Standing) {
			s.Tree = hitchpost.Unknown{Why: "dubious ownership", Detail: "of root"}
		}, do: hitchpost.StepLook, why: "nobody knows what changed: dubious ownership: of root", command: status},
	}
}

func overAdvice() []adviceCase {
	passed, failed := checked(hitchpost.TaskSucceeded, 0), checked(hitchpost.TaskFailed, 2)
	check := func(last *hitchpost.Check, stale hitchpost.Staleness) func(*hitchpost.Standing) {
		return func(s *hitchpost.Standing) { s.HasCheck, s.Last, s.Stale = true, last, stale }
	}
	return []adviceCase{
		{row: "check runs", of: gone(),
			change: check(&hitchpost.Check{TaskID: "0198c4e2", State: hitchpost.TaskRunning}, hitchpost.Fresh),
			do:     hitchpost.StepWait, why: "its check is running", command: "task wait 0198c4e2"},
		{row: "unchecked", name: "never ran", of: gone(), change: check(nil, ""), do: hitchpost.StepCheck,
			why: "never run", command: "check api"},
		{row: "unchecked", name: "stale", of: gone(), change: check(passed, hitchpost.Stale), do: hitchpost.StepCheck,
			why: "files have changed since its check passed", command: "check api"},
		{row: "unchecked", name: "failed and stale", of: gone(), change: check(failed, hitchpost.Stale), do: hitchpost.StepCheck,
			why: "files have changed since its check failed with exit 2", command: "check api"},
		{row: "unchecked", name: "nobody knows", of: gone(), change: check(passed, hitchpost.StaleUnknown), do: hitchpost.StepCheck,
			why: "nobody knows whether files have changed since its check passed", command: "check api"},
		{row: "unchecked", name: "cancelled", of: gone(),
			change: check(&hitchpost.Check{State: hitchpost.TaskCancelled}, hitchpost.Fresh),
			do:     hitchpost.StepCheck, why: "came to no result", command: "check api"},
		{row: "done", name: "ended well without a check", of: gone(), change: func(s *hitchpost.Standing) {
			s.State, s.Exit = hitchpost.Stopped, exit(0)
		}, do: hitchpost.StepClose, why: "it ended with exit 0, everything is committed", command: "close api"},
		{row: "done", name: "checked and committed", of: gone(), change: func(s *hitchpost.Standing) {
			check(passed, hitchpost.Fresh)(s)
			s.Since = 2
		}, do: hitchpost.StepClose, why: "its check passed on the files as they are, everything is committed", command: "close api"},
		{row: "done", name: "checked outside of a repository", of: gone(), change: func(s *hitchpost.Standing) {
			check(passed, hitchpost.StaleUnknown)(s)
			s.State, s.Exit, s.Tree = hitchpost.Stopped, exit(0), hitchpost.Unknown{Why: hitchpost.NoRepository}
		}, do: hitchpost.StepClose, why: "it ended with exit 0, its check passed", command: "close api"},
		{row: "unpushed", of: gone(), change: func(s *hitchpost.Standing) {
			check(passed, hitchpost.Fresh)(s)
			s.Since, s.Unpushed = 2, 1
		}, do: hitchpost.StepLook, why: "1 commit is on no remote",
			command: "task run --wait --session api -- git log --oneline HEAD --not --remotes"},
		{row: "refused", of: gone(), change: func(s *hitchpost.Standing) { s.Refused, s.Dirty = "nobody knows its conversation", true },
			do: hitchpost.StepLook, why: "a restart would be refused: nobody knows its conversation", command: "history api"},
		{row: "dirty", of: gone(), change: func(s *hitchpost.Standing) { s.Dirty = true }, do: hitchpost.StepCheckpoint,
			why: "its process is gone, and its tree holds work that no commit has", command: "checkpoint api", then: "restart api"},
		{row: "dirty", name: "that passed its check", of: gone(), change: func(s *hitchpost.Standing) {
			check(passed, hitchpost.Fresh)(s)
			s.Dirty, s.State, s.Exit = true, hitchpost.Stopped, exit(0)
		}, do: hitchpost.StepCheckpoint, why: "(exit 0)", command: "checkpoint api", then: "restart api"},
		{row: "gone", name: "clean", of: gone(), change: func(*hitchpost.Standing) {}, do: hitchpost.StepRestart,
			why: "its process is gone", command: "restart api"},
		{row: "gone", name: "kept", of: gone(), change: func(s *hitchpost.Standing) { s.Dirty, s.Kept = true, true },
			do: hitchpost.StepRestart, why: "its newest checkpoint holds the tree as it is", command: "restart api"},
		{row: "gone", name: "failed its check", of: gone(), change: func(s *hitchpost.Standing) {
			check(failed, hitchpost.Fresh)(s)
			s.State, s.Exit, s.Since = hitchpost.Failed, exit(1), 4
		}, do: hitchpost.StepRestart, why: "its process is gone (exit 1)", command: "restart api"},
		{row: "gone", name: "passed, but neither ended nor committed", of: gone(), change: check(passed, hitchpost.Fresh),
			do: hitchpost.StepRestart, why: "its process is gone", command: "restart api"},
	}
}

func TestAdviseDecidesByItsTable(t *testing.T) {
	t.Parallel()
	hit := map[string]bool{}
	for _, c := range slices.Concat(unclearAdvice(), aliveAdvice(), blockedAdvice(), overAdvice()) {
		hit[c.row] = true
		s := c.of
		c.change(&s)
		got := hitchpost.Advise(s)
		if got.Row != c.row || got.Do != c.do || !strings.Contains(got.Why, c.why) ||
			strings.Join(got.Command, " ") != c.command || strings.Join(got.Then, " ") != c.then {
			t.Errorf("%s %s: got %+v\nwant %s, %q, %q then %q", c.row, c.name, got, c.do, c.why, c.command, c.then)
		}
	}
	for _, row := range hitchpost.AdviceRows() {
		if !hit[row] {
			t.Errorf("no case is of the row %q", row)
		}
	}
}

// What is not known is never a reason to begin, end or close something.
func TestAdviseTakesUnknownForNothingGood(t *testing.T) {
	t.Parallel()
	began := []hitchpost.Step{hitchpost.StepRestart, hitchpost.StepClose, hitchpost.StepCheckpoint}
	for name, unknown := range map[string]func(*hitchpost.Standing){
		"alive":    func(s *hitchpost.Standing) { s.Alive = hitchpost.NotCertain },
		"tree":     func(s *hitchpost.Standing) { s.Tree = hitchpost.Unknown{Why: hitchpost.TookTooLong} },
		"others":   func(s *hitchpost.Standing) { s.Unseen = hitchpost.Unknown{Why: hitchpost.NotYet} },
		"check":    func(s *hitchpost.Standing) { s.HasCheck, s.Last, s.Stale = true, nil, hitchpost.StaleUnknown },
		"database": func(s *hitchpost.Standing) { s.Database = false },
	} {
		for _, state := range hitchpost.States() {
			s := gone()
			s.State, s.Exit = state, exit(0)
			unknown(&s)
			if got := hitchpost.Advise(s); slices.Contains(began, got.Do) {
				t.Errorf("%s unknown in state %s: %+v", name, state, got)
			}
		}
	}
}
