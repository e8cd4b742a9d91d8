package task_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

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
		name, text, _ := strings.Cut(line, ":")
		if name != "SigIgn" && name != "SigBlk" {
			continue
		}
		mask, err := strconv.ParseUint(strings.TrimSpace(text), 16, 64)
		// 32 and 33 are the C library's own, which no program can set; signal(7).
		if err != nil || mask&^(1<<(32-1)|1<<(33-1)) != 0 {
			t.Errorf("signals of the command: %q", line)
		}
	}
}

func TestKilledRunnerLeavesNoRecordAndNoCommand(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", "echo x >> starts; echo out; echo $$ > pid; exec sleep 300")
	r := begin(t, s)
	pid := readInt(t, filepath.Join(s.Dir, "pid"))
	eventually(t, "the output is in the log", func() bool { return look(t, r.folder).LogBytes == 4 })
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

// A daemon has made itself a session of its own: it is not ended, and holds nobody although it holds the output.
func TestDaemonIsLeftAndHoldsNobody(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", `setsid sh -c 'echo $$ > pid; exec sleep 300' & until [ -s pid ]; do sleep 0.01; done; echo end`)
	start := time.Now()
	r := begin(t, s)
	r.endsWith(0, "")
	pid := readInt(t, filepath.Join(s.Dir, "pid"))
	defer kill(t, pid)
	within(t, start, 0, 8*time.Second)
	if got := output(t, r.folder); got != "end\n" || !running(pid) {
		t.Errorf("log %q, daemon runs: %t", got, running(pid))
	}
}

// What nobody but the runner waits for is accounted for as well.
func TestOrphansAreAccountedFor(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", `(sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; touch done' &); until [ -e done ]; do sleep 0.05; done`)
	if record := begin(t, s).endsWith(0, ""); record.UserSeconds+record.SystemSeconds < 0.05 {
		t.Errorf("the time of an orphan is missing: %.3f s and %.3f s", record.UserSeconds, record.SystemSeconds)
	}
}

// A runner is there for as long as its command; it must cost next to nothing.
func TestRunnerIsLight(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", "head -c 10000000 /dev/zero; touch up; sleep 300")
	r := begin(t, s)
	r.ready(filepath.Join(s.Dir, "up"))
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", r.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^Anonymous: +(\d+) kB$`).FindSubmatch(rollup)
	if m == nil {
		t.Fatalf("%s", rollup)
	}
	if anon, err := strconv.Atoi(string(m[1])); err != nil || anon > anonLimit {
		t.Errorf("the runner holds %d kB of its own, %v", anon, err)
	}
}
