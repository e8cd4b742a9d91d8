package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
)

const taskID = "0198c4e2-7c00-7000-8000-000000000001"

func startedTask() hitchpost.Task {
	return hitchpost.Task{
		ID: taskID, Node: "box", Cwd: "/srv", Argv: []string{"sh", "-c", "make it"}, State: hitchpost.TaskRunning, Actor: "ann",
		StartedAt: now.Add(-time.Minute),
	}
}

// ranTask is a task with a value in every field.
func ranTask() hitchpost.Task {
	zero := 0
	t := startedTask()
	t.Name, t.SessionID, t.State, t.Reason, t.ExitCode = "nightly\x1b[31m", "0190f5fe-7c00-7000-8000-000000000001",
		hitchpost.TaskSucceeded, "exit 0", &zero
	t.Timeout, t.EndedAt, t.LogBytes = time.Hour, now, 1234
	t.Usage = &hitchpost.Usage{User: 1500 * time.Millisecond, System: 250 * time.Millisecond, MaxRSS: 5 << 20}
	return t
}

func (c client) task(t *testing.T, ended hitchpost.Task, line string) (*fake, result) {
	t.Helper()
	f := &fake{tasks: fakeTasks{task: startedTask(), ended: ended, log: "out\n", fed: make(chan string, 1)}}
	c.t, c.service = t, f
	return f, c.line(line)
}

// The status of a task is its own, and what the status does not explain is told on stderr.
func TestTaskStatus(t *testing.T) {
	t.Parallel()
	seven := 7
	for name, c := range map[string]struct {
		end    hitchpost.Task
		status int
		says   string
	}{
		"well":      {hitchpost.Task{State: hitchpost.TaskSucceeded, ExitCode: new(int)}, 0, ""},
		"code":      {hitchpost.Task{State: hitchpost.TaskFailed, ExitCode: &seven, Reason: "exit 7"}, 7, ""},
		"signal":    {hitchpost.Task{State: hitchpost.TaskFailed, ExitSignal: "KILL"}, 137, ""},
		"limit":     {hitchpost.Task{State: hitchpost.TaskFailed, ExitSignal: "TERM", TimedOut: true, Reason: "too long"}, 124, "is FAILED: too long"},
		"cancelled": {hitchpost.Task{State: hitchpost.TaskCancelled, ExitSignal: "TERM", Reason: "cancelled"}, 143, "is CANCELLED: cancelled"},
		"never ran": {hitchpost.Task{State: hitchpost.TaskFailed, Reason: "no tmux\x1b[m"}, 1, "is FAILED: no tmux\uFFFD[m"},
		"lost":      {hitchpost.Task{State: hitchpost.TaskLost, Reason: "gone"}, 1, "is LOST: gone"},
	} {
		c.end.ID = taskID
		says := ""
		if c.says != "" {
			says = "hitchpost: task " + taskID + " " + c.says + "\n"
		}
		if _, r := (client{}).task(t, c.end, "task run --wait -- make"); r.status != c.status || r.out != "out\n" || r.errors != says {
			t.Errorf("%s: run --wait: %+v", name, r)
		}
		if _, r := (client{}).task(t, c.end, "task wait x"); r.status != c.status || !strings.HasPrefix(r.out, taskID+"  ") || r.errors != says {
			t.Errorf("%s: wait: %+v", name, r)
		}
	}
}

func TestTaskRequests(t *testing.T) {
	t.Parallel()
	line := `task run --name 'a b' --session api --cwd src --node box --timeout 1h30m -- printf '%s\n' "a b" 'c;d' '$(x)' "it's" --json`
	f, r := (client{}).task(t, ranTask(), line)
	want := hitchpost.TaskRequest{
		Name: "a b", Session: "api", Cwd: "src", Node: "box", Timeout: 90 * time.Minute,
		Argv: []string{"printf", `%s\n`, "a b", "c;d", "$(x)", "it's", "--json"},
	}
	if diff := cmp.Diff(want, f.asked[0]); diff != "" || r.status != 0 || r.out != taskID+"\n" || r.errors != "" {
		t.Errorf("%+v\n%s", r, diff)
	}
	five := 5
	for line, want := range map[string]any{
		"task ls --state running,LOST --session api --node n": hitchpost.TaskListRequest{
			States: []hitchpost.TaskState{hitchpost.TaskRunning, hitchpost.TaskLost}, Session: "api", Node: "n"},
		"task log x":                   hitchpost.TaskLogRequest{},
		"task log x --tail 5 --follow": hitchpost.TaskLogRequest{Tail: &five, Follow: true},
		"task cancel x":                "task cancel",
	} {
		f, r := (client{}).task(t, ranTask(), line)
		if diff := cmp.Diff(want, f.asked[0]); diff != "" || r.status != 0 || r.errors != "" {
			t.Errorf("%s: %+v\n%s", line, r, diff)
		}
	}
}

// Input is fed where it was asked for, which waits as well.
func TestTaskInputIsFed(t *testing.T) {
	t.Parallel()
	f, r := (client{stdin: "some\ninput"}).task(t, ranTask(), "task run --stdin -- cat")
	if got := <-f.tasks.fed; got != "some\ninput" || r.out != "out\n" || r.status != 0 || r.errors != "" {
		t.Errorf("fed %q: %+v", got, r)
	}
	if f, _ := (client{stdin: "some"}).task(t, ranTask(), "task run --wait -- cat"); len(f.tasks.fed) != 0 {
		t.Error("input is taken that nobody asked for")
	}
}

