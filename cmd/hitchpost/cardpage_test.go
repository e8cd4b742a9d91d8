package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestTheCardInThePicker comes back to a session whose process was lost with work that no commit has: the card is the first
// that is seen, what it says follows the repository, and the note is written there. Then the same on a phone.
func TestTheCardInThePicker(t *testing.T) {
	t.Parallel()
	s := start(t)
	dir := s.path("shop")
	must(t, os.Mkdir(dir, 0o700))
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "retry")
	must(t, writeFile(dir+"/a.go", "package a\n"))
	git("add", "a.go")
	git("commit", "-q", "-m", "Begin the shop")
	s.ok("new", "--title", "work", "--cwd", dir, "--project", "store", "--", "sh", "-c", "echo ready; exec cat")
	term := s.open(120, 40)
	term.sees("> work")
	term.sees("store")
	term.keys("Enter")
	term.sees("ready")
	eventually(t, "the title of the terminal", func() bool {
		return strings.HasSuffix(term.tmux("display-message", "-p", "#{pane_title}"), " · shop@retry") &&
			strings.HasPrefix(term.tmux("display-message", "-p", "#{pane_title}"), "work · ")
	}, func() string { return term.tmux("display-message", "-p", "#{pane_title}") })
	term.keys("C-]")
	term.sees("> work")

	must(t, writeFile(dir+"/a.go", "package a // more\n"))
	s.killTmux()
	s.eventually("the session is lost", func() bool { return s.show("work").State == "RECOVERABLE" })
	term.sees("RECOVERABLE")
	term.keys("Enter")
	asked := time.Now()
	eventually(t, "the advice", func() bool {
		text := term.screen()
		if strings.Contains(text, "took too long") && time.Since(asked) > 5*time.Second { // a machine that is busy with other tests
			asked = time.Now()
			term.text("u")
		}
		return strings.Contains(text, "its process is gone")
	}, term.screen)
	for _, want := range []string{"ssh host checkpoint work", "a restart runs sh -c", "1 changed: a.go", "shop@retry"} {
		term.sees(want)
	}
	term.text("e")
	term.sees("ctrl-o draft from facts")
	term.keys("C-o")
	term.sees("not yet read by a person")
	term.text("read: ")
	term.keys("Escape")
	term.sees("the note of work is saved")
	if note := s.ok("note", "work"); !strings.HasPrefix(note, "read: (proposed from facts at ") || !strings.Contains(note, "- changed: a.go") {
		t.Errorf("the note is\n%s", note)
	}
	s.ok("checkpoint", "work")
	term.text("u")
	term.sees("its newest checkpoint holds")
	term.sees("enter restart")
	eventually(t, "the restart", func() bool {
		if s.show("work").State == "RECOVERABLE" && strings.Contains(term.screen(), "enter restart") {
			term.keys("Enter") // the first may come before the advice has stood long enough
		}
		return s.show("work").State == "DETACHED"
	}, term.screen)
	term.sees("work runs again")
	term.text("q")
	if code := term.left(); code != 0 {
		t.Errorf("left %d", code)
	}

	phone := s.open(40, 20)
	phone.sees("> work")
	phone.text("i")
	phone.sees("tmux runs it as process")
	phone.sees("enter attach")
	phone.text("G")
	phone.sees("CHECK")
	phone.keys("Escape")
	phone.sees("> work")
}
