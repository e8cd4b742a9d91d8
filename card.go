package hitchpost

import "time"

// Card is the facts that somebody needs who comes back to a session after an interruption, in the order of recovery:
// machine and process, repository, evidence, note, check, and what to do next. Each part says whether it is known. The
// texts come from programs, agents, repositories and files of others: whoever shows them makes them safe first, see
// OneLine.
//
// The note is the session's.
type Card struct {
	At       time.Time // when the look began
	Session  Session
	Database Part // where it is away, what is of the store is as it was last known
	Process  CardProcess
	Repo     CardRepo
	Evidence CardEvidence
	Check    CardCheck
	Advice   Advice
	// Whole tells that no part is still to come: one that is not known by now will not be.
	Whole bool
}

// Unknown tells why something is not known. The zero value says that it is.
type Unknown struct {
	Why    string // a fixed text such as NotYet
	Detail string // what the system or a program said; may be empty
}

// The texts of Unknown.Why that code goes by. There are others.
const (
	NotYet       = "not known yet"
	TookTooLong  = "took too long"
	NotAsked     = "not asked for"     // it makes no sense for this session
	NoRepository = "no repository"     // the directory is in none
	NoDirectory  = "no such directory" // it was deleted
	NotHere      = "on another machine"
)

// Known reports whether it is known.
func (u Unknown) Known() bool { return u.Why == "" }

// String is the reason for people; empty where it is known.
func (u Unknown) String() string {
	if u.Detail == "" {
		return u.Why
	}
	return u.Why + ": " + u.Detail
}

// Liveness tells whether a session's process is there.
type Liveness string

// The ways in which a process may be there. Unknown is not gone.
const (
	IsAlive    Liveness = "alive"
	IsGone     Liveness = "gone"
	NotCertain Liveness = "unknown"
)

// CardProcess is where a session's process is and what else there is of it.
type CardProcess struct {
	Node  Node     // the machine, as last heard of
	Alive Liveness //
	How   string   // how that is known, for people

	Unknown Unknown        // of the tree; NotAsked where there is no process
	Tree    []LiveProcess  // the process, each followed by its children
	More    int            // processes beyond those
	CPU     time.Duration  // of all in the tree
	Share   float64        // of one core
	RSS     uint64         // bytes
	Left    []OtherProcess // of an earlier run: it outlived its terminal
	LeftWhy Unknown        // of Left
	Others  []OtherProcess // in the session's working tree and of no process above
	// OthersWhy is of Others. Hidden is how many processes of this account may work there and cannot be looked at.
	OthersWhy Unknown
	Hidden    int
}

// LiveProcess is one process of a session's tree.
type LiveProcess struct {
	Pid, Parent int
	Depth       int // 0 for the session's own process
	Program     string
	Command     []string
	State       string // such as running, sleep or zombie; empty: unknown
	CPU         time.Duration
	Share       float64 // of one core, since it began
	RSS         uint64  // bytes
	Runs        time.Duration
}

// OtherProcess is a process that is not of a session's present tree.
type OtherProcess struct {
	Pid     int
	Program string
	Command []string
	Dir     string // that it works in, empty: unknown
	Account string // whose it is, empty: unknown
	Since   time.Time
	Agent   string // which agent it is, such as claude; empty: none that is known
	Session string // handle of the session that it belongs to; empty: of none
}

// CardRepo is what git knows of the session's directory.
type CardRepo struct {
	Unknown Unknown // of all of it; where it is not known nothing else is
	At      time.Time
	Name    string // base name of Top
	Top     string
	Linked  bool // a worktree beside the repository's own
	Filters []string

	StatusWhy     Unknown // of these, to Stashes
	Branch        string  // empty: on no branch
	Upstream      string
	UpstreamGone  bool
	Ahead, Behind int
	Staged        NameList
	Changed       NameList
	Conflicted    NameList
	Stashes       int

	Untracked NameList
	Operation string // unfinished: merge, rebase, am, cherry-pick, revert or bisect; empty: none
	Step      int    // of Steps, where git tells
	Steps     int
	Of        string // the branch that Operation is about

	Head     Commit
	HeadWhy  Unknown
	Since    CommitList // made since the session began
	Unpushed CommitList // that no remote has
	NoRemote bool       // there is none

	FromHead       DiffStat    // tracked files against Head
	Checkpoint     *Checkpoint // the newest
	CheckpointWhy  Unknown     // of Checkpoint, which is nil also where none was made
	FromCheckpoint DiffStat    // all files against it
	// Tree names the contents of all files, tracked or not, but for the ignored: two that are equal are the same files.
	Tree    string
	TreeWhy Unknown
}

