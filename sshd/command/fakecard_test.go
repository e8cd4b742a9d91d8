package command_test

import (
	"context"
	"strings"
	"time"

	"github.com/hitchpost/hitchpost"
)

func (f *fake) Card(_ context.Context, _ hitchpost.Actor, ref string, show func(hitchpost.Card)) (hitchpost.Card, error) {
	f.note(ref, "card")
	s, err := f.one(ref)
	if s.Handle == "api" {
		return fullCard(s), err
	}
	return bareCard(s), err
}

func (f *fake) RunCheck(_ context.Context, _ hitchpost.Actor, ref string) (hitchpost.Task, error) {
	f.note(ref, "check")
	return f.tasks.task, f.err
}

func (f *fake) SetCheck(_ context.Context, _ hitchpost.Actor, ref, command string) (hitchpost.Session, error) {
	f.note(ref, "set check "+command)
	return f.one(ref)
}

const hash = "0123456789abcdef0123456789abcdef01234567"

// evil is a text that would do harm on a terminal.
const evil = "e\x1b[31mvil\u202e\nnext\r\u009b1m"

// fullCard has everything, much of it chosen by somebody hostile.
func fullCard(s hitchpost.Session) hitchpost.Card {
	code := 1
	names := hitchpost.NameList{Count: 12, AtLeast: true, First: []string{"src/main.go", evil, "not utf-8 \xff", "日本.txt"}}
	commit := hitchpost.Commit{Hash: hash, Subject: "Fix " + evil, At: now.Add(-time.Hour)}
	commits := hitchpost.CommitList{Count: 1, First: []hitchpost.Commit{commit}}
	diff := hitchpost.DiffStat{Files: 2, Binary: 1, Insertions: 10, Deletions: 3, First: []hitchpost.FileStat{
		{Path: evil, Insertions: 10, Deletions: 3}, {Path: "image", Binary: true}}}
	other := hitchpost.OtherProcess{Pid: 44, Program: "claude", Command: []string{"claude", "--name", evil},
		Dir: "/home/dev/src/api", Account: "dev", Since: now.Add(-2 * time.Hour), Agent: "claude", Session: "web"}
	first := hitchpost.LiveProcess{Pid: 41, Parent: 1, Program: "sh", Command: []string{"sh", "-c", evil}, State: "sleep",
		CPU: 90 * time.Second, Share: 0.1, RSS: 3 << 20, Runs: 50 * time.Hour}
	return hitchpost.Card{
		At: now, Session: s, Whole: true,
		Database: hitchpost.Part{Reason: "connection refused", Since: now.Add(-time.Minute)},
		Process: hitchpost.CardProcess{
			Node:  hitchpost.Node{ID: nodeID, Name: "box", State: hitchpost.Online, Since: now},
			Alive: hitchpost.IsGone, How: "exit 7, and tmux does not know it any more",
			Tree: []hitchpost.LiveProcess{
				first,
				{Pid: 42, Parent: 41, Depth: 1, Program: evil, Runs: time.Second},
			},
			More: 3, CPU: 91 * time.Second, Share: 0.2, RSS: 4 << 20,
			Left: []hitchpost.OtherProcess{{Pid: 43, Program: evil}}, Others: []hitchpost.OtherProcess{other}, Hidden: 2,
		},
		Repo: hitchpost.CardRepo{
			At: now, Name: "api", Top: "/home/dev/src/" + evil, Linked: true, Filters: []string{"lfs"}, Branch: "b" + evil,
			Upstream: "origin/" + evil, Ahead: 2, Behind: 1, Staged: names, Changed: names, Conflicted: names, Untracked: names,
			Stashes: 1, Operation: "rebase", Step: 2, Steps: 5, Of: evil, Head: commit, Since: commits, Unpushed: commits,
			FromHead: diff, FromCheckpoint: diff, Tree: hash,
			Checkpoint: &hitchpost.Checkpoint{N: 3, At: now.Add(-time.Hour), Message: evil, Commit: hash, Files: 4, LeftOut: 1},
		},
		Evidence: hitchpost.CardEvidence{
			Screen: []string{"$ make", strings.Repeat("wide 日本 ", 30), evil}, ScreenAt: now.Add(-time.Hour), Events: happened(),
			Tasks: []hitchpost.CardTask{{Task: ranTask(), Log: []string{evil, "ok"}}, {Task: ranTask(),
				LogWhy: hitchpost.Unknown{Why: hitchpost.TookTooLong}}}, TasksMore: 7,
		},
		Check: hitchpost.CardCheck{
			Last: &hitchpost.Check{SessionID: s.ID, TaskID: ranTask().ID, Command: "make test", State: hitchpost.TaskFailed,
				Exit: &hitchpost.Exit{Code: &code}, StartedAt: now.Add(-time.Hour), EndedAt: now.Add(-time.Minute), Commit: hash,
				Tree: hash, Dirty: true, Branch: evil},
			Stale: hitchpost.Stale, Why: "files have changed since",
		},
		Advice: hitchpost.Advice{
			Row: "another agent", Do: hitchpost.StepHold, Why: "another agent works in the same tree: claude (process 44 of session web)",
			Command: []string{"attach", "web"}, Then: []string{"restart", "api"},
			Restart: hitchpost.RestartPlan{Argv: []string{"make", "a b", evil}, Path: "/usr/bin/make", Dir: "/home/dev/src/api"},
		},
	}
}

// bareCard is one of which nothing is known.
func bareCard(s hitchpost.Session) hitchpost.Card {
	late := hitchpost.Unknown{Why: hitchpost.TookTooLong}
	return hitchpost.Card{
		At: now, Session: s, Whole: true, Database: hitchpost.Part{OK: true, Since: now},
		Process: hitchpost.CardProcess{
			Node:  hitchpost.Node{ID: nodeID, Name: "box", State: hitchpost.Offline, Reason: "no answer\x07", Since: now},
			Alive: hitchpost.NotCertain, How: "tmux does not answer: " + evil, Unknown: late, LeftWhy: late, OthersWhy: late,
		},
		Repo:     hitchpost.CardRepo{Unknown: hitchpost.Unknown{Why: "broken repository", Detail: "fatal: " + evil}},
		Evidence: hitchpost.CardEvidence{ScreenWhy: late, EventsWhy: late, TasksWhy: late},
		Check:    hitchpost.CardCheck{Unknown: late},
		Advice: hitchpost.Advice{Row: "node offline", Do: hitchpost.StepWait, Why: "box is offline: its process may be alive there",
			Command: []string{"node", "ls"}, Restart: hitchpost.RestartPlan{Unknown: late}},
	}
}
