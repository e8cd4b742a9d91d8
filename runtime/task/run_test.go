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
	for i := range 500 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			want := strings.Repeat(fmt.Sprintf("%d:\x00\xff\r\n", i), i*i/16) + "end"
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
	s := spec(t, "sh", "-c", `echo out; echo err >&2; (sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done' &); sleep 0.6`)
	before := time.Now().Add(-time.Second)
	r := begin(t, s)
	record := r.endsWith(0, "")
	if record.StartedAt.Before(before) || record.EndedAt.Sub(record.StartedAt) < 600*time.Millisecond ||
		record.EndedAt.After(time.Now()) || record.EndedAt.Location() != time.UTC {
		t.Errorf("started %s, ended %s", record.StartedAt, record.EndedAt)
	}
	if record.UserSeconds+record.SystemSeconds < 0.02 { // the loop runs in a process that nobody but the runner waits for
		t.Errorf("the time of an orphan is missing: %.3f s and %.3f s", record.UserSeconds, record.SystemSeconds)
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

func TestCommandHasItsSpecAndNothingElse(t *testing.T) {
	t.Parallel()
	script := `env -0 > env; printf '%s\0' "$0" "$@" > words; ls /proc/self/fd > fds; ps -o sid=,pgid=,tty= -p $$ > place; echo $$ > pid
		[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none > terminal; read x || echo empty > stdin; grep Sig /proc/self/status > signals`
	words := []string{"a b", "", "c;d", "$(x)", "`id`", "it's", "\"q\"", "#{pid}", "#(id)", "ä€😀", "\xff\x80", "line\nline",
		strings.Repeat("x", 100<<10)}
	s := spec(t, append([]string{"bash", "-c", script}, words...)...)
	s.Dir = filepath.Join(s.Dir, "a #(touch pwned) #{pid} $(id)\n;\xff")
	if err := os.Mkdir(s.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.Env = append(s.Env, "ODD=a=b 'c' \"d\" $(id)", "BYTES=\xff\xfe", "EMPTY=", "PWD=/wrong", "HITCHPOST_TASK="+s.ID)
	begin(t, s).endsWith(0, "")
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(s.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if got := strings.Split(strings.TrimSuffix(read("words"), "\x00"), "\x00"); !slices.Equal(got, words) {
		t.Errorf("words %.300q", got)
	}
	var env []string
	for _, kv := range strings.Split(strings.TrimSuffix(read("env"), "\x00"), "\x00") {
		if name, _, _ := strings.Cut(kv, "="); name != "_" && name != "SHLVL" && name != "OLDPWD" { // bash's own
			env = append(env, kv)
		}
	}
	want := append(slices.DeleteFunc(slices.Clone(s.Env), func(kv string) bool { return kv == "PWD=/wrong" }), "PWD="+s.Dir)
	slices.Sort(env)
	slices.Sort(want)
	if !slices.Equal(env, want) {
		t.Errorf("environment %q\nwant        %q", env, want)
	}
	if got := strings.Fields(read("fds")); !slices.Equal(got, []string{"0", "1", "2", "3"}) { // 3 is that of ls itself
		t.Errorf("descriptors %q", got)
	}
	pid := strings.TrimSpace(read("pid"))
	if got := strings.Fields(read("place")); !slices.Equal(got, []string{pid, pid, "?"}) || read("terminal") != "none\n" {
		t.Errorf("session, group and terminal %q of process %s", got, pid)
	}
	if read("stdin") != "empty\n" {
		t.Error("there is an input")
	}
	for _, line := range strings.Split(strings.TrimSpace(read("signals")), "\n") {
		if name, mask, _ := strings.Cut(line, ":"); (name == "SigIgn" || name == "SigBlk") && strings.Trim(mask, "0 \t") != "" {
			t.Errorf("signals of the command: %q", line)
		}
	}
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

func TestKilledRunnerLeavesNoRecordAndNoCommand(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", "echo x >> starts; echo out; echo $$ > pid; exec sleep 300")
	r := begin(t, s)
	pid := readInt(t, filepath.Join(s.Dir, "pid"))
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.wait()
	if seen := look(t, r.folder); seen.Alive || seen.Record != nil || !seen.Started || !seen.Over() || seen.LogBytes != 4 {
		t.Errorf("looks like %+v", seen)
	}
	eventually(t, "the command is killed with its runner", func() bool { return !running(pid) })
	again := runner(t, r.folder)
	again.wait()
	if code := again.cmd.ProcessState.ExitCode(); code != 125 || !strings.Contains(again.said.String(), "started before") {
		t.Errorf("status %d, %q", code, &again.said)
	}
	if data, err := os.ReadFile(filepath.Join(s.Dir, "starts")); err != nil || string(data) != "x\n" {
		t.Errorf("started more than once: %q, %v", data, err)
	}
}
