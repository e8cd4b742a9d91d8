package launch_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost/runtime/launch"
)

// When memory runs out the kernel takes what a session runs, its children too, and not the wrapper, which has to tell
// of it, nor tmux and the service, from which the wrapper has its rank. A rank that is higher already stays.
func TestProgramIsTheFirstToGoWhenMemoryRunsOut(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	own := rank(t, os.Getpid())
	for _, had := range []int{own, max(own, 700), 1000} {
		t.Run(strconv.Itoa(had), func(t *testing.T) {
			t.Parallel()
			s := spec(t, "sh", "-c", `sh -c 'cat /proc/self/oom_score_adj > child'; cat /proc/self/oom_score_adj > rank
				while [ ! -e go ]; do sleep 0.02; done; kill -KILL $$`)
			path := filepath.Join(s.Dir, "inner.json")
			writeSpec(t, path, s)
			// The shell becomes the wrapper, with the rank that it has given itself.
			cmd := exec.Command("bash", "-c", `echo "$1" > /proc/self/oom_score_adj && exec "$0" run-session "$2"`,
				self, strconv.Itoa(had), path)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.WriteFile(filepath.Join(s.Dir, "go"), nil, 0o600) })
			want := max(had, 500)
			for _, name := range []string{"rank", "child"} {
				if got := readInt(t, filepath.Join(s.Dir, name)); got != want {
					t.Errorf("%s of the program is %d, want %d", name, got, want)
				}
			}
			eventually(t, fmt.Sprintf("the wrapper has its rank of %d", had), func() bool {
				return rank(t, cmd.Process.Pid) == had
			})
			if err := os.WriteFile(filepath.Join(s.Dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if r, err := launch.ReadRecord(s.Record); err != nil || r.Signal != "KILL" { // as a memory kill ends it
				t.Errorf("recorded %s, %v", ending(r), err)
			}
		})
	}
}

// rank is the oom_score_adj of a process; proc(5).
func rank(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
