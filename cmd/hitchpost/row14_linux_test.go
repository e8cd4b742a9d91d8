package main

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hitchpost/hitchpost/runtime/launch"
)

// findsNoSpace runs a command that finds no space: it says so in one line, prints no data and may be tried again.
func (s *stack) findsNoSpace(args ...string) {
	s.t.Helper()
	got := s.ssh(args...)
	if got.code != 75 || got.out != "" || !strings.Contains(got.err, "full") || !strings.Contains(got.err, "free space") ||
		strings.Count(got.err, "\n") != 1 {
		s.t.Errorf("%v on a full disk: %+v", args, got)
	}
}

// kept reads what is kept of a session's screen and fails unless it is whole.
func (s *stack) kept(id string) string {
	s.t.Helper()
	f, err := os.Open(s.path("data/sessions/" + id + "/screen.gz"))
	must(s.t, err)
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	must(s.t, err)
	text, err := io.ReadAll(z) // checks length and sum
	must(s.t, err)
	return string(text)
}

// files are the files of sessions and of exit records.
func (s *stack) files() []string {
	s.t.Helper()
	var found []string
	for _, pattern := range []string{"data/sessions/*/*", "data/sessions/*", "data/exits/*"} {
		names, err := filepath.Glob(s.path(pattern))
		must(s.t, err)
		found = append(found, names...)
	}
	return found
}

// TestRow14DiskFull fills the disk of the data directory while sessions run. The private PostgreSQL on it dies of that.
func TestRow14DiskFull(t *testing.T) {
	t.Parallel()
	s, disk := onSmallDisk(t, 200)
	s.up()
	s.counter("job")
	s.ok("new", "--title", "loud", "--", "sh", "-c", "while :; do date +%s%N; sleep 0.1; done")
	s.ok("new", "--title", "brief", "--", "sh", "-c", "read x; echo the last words; exit 3")
	s.ok("new", "--title", "quick", "--", "sh", "-c", "read x; echo parting words; exit 4")
	s.ok("new", "--title", "done", "--env", "SEEN=yes", "--", "sh", "-c", "echo finished $SEEN; read x")
	job, loud, brief := s.idOf("job"), s.idOf("loud"), s.idOf("brief")
	s.ok("stop", "done")
	term := s.open(80, 24, "attach", "job")
	term.sees("row 500")
	s.eventually("screens are kept", func() bool {
		_, err := os.Stat(s.path("data/sessions/" + job + "/screen.gz"))
		_, other := os.Stat(s.path("data/sessions/" + loud + "/screen.gz"))
		return err == nil && other == nil
	})
	sessions, files := s.ok("ls", "--all"), s.files()

	disk.fill()
	term.line("meanwhile")
	term.sees("row 501 meanwhile")
	s.findsNoSpace("new", "--title", "other", "--", "cat")
	s.findsNoSpace("new", "--title", "other", "--env", "A=b", "--", "cat")
	s.findsNoSpace("restart", "done")
	s.findsNoSpace("task", "run", "--", "true")
	s.findsNoSpace("task", "run", "--wait", "--json", "--", "true")
	if left, err := os.ReadDir(s.path("data/tasks")); len(left) > 0 {
		t.Errorf("left by tasks that were refused: %v, %v", left, err)
	}
	if now := s.ok("ls", "--all"); strings.Count(now, "\n") != strings.Count(sessions, "\n") || s.show("done").State != "STOPPED" {
		t.Errorf("left by what was refused:\n%s\nwas\n%s", now, sessions)
	}
	if now := s.files(); !slices.Equal(now, files) {
		t.Errorf("files are\n%s\nwere\n%s", strings.Join(now, "\n"), strings.Join(files, "\n"))
	}
	s.goesOnWithoutSpace(loud)

	s.outOfLog()
	list := s.withoutSpaceAndDatabase(brief)
	term.line("without a database")
	term.sees("row 502 without")

	disk.free()
	eventually(t, "the database is back", func() bool { return s.ssh("ls").code == 0 }, s.log.String)
	list.seesNot("database")
	if got := s.becomes("brief", "FAILED"); got.ExitCode == nil || *got.ExitCode != 3 {
		t.Errorf("exit code %v, want 3", got.ExitCode)
	}
	for handle, words := range map[string]string{"brief": "the last words", "quick": "parting words"} {
		s.eventually("the last screen is kept after all", func() bool {
			return strings.Contains(s.ssh("history", handle).out, words)
		})
	}
	s.ok("new", "--title", "other", "--", "cat")
	s.ok("rename", "job", "work")
	s.ok("restart", "done")
	s.eventually("what it was started with is known", func() bool { return strings.Contains(s.ok("history", "done"), "finished yes") })
	term.line("and on")
	term.sees("row 503 and on")
	s.kept(job)
	s.kept(brief)
	for _, name := range s.files() {
		if strings.HasPrefix(filepath.Base(name), ".") {
			t.Errorf("left behind: %s", name)
		}
	}
}

