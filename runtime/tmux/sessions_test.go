package tmux

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
)

// A name that another one begins with is another name: each call finds its own session or none.
func TestNamesAreExact(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	other := start(t, s, "web-10", sizes[0], sh("echo other; exec cat")...)
	waitFor(t, s, "web-10", "other")
	for _, id := range []string{"web-1", "web", "", "web-10:", "=web-10", "$1", "%1", "*", "web-1?", "lobby", "WEB-10",
		"web-10 ; kill-server"} {
		for what, err := range map[string]error{
			"Record":   second(s.Record(t.Context(), id)),
			"Capture":  second(s.Capture(t.Context(), id, Capture{})),
			"SetTitle": s.SetTitle(t.Context(), id, "x"),
			"Attach":   second(s.Attach(t.Context(), Attach{Session: id, Terminal: terminal(sizes[0])})),
		} {
			if !errors.Is(err, ErrNoSession) {
				t.Errorf("%s of %q: %v", what, id, err)
			}
		}
		if err := s.Kill(t.Context(), id); err != nil {
			t.Errorf("Kill of %q: %v", id, err)
		}
	}
	panes, err := s.Panes(t.Context())
	if err != nil || len(panes) != 1 || panes[0].PaneID != other.PaneID || panes[0].Dead {
		t.Errorf("%+v, %v", panes, err)
	}
	if err := s.Kill(t.Context(), "web-10"); err != nil {
		t.Fatal(err)
	}
	if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 0 {
		t.Errorf("%+v, %v", panes, err)
	}
}

