package tmux

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
)

// Tasks live beside sessions under names of their own, even with the same id, and leave nothing behind.
func TestTasks(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "a1", sizes[0], sh("exec cat")...)
	for _, id := range []string{"a1", "a10"} {
		if err := s.StartTask(t.Context(), id, sh("exec cat")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.StartTask(t.Context(), "a1", sh("true")); hitchpost.KindOf(err) != hitchpost.ConflictError {
		t.Errorf("a second one: %v", err)
	}
	for _, id := range []string{"", "A1", "=a1", "a1:", "x;y", "#{pid}"} {
		if err := s.StartTask(t.Context(), id, sh("true")); hitchpost.KindOf(err) != hitchpost.UsageError {
			t.Errorf("id %q: %v", id, err)
		}
	}
	all, err := s.List(t.Context())
	if err != nil || len(all.Sessions) != 1 || len(all.Tasks) != 2 || all.Tasks[0].Session != "a1" || all.Tasks[0].Pid <= 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, id := range []string{"a1", "a1", "a", "zz", "*"} {
		if err := s.KillTask(t.Context(), id); err != nil {
			t.Errorf("kill %q: %v", id, err)
		}
	}
	all, err = s.List(t.Context())
	if err != nil || len(all.Sessions) != 1 || all.Sessions[0].Dead || len(all.Tasks) != 1 || all.Tasks[0].Session != "a10" {
		t.Errorf("%+v, %v", all, err)
	}
	// One that ends at once is gone, however soon.
	if err := s.StartTask(t.Context(), "short", []string{"true"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the short task is gone", func() bool {
		all, err := s.List(t.Context())
		return err == nil && len(all.Tasks) == 1
	})
	panes, err := s.Panes(t.Context())
	if err != nil || len(panes) != 1 {
		t.Errorf("%+v, %v", panes, err)
	}
}

// What tmux starts is told to ask nobody about colours, see noColor; a pane that a person adds is not.
func TestProcessesAskNobodyAboutColours(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	dir := newDir(t)
	start(t, s, "a1", sizes[0], sh("printenv NO_COLOR > %s/session; exec cat", dir)...)
	if err := s.StartTask(t.Context(), "a1", sh("printenv NO_COLOR > %s/task; exec cat", dir)); err != nil {
		t.Fatal(err)
	}
	raw(t, s, "split-window", "-t", "=hp-a1:", "printenv > "+dir+"/added; exec cat")
	for name, want := range map[string]string{"session": "1\n", "task": "1\n"} {
		eventually(t, name+" has told", func() bool {
			got, err := os.ReadFile(filepath.Join(dir, name))
			return err == nil && string(got) == want
		})
	}
	eventually(t, "the added pane has told", func() bool {
		got, err := os.ReadFile(filepath.Join(dir, "added"))
		if strings.Contains(string(got), "NO_COLOR") {
			t.Fatalf("%s", got)
		}
		return err == nil && strings.Contains(string(got), "TMUX=")
	})
}
