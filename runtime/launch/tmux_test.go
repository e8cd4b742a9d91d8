package launch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/runtime/launch"
)

// server is a tmux server of the test's own.
type server struct {
	t    *testing.T
	sock string
}

func startTmux(t *testing.T) server {
	t.Helper()
	dir, err := os.MkdirTemp("", "hp") // t.TempDir is too long for a socket on macOS
	if err != nil {
		t.Fatal(err)
	}
	s := server{t, filepath.Join(dir, "s")}
	s.run("-f", "/dev/null", "new-session", "-d", "-s", "keep", "cat")
	s.run("set", "-g", "remain-on-exit", "on")
	t.Cleanup(func() {
		s.run("kill-server")
		eventually(t, "tmux ends", func() bool { return s.command("ls").Run() != nil })
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s server) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	s.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", s.sock}, args...)...)
	cmd.WaitDelay = time.Second
	return cmd
}

func (s server) run(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// tmux itself loses about one exit status in ten with some builds; the record may not.
func TestNoExitIsLostUnderTmux(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tmux := startTmux(t)
	for i := range 200 {
		code := i % 256
		s := spec(t, "sh", "-c", fmt.Sprintf("exit %d", code))
		path := filepath.Join(s.Dir, "run.json")
		writeSpec(t, path, s)
		name := fmt.Sprintf("n%d", i)
		tmux.run("new-session", "-d", "-s", name, "--", self, "run-session", path)
		var r launch.Record
		eventually(t, "a record", func() bool {
			r, err = launch.ReadRecord(s.Record)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			return err == nil
		})
		if r.Code == nil || *r.Code != code {
			t.Fatalf("exit %d: recorded %s", code, ending(r))
		}
		tmux.run("kill-session", "-t", "="+name)
	}
}

func TestKilledTmuxSessionHangsUpTheProgram(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tmux := startTmux(t)
	s := spec(t, "sh", "-c", `trap 'exit 9' HUP; echo 1 > ready; while :; do read x || sleep 0.01; done`)
	path := filepath.Join(s.Dir, "run.json")
	writeSpec(t, path, s)
	tmux.run("new-session", "-d", "-s", "a", "--", self, "run-session", path)
	readInt(t, filepath.Join(s.Dir, "ready"))
	tmux.run("kill-session", "-t", "=a")
	eventually(t, "a record of code 9", func() bool {
		r, err := launch.ReadRecord(s.Record)
		return err == nil && r.Code != nil && *r.Code == 9
	})
}

// tmux lets go of a pane as soon as its process has ended, with output that it has not read; the wrapper stays until it
// has. Also after a shell, whose last job left the wrapper in the background of its own terminal.
func TestLastOutputIsReadUnderTmux(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tmux := startTmux(t)
	for i := range 40 {
		s := spec(t, "sh", "-c", "seq 1 3000; echo the end; exit 3")
		if i%4 == 0 {
			s = spec(t, "bash", "--norc", "--noprofile", "-ic", "seq 1 3000; echo the end; exit 3")
		}
		path := filepath.Join(s.Dir, "run.json")
		writeSpec(t, path, s)
		name := fmt.Sprintf("n%d", i)
		tmux.run("new-session", "-d", "-s", name, "--", self, "run-session", path)
		eventually(t, "the pane is dead", func() bool {
			return tmux.run("display-message", "-p", "-t", "="+name+":", "#{pane_dead}") == "1"
		})
		if text := tmux.run("capture-pane", "-p", "-t", "="+name+":"); !strings.Contains(text, "the end") {
			t.Errorf("round %d: the last output is missing:\n%s", i, text)
		}
		if r, err := launch.ReadRecord(s.Record); err != nil || r.Code == nil || *r.Code != 3 {
			t.Errorf("round %d: %v %v", i, r.Code, err)
		}
		tmux.run("kill-session", "-t", "="+name)
	}
}
