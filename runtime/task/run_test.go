package task_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// together bounds how many runners the tests that need many of them keep at a time.
const together = 4

func TestEveryByteOfShortRunsIsKept(t *testing.T) {
	t.Parallel()
	slots := make(chan struct{}, together)
	for i := range shortRuns {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			want := strings.Repeat(fmt.Sprintf("%d:\x00\xff\r\n", i), i*i/16*500/shortRuns) + "end"
			s := spec(t, "sh", "-c", `cat in; exit $1`, "sh", strconv.Itoa(i%256))
			if err := os.WriteFile(filepath.Join(s.Dir, "in"), []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
			r := begin(t, s)
			record := r.endsWith(i%256, "")
			if got := output(t, r.folder); got != want || record.LogBytes != int64(len(want)) {
				t.Fatalf("%d bytes in the log, %d recorded, %d written", len(got), record.LogBytes, len(want))
			}
		})
	}
}

func TestEverySignalIsRecorded(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"HUP", "INT", "QUIT", "ABRT", "KILL", "SEGV", "PIPE", "ALRM", "TERM", "USR1", "USR2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := begin(t, spec(t, "sh", "-c", fmt.Sprintf("ulimit -c 0; kill -%d $$", signalNumber(name))))
			record := r.endsWith(0, name)
			if record.Cancelled || record.TimedOut || record.Hangup {
				t.Error(ending(record))
			}
			if status := r.cmd.ProcessState.ExitCode(); status != 128+signalNumber(name) {
				t.Errorf("the runner's status is %d", status)
			}
		})
	}
}

func TestRecordTellsOfTheRun(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", `echo out; echo err >&2; sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; sleep 0.5`)
	before := time.Now().Add(-time.Second)
	r := begin(t, s)
	record := r.endsWith(0, "")
	if record.StartedAt.Before(before) || record.EndedAt.Sub(record.StartedAt) < 500*time.Millisecond ||
		record.EndedAt.After(time.Now()) || record.EndedAt.Location() != time.UTC {
		t.Errorf("started %s, ended %s", record.StartedAt, record.EndedAt)
	}
	if record.UserSeconds+record.SystemSeconds < 0.02 { // the loop runs in a child of the command
		t.Errorf("the children's time is missing: %.3f s and %.3f s", record.UserSeconds, record.SystemSeconds)
	}
	if record.MaxRSSBytes < 256<<10 || record.MaxRSSBytes > 1<<30 {
		t.Errorf("largest size %d bytes", record.MaxRSSBytes)
	}
	if got := output(t, r.folder); got != "out\nerr\n" || record.LogBytes != 8 {
		t.Errorf("%q, %d", got, record.LogBytes)
	}
	if left := names(t, r.folder); !slices.Equal(left, []string{"exit.json", "lock", "log", "spec.json"}) {
		t.Errorf("left %q", left)
	}
}

func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestStartThatFailsIsRecorded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, program string
		code          int
		say           string
	}{
		{"missing", "no-such-program", 127, "command not found"},
		{"missing path", "./nothing", 127, "does not exist"},
		{"directory", ".", 126, "is a directory"},
		{"not executable", "./plain", 126, "not executable"},
		{"no interpreter", "./script", 126, "interpreter or loader"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := spec(t, test.program)
			for name, mode := range map[string]os.FileMode{"plain": 0o600, "script": 0o700} {
				if err := os.WriteFile(filepath.Join(s.Dir, name), []byte("#!/no/such/interpreter\n"), mode); err != nil {
					t.Fatal(err)
				}
			}
			record := begin(t, s).endsWith(test.code, "")
			if !strings.Contains(record.Error, test.say) || !record.StartedAt.IsZero() || record.EndedAt.IsZero() {
				t.Errorf("recorded %+v", record)
			}
		})
	}
}

func TestDirectoryThatVanishedIsRecorded(t *testing.T) {
	t.Parallel()
	s := spec(t, "true")
	s.Dir = filepath.Join(s.Dir, "gone")
	if record := begin(t, s).endsWith(126, ""); !strings.Contains(record.Error, "no such file or directory") {
		t.Errorf("recorded %q", record.Error)
	}
}

// One line for one start, whatever happens to the runner.
func TestTaskIsNeverRunTwice(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", "echo x >> starts; touch ready; read x < go; exit 3")
	if err := syscall.Mkfifo(filepath.Join(s.Dir, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	first := begin(t, s)
	first.ready(filepath.Join(s.Dir, "ready"))
	refused := func(say string) {
		t.Helper()
		r := runner(t, first.folder)
		r.wait()
		if code := r.cmd.ProcessState.ExitCode(); code != 125 || !strings.Contains(r.said.String(), say) {
			t.Errorf("status %d, %q", code, &r.said)
		}
	}
	refused("is being run")
	if seen := look(t, first.folder); !seen.Alive || !seen.Started || seen.Over() {
		t.Errorf("beside a second runner the task looks like %+v", seen)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "go"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	first.endsWith(3, "")
	refused("started before")
	if data, err := os.ReadFile(filepath.Join(s.Dir, "starts")); err != nil || string(data) != "x\n" {
		t.Errorf("started more than once: %q, %v", data, err)
	}
}

func TestRunnersAtOnceStartOneCommand(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", "echo x >> starts")
	folder := create(t, s)
	var all []*started
	for range 8 {
		all = append(all, runner(t, folder))
	}
	ran := 0
	for _, r := range all {
		r.wait()
		if r.cmd.ProcessState.ExitCode() == 0 {
			ran++
		}
	}
	if data, err := os.ReadFile(filepath.Join(s.Dir, "starts")); err != nil || string(data) != "x\n" || ran != 1 {
		t.Errorf("%d runners ran it: %q, %v", ran, data, err)
	}
}