// goesOnWithoutSpace shows that what needs no space goes on: who looks sees all of it, and what was kept stays whole.
func (s *stack) goesOnWithoutSpace(loud string) {
	s.t.Helper()
	again := s.open(80, 24, "attach", "job")
	again.sees("row 501 meanwhile")
	wholeHistory(s.t, again.all(), 501)
	again.keys("C-]")
	again.left()
	wholeHistory(s.t, s.ok("history", "job"), 501)
	before := s.ok("capture", "loud")
	s.eventually("the loud one prints", func() bool { return s.ok("capture", "loud") != before })
	if text := s.kept(loud); len(text) < 100 {
		s.t.Errorf("kept of the loud one: %q", text)
	}
	if text := s.ok("history", "done"); !strings.Contains(text, "finished yes") {
		s.t.Errorf("history of an ended session: %q", text)
	}
	_, err := s.tmux("send-keys", "-t", "=hp-"+s.idOf("quick")+":", "Enter")
	must(s.t, err)
	if got := s.becomes("quick", "FAILED"); got.ExitCode == nil || *got.ExitCode != 4 {
		s.t.Errorf("exit code %v, want 4", got.ExitCode)
	}
}

// withoutSpaceAndDatabase shows what works and what does not while PostgreSQL cannot run for want of space, and ends
// the session brief meanwhile. It returns a list that is open.
func (s *stack) withoutSpaceAndDatabase(brief string) *terminal {
	s.t.Helper()
	for _, words := range [][]string{
		{"ls"}, {"new", "--title", "other", "--", "cat"}, {"rename", "job", "work"}, {"stop", "job"}, {"restart", "done"},
		{"close", "done"},
	} {
		s.findsNoSpace(words...)
	}
	phone := s.path("phone")
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", phone).CombinedOutput()
	if err != nil {
		s.t.Fatalf("ssh-keygen: %v %s", err, out)
	}
	public, err := os.ReadFile(phone + ".pub")
	must(s.t, err)
	if got := s.sshIn(string(public), "key", "add", "--actor", "phone", "-"); got.code != 75 || !strings.Contains(got.err, "full") {
		s.t.Errorf("key add: %+v", got)
	}
	again := s.open(80, 24, "attach", "job")
	again.sees("row 501")
	again.keys("C-]")
	again.left()
	list := s.open(100, 24)
	list.sees("job")
	list.sees("database")
	_, err = s.tmux("send-keys", "-t", "=hp-"+brief+":", "Enter")
	must(s.t, err)
	s.eventually("the end is recorded", func() bool {
		rec, err := launch.ReadRecord(s.path("data/exits/" + brief + "-0.json"))
		return err == nil && rec.Code != nil && *rec.Code == 3
	})
	return list
}

// TestRow14KilledWhileFull kills serve on a full disk: first alone, which the next one does not mind, then after
// PostgreSQL has died, when there is no start before space is freed.
func TestRow14KilledWhileFull(t *testing.T) {
	t.Parallel()
	s, disk := onSmallDisk(t, 200)
	s.up()
	s.counter("job")
	pid := s.panePid("job")
	disk.fill()
	s.down(syscall.SIGKILL)
	s.up()
	term := s.open(80, 24, "attach", "job")
	term.sees("row 500")
	term.keys("C-]")
	term.left()

	s.outOfLog()
	s.down(syscall.SIGKILL)
	cmd := exec.Command(built, s.flags...)
	cmd.Env, cmd.Dir = s.env, s.dir
	out, err := cmd.CombinedOutput()
	last := lastLine(string(out))
	if err == nil || !strings.HasPrefix(last, "hitchpost: ") || !strings.Contains(last, "full: free space") {
		t.Errorf("start on a full disk: %v\n%s", err, out)
	}
	if got := s.panePid("job"); got != pid {
		t.Errorf("process %s, was %s", got, pid)
	}

	disk.free()
	s.up()
	if got := s.panePid("job"); got != pid {
		t.Errorf("process %s, was %s", got, pid)
	}
	s.becomes("job", "DETACHED")
	wholeHistory(t, s.ok("history", "job"), 500)
	s.ok("new", "--title", "other", "--", "cat")
	var all struct{ Sessions []seen }
	must(t, json.Unmarshal([]byte(s.ok("ls", "--json", "--all")), &all))
	if len(all.Sessions) != 2 {
		t.Errorf("sessions %+v", all.Sessions)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
