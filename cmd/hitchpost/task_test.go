package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// taskDoc is as much of a task's document as the tests look at.
type taskDoc struct {
	ID         string   `json:"id"`
	Name       *string  `json:"name"`
	State      string   `json:"state"`
	Argv       []string `json:"argv"`
	ExitCode   *int     `json:"exit_code"`
	ExitSignal *string  `json:"exit_signal"`
	EndedAt    *string  `json:"ended_at"`
	LogBytes   int64    `json:"log_bytes"`
	Usage      *struct {
		MaxRSS int64 `json:"max_rss_bytes"`
	} `json:"usage"`
}

func (s *stack) taskOf(id string) taskDoc {
	s.t.Helper()
	var doc taskDoc
	if err := json.Unmarshal([]byte(s.ok("task", "show", id, "--json")), &doc); err != nil {
		s.t.Fatal(err)
	}
	return doc
}

// task starts a task and returns its id.
func (s *stack) task(words ...string) string {
	s.t.Helper()
	id := strings.TrimSpace(s.ok(append([]string{"task", "run", "--"}, words...)...))
	if len(id) != 36 {
		s.t.Fatalf("task run prints %q", id)
	}
	return id
}

// logs waits until a task has written just this.
func (s *stack) logs(id, want string) {
	s.t.Helper()
	s.eventually("log of the task is "+strconv.Quote(want), func() bool { return s.ok("task", "log", id) == want })
}

// The exit status, the output and the words of a task come through as they are.
func TestTaskRunWait(t *testing.T) {
	t.Parallel()
	s := start(t)
	long := strings.Repeat("x", 100_000)
	for _, c := range []struct {
		words []string
		out   string
		code  int
	}{
		{[]string{"true"}, "", 0},
		{[]string{"sh", "-c", "echo out; echo err >&2; exit 7"}, "out\nerr\n", 7},
		{[]string{"sh", "-c", "kill -9 $$"}, "", 137},
		{[]string{"printf", "%s\\n", "a b", "c;d", "$(x)", "it's", "", "#{pid}"}, "a b\nc;d\n$(x)\nit's\n\n#{pid}\n", 0},
		{[]string{"printf", "%s", long}, long, 0},
		// What the main process leaves behind holds nobody.
		{[]string{"sh", "-c", "sleep 1000 & echo done"}, "done\n", 0},
	} {
		began := time.Now()
		got := s.ssh(append([]string{"task", "run", "--wait", "--"}, c.words...)...)
		if got.out != c.out || got.err != "" || got.code != c.code {
			t.Errorf("%.60q: %.200v, want %.60q and %d", c.words, got, c.out, c.code)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%.60q took %v", c.words, took)
		}
	}
	// One document, the task's status, and stdout is nothing else.
	got := s.ssh("task", "run", "--wait", "--json", "--name", "a name", "--", "sh", "-c", "echo out; exit 5")
	var doc taskDoc
	if err := json.Unmarshal([]byte(got.out), &doc); err != nil || got.code != 5 || doc.State != "FAILED" || doc.LogBytes != 4 ||
		doc.ExitCode == nil || *doc.ExitCode != 5 || doc.Usage == nil || doc.Usage.MaxRSS <= 0 || doc.Name == nil || *doc.Name != "a name" {
		t.Errorf("%+v: %v", got, err)
	}
	if again := s.ssh("task", "wait", doc.ID[:30]); again.code != 5 || !strings.HasPrefix(again.out, doc.ID+"  FAILED  5") {
		t.Errorf("%+v", again)
	}
}

func TestTaskRefusesBeforeItStarts(t *testing.T) {
	t.Parallel()
	s := start(t)
	for want, line := range map[string]string{
		"open quote":        "task run -- echo 'a",
		"needs a command":   "task run --wait",
		"command not found": "task run -- no-such-program",
		"no directory":      "task run --cwd /no/such -- true",
		"does not take":     "task run true",
		"is of no use":      "task run --timeout 0s -- true",
		"no duration":       "task run --timeout 20 -- true",
		"no session":        "task run --session nope -- true",
		"no task":           "task show nope",
		"no state":          "task ls --state BUSY",
	} {
		got := s.ssh(line)
		if (got.code != 2 && got.code != 3) || got.out != "" || !strings.Contains(got.err, want) || strings.Count(got.err, "\n") != 1 {
			t.Errorf("%s: %+v, want %q", line, got, want)
		}
	}
	if out := s.ok("task", "ls", "--json"); strings.TrimSpace(out) != `{"version":1,"tasks":[]}` {
		t.Errorf("something was made: %s", out)
	}
}