// One that fails at once is told of with the beginning of its log; the verb has done what it was asked.
func TestTaskThatFailsAtOnce(t *testing.T) {
	t.Parallel()
	two := 2
	end := startedTask()
	end.State, end.ExitCode, end.Reason = hitchpost.TaskFailed, &two, "exit 2"
	_, r := (client{}).task(t, end, "task run -- make")
	if r.status != 0 || r.out != taskID+"\n" || r.errors != "hitchpost: task "+taskID+" ended at once: exit 2 (out)\n" {
		t.Errorf("%+v", r)
	}
	// A script has the document alone, and at once.
	f, r := (client{}).task(t, end, "task run --json -- make")
	if r.status != 0 || r.errors != "" || len(f.asked) != 1 {
		t.Errorf("%+v, asked %v", r, f.asked)
	}
	if _, r := (client{}).task(t, end, "task wait x --json"); r.status != 2 || r.errors != "" {
		t.Errorf("%+v", r)
	}
}

// A wait that is over ends with status 124 and no data; the task goes on.
func TestTaskWaitTimeout(t *testing.T) {
	t.Parallel()
	_, r := (client{}).task(t, hitchpost.Task{}, "task wait x --timeout 1ms")
	if r.status != 124 || r.out != "" || !strings.Contains(r.errors, "is still running: wait again, or end it with `task cancel") {
		t.Errorf("%+v", r)
	}
}

// Where nobody can say how a task ended the status is that of "try again", and the task is named: it ran, and a script
// that runs it again for the status would run it twice.
func TestTaskThatIsWaitedForWhileTheDatabaseGoesAway(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"task run --wait -- make", "task run --wait --json -- make"} {
		away := hitchpost.Errorf(hitchpost.UnavailableError, "the database is away").Hinted("try again")
		c := client{t: t, service: &fake{tasks: fakeTasks{
			task: startedTask(), log: "out\n", fed: make(chan string, 1), lost: away,
		}}}
		r := c.line(line)
		if r.status != 75 || !strings.Contains(r.errors, "the database is away; task "+taskID+" goes on") ||
			!strings.Contains(r.errors, "task wait "+taskID) || strings.Contains(r.errors, "try again") {
			t.Errorf("%s: %+v", line, r)
		}
	}
}

func TestTaskDocuments(t *testing.T) {
	t.Parallel()
	const document = `{"id":"0198c4e2-7c00-7000-8000-000000000001","name":null,"session_id":null,"node":"box","cwd":"/srv",` +
		`"argv":["sh","-c","make it"],"state":"RUNNING","state_reason":null,"exit_code":null,"exit_signal":null,"timed_out":false,` +
		`"actor":"ann","started_at":"2026-03-04T05:05:07.000Z","ended_at":null,"log_bytes":0,"usage":null}`
	const ended = `{"id":"0198c4e2-7c00-7000-8000-000000000001","name":"nightly\u001b[31m",` +
		`"session_id":"0190f5fe-7c00-7000-8000-000000000001","node":"box","cwd":"/srv","argv":["sh","-c","make it"],` +
		`"state":"SUCCEEDED","state_reason":"exit 0","exit_code":0,"exit_signal":null,"timed_out":false,"actor":"ann",` +
		`"started_at":"2026-03-04T05:05:07.000Z","ended_at":"2026-03-04T05:06:07.000Z","log_bytes":1234,` +
		`"usage":{"user_seconds":1.5,"system_seconds":0.25,"max_rss_bytes":5242880}}`
	for line, want := range map[string]string{
		"task show x --json":              document,
		"task run --json -- make":         document,
		"task ls --json":                  `{"version":1,"tasks":[` + document + `]}`,
		"task wait x --json":              ended,
		"task cancel x --json":            ended,
		"task run --wait --json -- make":  ended,
		"--json task run --wait -- make":  ended,
		"task run --stdin --json -- make": ended,
	} {
		from := client{}
		if strings.Contains(line, "--stdin") {
			from.stdin = "some"
		}
		if _, r := from.task(t, ranTask(), line); r.out != want+"\n" || r.status != 0 || r.errors != "" {
			t.Errorf("%s: %+v", line, r)
		}
	}
}

func TestTaskUsage(t *testing.T) {
	t.Parallel()
	for line, say := range map[string]string{
		"task":                               "`task` needs another word",
		"task nope":                          `no verb "task nope"`,
		"task run":                           "`task run` needs a command",
		"task run --wait --":                 "`task run` needs a command",
		"task run true":                      "`task run` does not take \"true\"",
		"task run --timeout 20 -- true":      "no duration",
		"task run --timeout 0s -- true":      "a task that is ended at once is of no use",
		"task ls x":                          "does not take",
		"task ls --state nope":               `no state "nope": use one of: RUNNING, SUCCEEDED, FAILED, CANCELLED, LOST`,
		"task show":                          "needs an ID",
		"task log":                           "needs an ID",
		"task log x --tail -1":               "--tail is at least 0",
		"task log x --tail x":                `invalid argument "x" for "--tail" flag: no whole number: see`,
		"task wait":                          "needs an ID",
		"task wait x y":                      "does not take",
		"task cancel":                        "needs an ID",
		"task run --session '' --nope -- ls": "unknown flag",
	} {
		f, r := (client{}).task(t, ranTask(), line)
		if r.status != 2 || r.out != "" || !strings.Contains(r.errors, say) || strings.Count(r.errors, "\n") != 1 || len(f.asked) > 0 {
			t.Errorf("%q: %+v, want %q", line, r, say)
		}
	}
}