// Words of a command, records and titles are data: no format in them is expanded, no shell reads them.
func TestFormatsAreText(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	dir := newDir(t)
	words := []string{
		"#(touch " + dir + "/pwned)", "#{pid}", "$(touch " + dir + "/pwned)", "`touch " + dir + "/pwned`", "it's", `"`, `\`,
		"a;b", ";", "a\nb", "a\r", "", "~", "$HOME", "%H", "{", "}", "-x", "é 日", "trailing;", `\;`,
	}
	out := filepath.Join(dir, "words")
	// It tells its words with a NUL after each.
	script := `printf '%s\000' "$@" >"$0".new; mv "$0".new "$0"; exec sleep 1000000`
	st := Start{Session: "words", Command: append([]string{"sh", "-c", script, out}, words...),
		Record: []byte(strings.Join(words, "\x00")), Title: strings.Join(words, " "), Run: 7}
	p, err := s.Start(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	if p.Run != 7 {
		t.Errorf("run %d", p.Run)
	}
	eventually(t, "the words", func() bool { _, err := os.Stat(out); return err == nil })
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(words, strings.Split(strings.TrimSuffix(string(got), "\x00"), "\x00")); diff != "" {
		t.Errorf("the words that came (+):\n%s", diff)
	}
	record, err := s.Record(t.Context(), "words")
	if err != nil || !bytes.Equal(record, st.Record) {
		t.Errorf("the record is %q, %v", record, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a command in a word was run")
	}
	if _, err := s.Start(t.Context(), Start{Session: "nul", Command: []string{"echo", "a\x00b"}}); hitchpost.KindOf(err) != hitchpost.UsageError {
		t.Errorf("a NUL: %v", err)
	}
}

// A pane's own title, its output and a one-word command with blanks and quotes do no harm.
func TestOneWordCommand(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	dir := newDir(t)
	program := filepath.Join(dir, "it's a #{pid} program;")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '\\033]2;#(touch "+dir+"/pwned)\\007'\necho ran\nexec cat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	start(t, s, "one", sizes[0], program)
	waitFor(t, s, "one", "ran")
	sc := attach(t, s, Attach{Session: "one", Terminal: terminal(sizes[0]), ReplayLines: -1})
	eventually(t, "the screen", func() bool { return sc.shows("ran") })
	if _, err := os.Stat(filepath.Join(dir, "pwned")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a command in a title was run")
	}
}

// Records far beyond what fits a tmux message go in and come out.
func TestBigRecord(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	record := bytes.Repeat([]byte("0123456789abcdef"), 300<<10/16)
	if _, err := s.Start(t.Context(), Start{Session: "big", Command: []string{"sleep", "1000000"}, Record: record}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Record(t.Context(), "big"); err != nil || !bytes.Equal(got, record) {
		t.Errorf("%d bytes of %d, %v", len(got), len(record), err)
	}
}

// A program finds the size that was asked for from its first moment, whoever else is attached.
func TestStartHasItsSize(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "other", sizes[0], "sleep", "1000000")
	attach(t, s, Attach{Session: "other", Terminal: terminal(hitchpost.Size{Cols: 90, Rows: 33})})
	for i, size := range sizes {
		allParked(t, s)
		id := fmt.Sprintf("sized-%d", i)
		if p := start(t, s, id, size, sh("stty size; exec cat")...); p.Size != size {
			t.Errorf("%v instead of %v", p.Size, size)
		}
		waitFor(t, s, id, fmt.Sprintf("%d %d", size.Rows, size.Cols))
	}
}

func TestDuplicateIsConflict(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	first := start(t, s, "twice", sizes[0], "sleep", "1000000")
	_, err := s.Start(t.Context(), Start{Session: "twice", Run: 9, Command: []string{"sleep", "1000000"}, Record: []byte("other")})
	if hitchpost.KindOf(err) != hitchpost.ConflictError {
		t.Errorf("the second start: %v", err)
	}
	panes, err := s.Panes(t.Context())
	if err != nil || len(panes) != 1 || panes[0].Pid != first.Pid || panes[0].Run != 0 {
		t.Errorf("%+v, %v", panes, err)
	}
}

// A process that ended stays as a dead pane with what it printed, until it is killed; and its end is an event.
func TestDeadPanes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for id, c := range map[string]struct {
		script string
		code   int
		signal string
	}{
		"well":   {"exit 0", 0, ""},
		"badly":  {"exit 7", 7, ""},
		"killed": {"kill -KILL $$", -1, "KILL"},
	} {
		drain(s)
		start(t, s, id, sizes[0], sh(`echo words of %s; stty raw -echo; printf '\033[5n'; dd bs=4 count=1 >/dev/null 2>&1; %s`, id, c.script)...)
		var p Pane
		eventually(t, "the end of "+id, func() bool {
			panes, err := s.Panes(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, p = range panes {
				if p.Session != id || !p.Dead {
					continue
				}
				if p.DeadCode != nil || p.DeadSignal != "" {
					return true
				}
				// A helper of some builds of tmux takes away the signal that tells of the end; any further one mends it.
				if pid, err := s.Pid(t.Context()); err == nil {
					_ = syscall.Kill(pid, syscall.SIGCHLD)
				}
			}
			return false
		})
		if p.DeadSignal != c.signal || c.code >= 0 && (p.DeadCode == nil || *p.DeadCode != c.code) {
			t.Errorf("%+v", p)
		}
		select {
		case <-s.Events():
		case <-time.After(patience):
			t.Errorf("no event of the end of %s", id)
		}
		if text, err := s.Capture(t.Context(), id, Capture{Lines: 1}); err != nil || string(text) != "words of "+id+"\n" {
			t.Errorf("%q, %v", text, err)
		}
		for range 2 {
			if err := s.Kill(t.Context(), id); err != nil {
				t.Error(err)
			}
		}
	}
}

func drain(s *Server) {
	select {
	case <-s.Events():
	default:
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	wakes := func(what string, do func()) {
		t.Helper()
		drain(s)
		do()
		select {
		case <-s.Events():
		case <-time.After(patience):
			t.Errorf("no event of %s", what)
		}
	}
	wakes("a start", func() { start(t, s, "seen", sizes[0], "sleep", "1000000") })
	wakes("an end", func() {
		if err := s.Kill(t.Context(), "seen"); err != nil {
			t.Fatal(err)
		}
	})
	wakes("the end of the server", func() { killServer(t, s) })
}

func TestCapture(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "text", hitchpost.Size{Cols: 20, Rows: 5},
		sh(`for i in 1 2 3 4 5 6 7 8; do echo line $i; done; printf '\033[31mred\033[m and a long line of text\n'; exec cat`)...)
	waitFor(t, s, "text", "text")
	for _, c := range []struct {
		ask  Capture
		want string
	}{
		{Capture{}, "line 7\nline 8\nred and a long line \nof text\n"},
		{Capture{Lines: 1}, "of text\n"},
		{Capture{MaxLines: 2}, "red and a long line \nof text\n"},
		{Capture{History: true}, "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nred and a long line of text\n"},
		{Capture{History: true, MaxLines: 2}, "line 8\nred and a long line of text\n"},
		{Capture{ANSI: true, Lines: 2}, "\x1b[31mred\x1b[39m and a long line \nof text\n"},
	} {
		got, err := s.Capture(t.Context(), "text", c.ask)
		if err != nil {
			t.Fatal(err)
		}
		if plain := strings.ReplaceAll(string(got), "line \n", "line\n"); plain != strings.ReplaceAll(c.want, "line \n", "line\n") {
			t.Errorf("%+v: %q, want %q", c.ask, got, c.want)
		}
	}
	start(t, s, "blank", sizes[0], "sleep", "1000000")
	if got, err := s.Capture(t.Context(), "blank", Capture{}); err != nil || len(got) != 0 {
		t.Errorf("a blank screen: %q, %v", got, err)
	}
}

// Windows and panes that a person adds by hand change neither the list nor whose end is reported.
func TestPanesOfOthers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mine := start(t, s, "split", sizes[0], "sleep", "1000000")
	raw(t, s, "split-window", "-t", target("split"), "sleep 1000000")
	raw(t, s, "new-window", "-t", target("split"), "sleep 1000000")
	raw(t, s, "new-session", "-d", "-s", "foreign", "sleep 1000000")
	raw(t, s, "new-session", "-d", "-s", "hp-Odd_Name", "sleep 1000000")
	panes, err := s.Panes(t.Context())
	if err != nil || len(panes) != 1 || panes[0].PaneID != mine.PaneID || panes[0].Pid != mine.Pid || panes[0].Dead {
		t.Fatalf("%+v, %v", panes, err)
	}
	raw(t, s, "kill-pane", "-t", mine.PaneID)
	panes, err = s.Panes(t.Context())
	if err != nil || len(panes) != 1 || !panes[0].Dead {
		t.Errorf("after its end: %+v, %v", panes, err)
	}
}

func TestManySessions(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var want []string
	for i := range 60 {
		id := fmt.Sprintf("n-%02d", i)
		want = append(want, id)
		start(t, s, id, sizes[0], "sleep", "1000000")
	}
	panes, err := s.Panes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range panes {
		got = append(got, p.Session)
		if p.Pid == 0 || p.TmuxID == "" || p.PaneID == "" || p.Size != sizes[0] || p.LastOutput.IsZero() || p.Attached != 0 {
			t.Errorf("%+v", p)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