// The client's input reaches the task, to its end and not beyond it.
func TestTaskStdin(t *testing.T) {
	t.Parallel()
	s := start(t)
	if got := s.sshIn("a\nb\n", "task", "run", "--stdin", "--", "wc", "-l"); strings.TrimSpace(got.out) != "2" || got.code != 0 || got.err != "" {
		t.Errorf("%+v", got)
	}
	if got := s.sshIn("", "task", "run", "--wait", "--stdin", "--", "wc", "-c"); strings.TrimSpace(got.out) != "0" || got.code != 0 {
		t.Errorf("%+v", got)
	}
	// Without --stdin nothing of it is read.
	if got := s.sshIn("a\nb\n", "task", "run", "--wait", "--", "wc", "-c"); strings.TrimSpace(got.out) != "0" || got.code != 0 {
		t.Errorf("%+v", got)
	}
	// An input that never ends holds up no task that does not read it.
	r, w, err := os.Pipe()
	must(t, err)
	defer w.Close()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ssh", s.sshArgs("task", "run", "--stdin", "--", "echo", "done")...)
	cmd.Stdin, cmd.Env = r, s.env
	out, err := cmd.Output()
	must(t, r.Close())
	if err != nil || string(out) != "done\n" {
		t.Errorf("%q %v", out, err)
	}
}

// Whoever starts a task and leaves it is told what is worth telling, and may come back to it.
func TestTaskInBackground(t *testing.T) {
	t.Parallel()
	s := start(t)
	got := s.ssh("task", "run", "--", "sh", "-c", "echo first; echo second; exit 3")
	if id := strings.TrimSpace(got.out); got.code != 0 || len(id) != 36 || !strings.Contains(got.err, "exit 3 (first / second)") {
		t.Errorf("%+v", got)
	}
	id := s.task("sh", "-c", "for i in 1 2 3; do echo line $i; done; exec sleep 1000")
	s.logs(id, "line 1\nline 2\nline 3\n")
	if out := s.ok("task", "log", id, "--tail", "1"); out != "line 3\n" {
		t.Errorf("tail: %q", out)
	}
	if out := s.ok("task", "ls", "--state", "running", "--json"); !strings.Contains(out, id) || strings.Count(out, `"id"`) != 1 {
		t.Errorf("%s", out)
	}
	if got := s.ssh("task", "wait", id, "--timeout", "200ms"); got.code != 124 || got.out != "" || !strings.Contains(got.err, "still running") {
		t.Errorf("%+v", got)
	}
	follow := make(chan answer, 1)
	go func() { follow <- s.ssh("task", "log", id, "--follow") }()
	if got := s.ssh("task", "cancel", id); got.code != 0 || !strings.Contains(got.out, "CANCELLED  SIGTERM") {
		t.Errorf("%+v", got)
	}
	if got := <-follow; got.code != 0 || got.out != "line 1\nline 2\nline 3\n" {
		t.Errorf("follow: %+v", got)
	}
	if got := s.ssh("task", "wait", id); got.code != 143 || !strings.Contains(got.err, "is CANCELLED") {
		t.Errorf("%+v", got)
	}
	if got := s.ssh("task", "cancel", id, "--json"); got.code != 4 || !strings.Contains(got.err, `"code":"conflict"`) {
		t.Errorf("%+v", got)
	}
	if got := s.ssh("task", "run", "--wait", "--timeout", "300ms", "--", "sleep", "1000"); got.code != 124 ||
		!strings.Contains(got.err, "is FAILED: took longer than its limit of 300ms") {
		t.Errorf("%+v", got)
	}
}

