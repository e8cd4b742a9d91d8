package command

import (
	"time"

	"github.com/hitchpost/hitchpost"
)

// What is not known has a text beside it that says why: unknown, or NAME_unknown. It is null where it is known.

type cardView struct {
	At       stamp        `json:"at"`
	Session  sessionView  `json:"session"`
	Database partView     `json:"database"`
	Process  processView  `json:"process"`
	Repo     repoView     `json:"repository"`
	Evidence evidenceView `json:"evidence"`
	Check    checkView    `json:"check"`
	Advice   adviceView   `json:"advice"`
}

type processView struct {
	Node      nodeView           `json:"node"`
	Alive     hitchpost.Liveness `json:"alive"`
	How       string             `json:"how"`
	Unknown   *string            `json:"unknown"`
	Tree      []liveView         `json:"tree"`
	More      int                `json:"more"`
	CPU       float64            `json:"cpu_seconds"`
	Share     float64            `json:"cpu_share"`
	RSS       uint64             `json:"rss_bytes"`
	Left      []otherView        `json:"left"`
	LeftWhy   *string            `json:"left_unknown"`
	Others    []otherView        `json:"others"`
	OthersWhy *string            `json:"others_unknown"`
	Hidden    int                `json:"others_hidden"`
}

type liveView struct {
	Pid     int      `json:"pid"`
	Parent  int      `json:"parent"`
	Depth   int      `json:"depth"`
	Program string   `json:"program"`
	Argv    []string `json:"argv"`
	State   *string  `json:"state"`
	CPU     float64  `json:"cpu_seconds"`
	Share   float64  `json:"cpu_share"`
	RSS     uint64   `json:"rss_bytes"`
	Runs    float64  `json:"run_seconds"`
}

type otherView struct {
	Pid     int      `json:"pid"`
	Program string   `json:"program"`
	Argv    []string `json:"argv"`
	Dir     *string  `json:"dir"`
	Account *string  `json:"account"`
	Since   stamp    `json:"since"`
	Agent   *string  `json:"agent"`
	Session *string  `json:"session"`
}

func viewOther(o hitchpost.OtherProcess) otherView {
	return otherView{o.Pid, o.Program, orEmpty(o.Command), orNull(o.Dir), orNull(o.Account), at(o.Since), orNull(o.Agent),
		orNull(o.Session)}
}

func viewProcess(p hitchpost.CardProcess) processView {
	live := func(l hitchpost.LiveProcess) liveView {
		return liveView{l.Pid, l.Parent, l.Depth, l.Program, orEmpty(l.Command), orNull(l.State), l.CPU.Seconds(), l.Share, l.RSS,
			l.Runs.Round(time.Millisecond).Seconds()}
	}
	return processView{
		Node: viewNode(p.Node), Alive: p.Alive, How: p.How, Unknown: why(p.Unknown), Tree: each(p.Tree, live), More: p.More,
		CPU: p.CPU.Seconds(), Share: p.Share, RSS: p.RSS, Left: each(p.Left, viewOther), LeftWhy: why(p.LeftWhy),
		Others: each(p.Others, viewOther), OthersWhy: why(p.OthersWhy), Hidden: p.Hidden,
	}
}

type evidenceView struct {
	Screen    []string       `json:"screen"`
	SeenAt    stamp          `json:"screen_seen_at"` // null: now
	ScreenWhy *string        `json:"screen_unknown"`
	Events    []eventView    `json:"events"`
	EventsWhy *string        `json:"events_unknown"`
	Tasks     []cardTaskView `json:"tasks"`
	TasksMore int            `json:"tasks_more"`
	TasksWhy  *string        `json:"tasks_unknown"`
}

type cardTaskView struct {
	Task    taskView `json:"task"`
	Log     []string `json:"log"`
	Unknown *string  `json:"log_unknown"`
}

func viewEvidence(e hitchpost.CardEvidence) evidenceView {
	task := func(t hitchpost.CardTask) cardTaskView {
		return cardTaskView{viewTask(t.Task), orEmpty(t.Log), why(t.LogWhy)}
	}
	return evidenceView{orEmpty(e.Screen), at(e.ScreenAt), why(e.ScreenWhy), each(e.Events, viewEvent), why(e.EventsWhy),
		each(e.Tasks, task), e.TasksMore, why(e.TasksWhy)}
}

type checkView struct {
	Command *string              `json:"command"`
	Last    *lastCheckView       `json:"last"`
	Stale   *hitchpost.Staleness `json:"stale"`
	Why     *string              `json:"stale_why"`
	Unknown *string              `json:"unknown"`
}

type lastCheckView struct {
	TaskID     string              `json:"task_id"`
	Command    string              `json:"command"`
	State      hitchpost.TaskState `json:"state"`
	ExitCode   *int                `json:"exit_code"`
	ExitSignal *string             `json:"exit_signal"`
	StartedAt  stamp               `json:"started_at"`
	EndedAt    stamp               `json:"ended_at"`
	Branch     *string             `json:"branch"`
	Commit     *string             `json:"commit"`
	Tree       *string             `json:"tree"`
	Dirty      bool                `json:"dirty"`
	Unknown    *string             `json:"unknown"`
}

func viewCheck(command string, c hitchpost.CardCheck) checkView {
	v := checkView{Command: orNull(command), Stale: orNull(c.Stale), Why: orNull(c.Why), Unknown: why(c.Unknown)}
	if l := c.Last; l != nil {
		v.Last = &lastCheckView{
			TaskID: l.TaskID, Command: l.Command, State: l.State, StartedAt: at(l.StartedAt), EndedAt: at(l.EndedAt),
			Branch: orNull(l.Branch), Commit: orNull(l.Commit), Tree: orNull(l.Tree), Dirty: l.Dirty, Unknown: orNull(l.Saw),
		}
		if l.Exit != nil {
			v.Last.ExitCode, v.Last.ExitSignal = l.Exit.Code, orNull(l.Exit.Signal)
		}
	}
	return v
}

type adviceView struct {
	Do      hitchpost.Step `json:"do"`
	Row     string         `json:"row"`
	Why     string         `json:"why"`
	Command []string       `json:"command"` // the words behind `ssh host`; null: none
	Then    []string       `json:"then"`
	Restart planView       `json:"restart"`
}

type planView struct {
	Argv    []string `json:"argv"` // null: see unknown and refused
	Path    *string  `json:"path"`
	Dir     *string  `json:"dir"`
	Refused *string  `json:"refused"`
	Unknown *string  `json:"unknown"`
}

func viewCard(c hitchpost.Card) cardView {
	a := c.Advice
	return cardView{
		At: at(c.At), Session: viewSession(c.Session), Process: viewProcess(c.Process), Repo: viewRepo(c.Repo),
		Database: partView{c.Database.OK, orNull(c.Database.Reason), at(c.Database.Since)},
		Evidence: viewEvidence(c.Evidence), Check: viewCheck(c.Session.Check, c.Check),
		Advice: adviceView{a.Do, a.Row, a.Why, a.Command, a.Then, planView{a.Restart.Argv, orNull(a.Restart.Path),
			orNull(a.Restart.Dir), orNull(a.Restart.Refused), why(a.Restart.Unknown)}},
	}
}

func why(u hitchpost.Unknown) *string { return orNull(u.String()) }

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
