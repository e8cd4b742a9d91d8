package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/hitchpost/hitchpost/runtime/launch"
)

// TestANoteFromInside has the binary read and write notes in sessions of a shell and of a command, without a key, also while
// the service is away.
func TestANoteFromInside(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "shell", "--kind", "shell", "--cwd", s.dir, "--note", "begun")
	s.ok("send", "shell", fmt.Sprintf(`printf 'from\n\tthe shell' | %s note --append - && %[1]s note > read`, built), "--enter")
	s.eventually("a note from a shell", func() bool { return s.ok("note", "shell") == "begun\nfrom\n\tthe shell\n" })
	read := s.path("read")
	s.eventually("the note is read inside", func() bool {
		text, err := os.ReadFile(read)
		return err == nil && string(text) == "begun\nfrom\n\tthe shell\n"
	})
	if events := s.ok("events", "shell", "--json"); !strings.Contains(events, `"actor": "session shell"`) &&
		!strings.Contains(events, `"actor":"session shell"`) {
		t.Errorf("the events are %s", events)
	}

	s.ok("new", "--title", "job", "--cwd", s.dir, "--", "sh", "-c", fmt.Sprintf(`%[1]s note --set first --append second; echo $? > wrong
		%[1]s note --set done; echo $? > code; until test -e go; do sleep 0.1; done
		%[1]s note > out 2> err; echo $? > away; exec cat`, built))
	s.eventually("a note from a command", func() bool { return s.ok("note", "job") == "done\n" })
	s.down(syscall.SIGTERM)
	must(t, writeFile(s.path("go"), ""))
	for file, want := range map[string]string{"wrong": "2\n", "code": "0\n", "away": "75\n", "out": ""} {
		s.eventually(file, func() bool {
			text, err := os.ReadFile(s.path(file))
			return err == nil && string(text) == want
		})
	}
	if text, err := os.ReadFile(s.path("err")); err != nil || !strings.HasPrefix(string(text), "hitchpost: the service is away") ||
		strings.Count(string(text), "\n") != 1 {
		t.Errorf("%q, %v", text, err)
	}
	s.up()
}

func TestANoteOutsideOfASession(t *testing.T) {
	t.Parallel()
	if got := ran(t, "note"); got.code != 2 || !strings.Contains(got.err, "this is not inside a session: from outside: ssh host note REF") {
		t.Errorf("%+v", got)
	}
	var out, errs strings.Builder
	in := func(name string) string {
		return map[string]string{launch.Mark: "0198c5b0-7c7e-7d1e-9f7a-3b0c5d1e2f30"}[name]
	}
	code := run(t.Context(), []string{"note"}, in, streams{strings.NewReader(""), &out, &errs})
	if code != 2 || !strings.Contains(errs.String(), "restart the session") {
		t.Errorf("%d, %s", code, errs.String())
	}
}
