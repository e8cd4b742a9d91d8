package launch_test

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

	"github.com/hitchpost/hitchpost/runtime/launch"
)

// together bounds how many wrappers the tests that need many of them keep at a time.
const together = 8

func TestEveryExitCodeIsRecorded(t *testing.T) {
	t.Parallel()
	slots := make(chan struct{}, together)
	for code := range 256 {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			begin(t, spec(t, "sh", "-c", fmt.Sprintf("exit %d", code))).endsWith(code, "")
		})
	}
}

func TestEverySignalIsRecorded(t *testing.T) {
	t.Parallel()
	names := []string{"HUP", "INT", "QUIT", "ILL", "ABRT", "FPE", "KILL", "SEGV", "PIPE", "ALRM", "TERM", "USR1", "USR2",
		"BUS", "SYS", "TRAP", "XCPU", "VTALRM"}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := fmt.Sprintf("ulimit -c 0; kill -%d $$", launch.Number(name))
			begin(t, spec(t, "sh", "-c", script)).endsWith(0, name)
		})
	}
}

func TestRecordTellsOfTheRun(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", `echo $$ > pid; sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'`)
	s.Run = 3
	before := time.Now().Add(-time.Second)
	r := begin(t, s).endsWith(0, "")
	if r.Session != s.Session || r.Run != 3 || r.Pid != readInt(t, filepath.Join(s.Dir, "pid")) {
		t.Errorf("record of %q run %d pid %d", r.Session, r.Run, r.Pid)
	}
	if r.StartedAt.Before(before) || r.At.Before(r.StartedAt) || r.At.After(time.Now()) || r.At.Location() != time.UTC {
		t.Errorf("started %s, ended %s", r.StartedAt, r.At)
	}
	if r.UserSeconds+r.SystemSeconds < 0.02 { // the loop runs in a child of the program
		t.Errorf("the children's time is missing: %.3f s and %.3f s", r.UserSeconds, r.SystemSeconds)
	}
	if r.MaxRSSBytes < 256<<10 || r.MaxRSSBytes > 1<<30 {
		t.Errorf("largest size %d bytes", r.MaxRSSBytes)
	}
}