// A client that drops, a service that is stopped and one that is killed leave a task alone. Its output goes on, and its
// end is known.
func TestTaskOutlivesClientAndService(t *testing.T) {
	t.Parallel()
	s := start(t)
	gate := s.path("gate")
	must(t, syscall.Mkfifo(gate, 0o600))
	starts := s.path("starts")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out buffer
	client := exec.CommandContext(ctx, "ssh", s.sshArgs("task", "run", "--wait", "--", "sh", "-c",
		"echo start >> "+starts+"; echo up; read x < "+gate+"; echo $x; exit 9")...)
	client.Env, client.Stdout, client.Stderr = s.env, &out, &out
	must(t, client.Start())
	s.eventually("the task is up", func() bool { return strings.Contains(out.String(), "up\n") })
	cancel() // KILL
	_ = client.Wait()

	var list struct{ Tasks []taskDoc }
	must(t, json.Unmarshal([]byte(s.ok("task", "ls", "--json")), &list))
	if len(list.Tasks) != 1 || list.Tasks[0].State != "RUNNING" {
		t.Fatalf("%+v", list)
	}
	id := list.Tasks[0].ID
	waits := make(chan answer, 1)
	go func() { waits <- s.ssh("task", "wait", id) }()
	s.eventually("somebody waits", func() bool { return strings.Count(s.log.String(), "logged in") >= 3 })
	s.settled() // logged in is not yet waiting
	s.down(syscall.SIGTERM)
	if got := <-waits; got.code != 75 || got.out != "" {
		t.Errorf("the service stops: %+v", got)
	}
	s.up()
	s.down(syscall.SIGKILL)
	f, err := os.OpenFile(gate, os.O_WRONLY, 0) // waits for the reader
	must(t, err)
	_, err = f.WriteString("through\n")
	must(t, err)
	must(t, f.Close())
	s.eventually("the task ends", func() bool {
		_, err := os.Stat(filepath.Join(s.path("data/tasks"), id, "exit.json"))
		return err == nil
	})
	s.up()
	if got := s.ssh("task", "wait", id); got.code != 9 {
		t.Errorf("%+v", got)
	}
	if doc := s.taskOf(id); doc.State != "FAILED" || doc.Usage == nil || doc.EndedAt == nil {
		t.Errorf("%+v", doc)
	}
	s.logs(id, "up\nthrough\n")
	if text, err := os.ReadFile(starts); err != nil || string(text) != "start\n" {
		t.Errorf("starts: %q %v", text, err)
	}
}

// A reboot loses what runs: LOST, without an end, and nothing starts again.
func TestTaskLostAtReboot(t *testing.T) {
	t.Parallel()
	s := start(t)
	starts := s.path("starts")
	id := s.task("sh", "-c", "echo start >> "+starts+"; echo up; exec sleep 1000")
	s.logs(id, "up\n")
	waits := make(chan answer, 1)
	go func() { waits <- s.ssh("task", "wait", id) }()
	s.killTmux()
	if got := <-waits; got.code != 1 || !strings.Contains(got.err, "is LOST") {
		t.Errorf("%+v", got)
	}
	s.down(syscall.SIGKILL)
	s.up()
	if doc := s.taskOf(id); doc.State != "LOST" || doc.EndedAt != nil || doc.ExitCode != nil || doc.ExitSignal != nil {
		t.Errorf("%+v", doc)
	}
	s.logs(id, "up\n")
	if text, err := os.ReadFile(starts); err != nil || string(text) != "start\n" {
		t.Errorf("starts: %q %v", text, err)
	}
}

// Ctrl-C ends the wait and not the task, and says so.
func TestTaskWaitIsLeft(t *testing.T) {
	t.Parallel()
	s := start(t)
	term := s.open(200, 24, "task", "run", "--wait", "--", "sh", "-c", "echo up; exec sleep 1000")
	term.sees("up")
	term.keys("C-c")
	if code := term.left(); code != 130 || !strings.Contains(term.screen(), "goes on") {
		t.Errorf("status %d\n%s", code, term.screen())
	}
	var list struct{ Tasks []taskDoc }
	must(t, json.Unmarshal([]byte(s.ok("task", "ls", "--json")), &list))
	if len(list.Tasks) != 1 || list.Tasks[0].State != "RUNNING" {
		t.Errorf("%+v", list)
	}
}
