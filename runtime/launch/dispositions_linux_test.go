package launch_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// status reads a field of /proc/PID/status.
func status(t *testing.T, text []byte, field string) string {
	t.Helper()
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("no %s in %s", field, text)
	return ""
}

// A program starts with every signal at its default and none blocked, also where the wrapper inherited ignored ones,
// as it does below a service that was started in the background of a script.
func TestProgramStartsWithDefaultSignals(t *testing.T) {
	t.Parallel()
	for name, prefix := range map[string]string{
		"plain":   "",
		"ignored": `trap "" HUP INT QUIT TERM TSTP TTIN TTOU PIPE CHLD USR1; `,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := spec(t, "sh", "-c", "exec cat /proc/self/status > status")
			inner := filepath.Join(s.Dir, "inner.json")
			writeSpec(t, inner, s)
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("bash", "-c", fmt.Sprintf(`%sexec "$0" run-session "$1"`, prefix), self, inner)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			text, err := os.ReadFile(filepath.Join(s.Dir, "status"))
			if err != nil {
				t.Fatal(err)
			}
			for _, field := range []string{"SigIgn", "SigBlk", "SigCgt"} {
				mask, err := strconv.ParseUint(status(t, text, field), 16, 64)
				// 32 and 33 are the C library's own, which no program can set; signal(7).
				if err != nil || mask&^(1<<(32-1)|1<<(33-1)) != 0 {
					t.Errorf("%s %x, %v", field, mask, err)
				}
			}
		})
	}
}

// The program gets its terminal and nothing else.
func TestProgramInheritsNoDescriptors(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", "exec ls /proc/self/fd > fds")
	begin(t, s).endsWith(0, "")
	data, err := os.ReadFile(filepath.Join(s.Dir, "fds"))
	if got := strings.Fields(string(data)); err != nil || len(got) != 4 { // the fourth is that of ls itself
		t.Errorf("%q, %v", got, err)
	}
}

// One wrapper runs beside every session.
func TestWrapperIsLight(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", "echo ready; read x")
	w := begin(t, s)
	w.expect("ready")
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.pid()))
	if err != nil {
		t.Fatal(err)
	}
	anon, err := strconv.Atoi(strings.TrimSuffix(status(t, text, "RssAnon"), " kB"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d kB of its own, threads %s", anon, status(t, text, "Threads"))
	if anon > anonLimit {
		t.Errorf("the wrapper holds %d kB of its own", anon)
	}
}