func TestEnvironmentOfTheProgramIsTheSpecs(t *testing.T) {
	t.Parallel()
	s := spec(t, "/usr/bin/env")
	s.Env = append(s.Env, "ODD=a=b 'c' \"d\" #{pid} $(id)", "BYTES=\xff\xfe", "TMUX=inner", "TERM=vt100", "EMPTY=")
	w := begin(t, s)
	w.endsWith(0, "")
	<-w.read
	got := strings.Split(strings.TrimSpace(strings.ReplaceAll(w.text(), "\r\n", "\n")), "\n")
	want := append(s.Env[:4:4], s.Env[4], s.Env[5], "EMPTY=", "TERM=tmux-256color", "PWD="+s.Dir)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestWordsArriveAsWritten(t *testing.T) {
	t.Parallel()
	words := []string{"a b", "", "c;d", "$(x)", "`id`", "it's", "\"q\"", "#{pid}", "#(id)", "ä€😀", "\xff\x80", "line\nline",
		strings.Repeat("x", 100<<10)}
	s := spec(t, append([]string{"sh", "-c", `printf '%s\0' "$0" "$@" > words`}, words...)...)
	begin(t, s).endsWith(0, "")
	data, err := os.ReadFile(filepath.Join(s.Dir, "words"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00"); !slices.Equal(got, words) {
		t.Errorf("got %.200q", got)
	}
}

func TestLoginShellSeesItsName(t *testing.T) {
	t.Parallel()
	s := spec(t, "/bin/bash", "--noprofile", "-c", `shopt -q login_shell && echo "login $0" > name`)
	s.Argv0 = "-bash"
	begin(t, s).endsWith(0, "")
	if data, err := os.ReadFile(filepath.Join(s.Dir, "name")); err != nil || string(data) != "login -bash\n" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestDirectoryWithFormatsIsLiteral(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", `pwd > "$HOME/where"`)
	s.Dir = filepath.Join(s.Dir, "a #(touch pwned) #{pid} $(id)\n;")
	if err := os.Mkdir(s.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	begin(t, s).endsWith(0, "")
	where, err := os.ReadFile(filepath.Join(filepath.Dir(s.Record), "where"))
	if err != nil || string(where) != s.Dir+"\n" {
		t.Errorf("%q, %v", where, err)
	}
}

func TestBackgroundChildHoldsNobody(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", `trap "" HUP; sleep 300 & echo $! > pid; exit 4`)
	begin(t, s).endsWith(4, "")
	pid := readInt(t, filepath.Join(s.Dir, "pid"))
	if !running(pid) {
		t.Error("the child that ignores HUP is gone")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

func TestStartThatFailsIsRecorded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, program string
		make          func(dir string) error
		code          int
		say           string
	}{
		{"missing", "no-such-program", nil, 127, "command not found"},
		{"missing path", "./nothing", nil, 127, "does not exist"},
		{"directory", "./d", func(d string) error { return os.Mkdir(d+"/d", 0o700) }, 126, "is a directory"},
		{"not executable", "./f", put("f", "echo", 0o600), 126, "not executable"},
		{"no interpreter", "./f", put("f", "#!/no/such/interpreter\n", 0o700), 126, "interpreter or loader"},
		{"foreign format", "./f", put("f", "\x00\x01\x02\x03", 0o700), 126, "not a program for this machine"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := spec(t, test.program)
			if test.make != nil {
				if err := test.make(s.Dir); err != nil {
					t.Fatal(err)
				}
			}
			w := begin(t, s)
			r := w.endsWith(test.code, "")
			if !strings.Contains(r.Error, test.say) || r.Pid != 0 || !r.StartedAt.IsZero() || r.At.IsZero() {
				t.Errorf("recorded %+v", r)
			}
			w.expect(test.say)
		})
	}
}

// put returns a function that makes a file in a directory.
func put(name, content string, mode os.FileMode) func(string) error {
	return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(content), mode) }
}

func TestScriptWithoutFirstLineRuns(t *testing.T) {
	t.Parallel()
	s := spec(t, "./script", "a b")
	if err := put("script", `[ "$1" = "a b" ] && exit 42`, 0o700)(s.Dir); err != nil {
		t.Fatal(err)
	}
	begin(t, s).endsWith(42, "")
}

func TestDirectoryThatVanishedIsRecorded(t *testing.T) {
	t.Parallel()
	s := spec(t, "true")
	s.Dir = filepath.Join(s.Dir, "gone")
	r := begin(t, s).endsWith(126, "")
	if !strings.Contains(r.Error, "cannot be entered: no such file or directory") {
		t.Errorf("recorded %q", r.Error)
	}
}

func TestTooManyWordsAreRecorded(t *testing.T) {
	t.Parallel()
	s := spec(t, "true")
	for range 64 {
		s.Argv = append(s.Argv, strings.Repeat("x", 120<<10))
	}
	if r := begin(t, s).endsWith(126, ""); !strings.Contains(r.Error, "too long") {
		t.Errorf("recorded %q", r.Error)
	}
}

func TestOneStartForOneSpec(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", "echo x >> starts; read line")
	path := filepath.Join(s.Dir, "run.json")
	first := begin(t, s)
	readAll := func() string { data, _ := os.ReadFile(filepath.Join(s.Dir, "starts")); return string(data) }
	eventually(t, "the program runs", func() bool { return readAll() == "x\n" })

	second := again(t, path, s)
	second.expect("started before")
	first.write("\n")
	first.endsWith(0, "")
	third := again(t, path, s)
	third.expect("started before")
	for _, w := range []*wrapped{second, third} {
		<-w.ended
		if code := w.cmd.ProcessState.ExitCode(); code != 125 {
			t.Errorf("status %d", code)
		}
	}
	if readAll() != "x\n" {
		t.Errorf("started more than once: %q", readAll())
	}
	begin(t, s).write("\n") // a spec that is written again is a new run
	eventually(t, "the program runs again", func() bool { return readAll() == "x\nx\n" })
}

func TestUnusableSpecIsSaid(t *testing.T) {
	t.Parallel()
	s := spec(t, "true")
	path := filepath.Join(s.Dir, "run.json")
	if err := os.WriteFile(path, []byte(`{"version":1,"argv":["true"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	w := again(t, path, s)
	w.expect("this session cannot be run")
	<-w.ended
	if code := w.cmd.ProcessState.ExitCode(); code != 125 {
		t.Errorf("status %d", code)
	}
}