// Dirty reports whether there is something that no commit has.
func (r CardRepo) Dirty() bool {
	return r.Staged.Count+r.Changed.Count+r.Conflicted.Count+r.Untracked.Count > 0
}

// NameList is some of a list of paths, from the top of a repository; not necessarily UTF-8.
type NameList struct {
	Unknown Unknown
	Count   int
	AtLeast bool // there are more than Count
	First   []string
}

// CommitList is some of a list of commits, newest first.
type CommitList struct {
	Unknown Unknown
	Count   int
	AtLeast bool
	First   []Commit
}

// Commit is a commit of git.
type Commit struct {
	Hash    string
	Subject string // one line
	At      time.Time
}

// DiffStat is how much differs.
type DiffStat struct {
	Unknown               Unknown
	Files, Binary         int // Files includes those that are not text
	Insertions, Deletions int
	AtLeast               bool
	First                 []FileStat
}

// FileStat is how much differs in a file.
type FileStat struct {
	Path                  string
	Insertions, Deletions int
	Binary                bool
}

// CardEvidence is what is left of what a session showed, did and was told.
type CardEvidence struct {
	ScreenWhy Unknown
	Screen    []string  // the last lines that are not blank
	ScreenAt  time.Time // when they were seen; zero: now
	EventsWhy Unknown
	Events    []Event // the last ones, oldest first
	TasksWhy  Unknown
	Tasks     []CardTask // the last ones, oldest first
	TasksMore int        // older ones
	// The agent's last prompt, answer and tokens are in Session.Agent.
}

// CardTask is a task with the end of what it wrote.
type CardTask struct {
	Task   Task
	Log    []string // the last lines that are not blank
	LogWhy Unknown
}

// CardCheck is what is known of a session's check, whose command is Session.Check.
type CardCheck struct {
	Unknown Unknown
	Last    *Check // nil: it never ran
	// Stale tells of Last whether what it saw has changed since.
	Stale Staleness
	Why   string // of Stale, for people
}

// Check is one run of a session's check command.
type Check struct {
	SessionID string
	TaskID    string
	Command   string
	State     TaskState // of its task: SUCCEEDED where it passed
	Exit      *Exit     // nil while it runs, and where nobody saw how it ended
	StartedAt time.Time
	EndedAt   time.Time

	Commit string // that was checked out when it began; empty: unknown, or there was none
	Tree   string // the files as they were then, see CardRepo.Tree; empty: unknown
	Dirty  bool   // there was something that no commit had
	Branch string
	Saw    string // why Commit and Tree are not known, for people; empty: they are
}

// Passed reports whether the command ended with code 0.
func (c Check) Passed() bool { return c.State == TaskSucceeded }

// Staleness tells whether files are as a check saw them.
type Staleness string

// The kinds of staleness; empty where there is no check.
const (
	Fresh        Staleness = "fresh"
	Stale        Staleness = "stale"
	StaleUnknown Staleness = "unknown"
)

// Advice is the next safe command of a session.
type Advice struct {
	Row     string   // which row of the table it comes from, for whoever asks why
	Do      Step     //
	Why     string   // a sentence for people
	Command []string // the words behind `ssh host`; nil where no command helps
	Then    []string // and after it; nil: that shows itself on the next card
	Restart RestartPlan
}

// Step is a kind of advice.
type Step string

// The steps.
const (
	StepAttach     Step = "attach"
	StepAnswer     Step = "answer"     // attach, and answer what it waits for
	StepCheck      Step = "check"      // run the check first
	StepCheckpoint Step = "checkpoint" // keep the files, then restart
	StepRestart    Step = "restart"
	StepClose      Step = "close"
	StepHold       Step = "hold" // do not start anything
	StepLook       Step = "look" // look at something by hand first
	StepWait       Step = "wait" // nothing is known for sure just now
	StepNone       Step = "none"
)

// RestartPlan is what a Restart would run.
type RestartPlan struct {
	Unknown Unknown // NotAsked for a session that has not ended
	Argv    []string
	Path    string // of the program
	Dir     string
	Refused string // why it would be refused, and what to do then; empty: it would not
}
