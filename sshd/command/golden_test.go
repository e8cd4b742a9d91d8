package command_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd/command"
	"github.com/hitchpost/hitchpost/sshd/command/commandtest"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew")

// peopled is a service that holds some of everything.
func peopled() *fake {
	odd := bare()
	odd.Handle, odd.Title = "odd", "日本 \x1b[31mred\x1b[m 👨‍👩‍👧 \u202eright-to-left\tand\nmore"
	odd.Cwd, odd.Note, odd.StateSince = "/srv/ö\u009b1m", "two\nlines", now.Add(time.Hour)
	odd.ClosedAt = now.Add(-3 * time.Minute)
	return &fake{
		sessions: []hitchpost.Session{full(), odd}, revives: true, screen: "$ make\nok", pages: [][]hitchpost.Event{happened()},
		tasks: fakeTasks{task: ranTask(), ended: ranTask()},
		keys: []hitchpost.Key{
			{Fingerprint: "SHA256:one", Type: "ssh-ed25519", Actor: "ann", Role: hitchpost.Admin, Comment: "ann@desk",
				CreatedAt: now},
			{Fingerprint: "SHA256:two", Type: "ssh-rsa", Actor: "bob", Role: hitchpost.Viewer, CreatedAt: now, RevokedAt: now,
				LastUsedAt: now.Add(-50 * time.Hour)},
			{Fingerprint: "SHA256:three", Type: "ssh-rsa", Actor: "bob", Role: hitchpost.Viewer, CreatedAt: now,
				ExpiresAt: now},
			{Fingerprint: "SHA256:four", Type: "ssh-rsa", Actor: "bob", Role: hitchpost.Viewer, CreatedAt: now,
				ExpiresAt: now.Add(48 * time.Hour)},
		},
		status: hitchpost.Status{
			Version: "1.2.3", Started: now.Add(-90 * time.Minute), Clients: 2,
			Database: hitchpost.Part{Reason: "connection refused", Since: now.Add(-5 * time.Second)},
			Nodes: []hitchpost.Node{
				{ID: nodeID, Name: "box", State: hitchpost.Online, Since: now.Add(-time.Hour)},
				{ID: nodeID, Name: "far", State: hitchpost.Offline, Reason: "no answer\x07", Since: now},
			},
			Sessions: map[hitchpost.State]int{hitchpost.Running: 2, hitchpost.Failed: 1},
		},
	}
}

// TestTextForPeople holds what people read to testdata/golden.txt: look at it there.
func TestTextForPeople(t *testing.T) {
	t.Parallel()
	f := peopled()
	lines := []string{
		"help", "ls", "ls --all", "show odd", "show api --screen", "capture api", "events", "new", "restart --all", "stop api", "close api",
		"rename api x", "send api x", "wait api", "note odd", "note api --set x",
		"card api", "card odd", "check api --set x",
		"checkpoint ls api", "checkpoint restore api 3", "worktree ls", "worktree rm odd",
		"task ls", "task show x", "task run -- make", "task wait x", "task cancel x",
		"key ls", "key add ssh-ed25519 k", "key revoke SHA256:one", "key revoke --actor bob", "node ls",
		"status", "whoami", "version",
	}
	for _, verb := range command.Verbs() {
		lines = append(lines, verb+" --help")
	}
	lines = append(lines, "task run --help", "task ls --help", "task show --help", "task log --help", "task wait --help",
		"task cancel --help", "key ls --help", "key add --help", "key revoke --help", "node ls --help", "checkpoint ls --help",
		"checkpoint diff --help", "checkpoint restore --help", "worktree ls --help", "worktree rm --help")
	var got strings.Builder
	for _, line := range lines {
		r := client{t: t, service: f}.line(line)
		fmt.Fprintf(&got, "$ ssh host %s\n%s\n", line, r.out)
		if r.status != 0 || r.errors != "" || r.writes != 1 || strings.ContainsAny(r.out, "\x1b\r\x07\u009b\u202e") {
			t.Errorf("%s: %+v", line, r)
		}
		for shown := range strings.Lines(r.out) {
			if strings.HasSuffix(strings.TrimSuffix(shown, "\n"), " ") {
				t.Errorf("%s: blanks at the end of %q", line, shown)
			}
		}
	}
	const file = "testdata/golden.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("run with -update if that is meant: (-want +got)\n%s", diff)
	}
}

func TestHelpFitsOneScreen(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"help", "--help", "-h", "help help"} {
		r := client{t: t, service: &fake{}}.line(line)
		rows := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
		if r.status != 0 || len(rows) > 24 {
			t.Errorf("%s: status %d, %d rows", line, r.status, len(rows))
		}
		for _, row := range rows {
			if len([]rune(row)) > 80 {
				t.Errorf("%s: %d columns: %s", line, len([]rune(row)), row)
			}
		}
	}
	r := client{t: t, service: &fake{}}.line("help")
	for _, verb := range command.Verbs() {
		if !regexp.MustCompile(`\n  ([a-z]+, )*` + verb + `\b`).MatchString(r.out) {
			t.Errorf("help does not name %s", verb)
		}
	}
}

// On a phone help is folded between its words, and says the same.
func TestHelpFitsANarrowTerminal(t *testing.T) {
	t.Parallel()
	lines := []string{"help"}
	commandtest.Verbs(command.Tree(), func(path string, _ *cobra.Command) { lines = append(lines, path+" --help") })
	for _, line := range lines {
		narrow := client{t: t, service: &fake{}, terminal: &hitchpost.Terminal{Size: hitchpost.Size{Cols: 40, Rows: 20}}}.line(line)
		for row := range strings.Lines(narrow.out) {
			row = strings.TrimSuffix(row, "\n")
			if command.Width(row) > 40 && strings.Contains(strings.TrimSpace(row), " ") {
				t.Errorf("%s: %q", line, row)
			}
		}
		wide := client{t: t, service: &fake{}}.line(line)
		if diff := cmp.Diff(strings.Fields(wide.out), strings.Fields(narrow.out)); diff != "" {
			t.Errorf("%s (-wide +narrow): %s", line, diff)
		}
	}
}

// Every verb, and every verb behind another, tells of itself in a width that every terminal has, with an example that
// begins with its name.
func TestEveryVerbHasHelp(t *testing.T) {
	t.Parallel()
	commandtest.Verbs(command.Tree(), func(path string, cmd *cobra.Command) {
		for _, line := range []string{path + " --help", path + " -h", "help " + path} {
			r := client{t: t, service: &fake{}}.line(line)
			if r.status != 0 || r.errors != "" || !strings.HasPrefix(r.out, "ssh host "+path) {
				t.Errorf("%s: %+v", line, r)
			}
			if _, example, ok := strings.Cut(r.out, "\nexample: ssh host "); !ok || !strings.HasPrefix(example, path) {
				t.Errorf("%s: no example that begins with it:\n%s", line, r.out)
			}
			for row := range strings.Lines(r.out) {
				if n := command.Width(strings.TrimSuffix(row, "\n")); n > 80 {
					t.Errorf("%s: %d columns: %s", line, n, row)
				}
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" && !f.Hidden {
				t.Errorf("%s --%s says nothing of itself", path, f.Name)
			}
		})
	})
}

// On a terminal a table is cut to its width, wide characters counted as such.
func TestTablesFitTheTerminal(t *testing.T) {
	t.Parallel()
	s := full()
	s.Title = strings.Repeat("日本", 40)
	c := client{t: t, service: &fake{sessions: []hitchpost.Session{s}}, terminal: &hitchpost.Terminal{
		Name: "xterm", Size: hitchpost.Size{Cols: 90, Rows: 20},
	}}
	rows := strings.Split(c.line("ls").out, "\n")
	if got := command.Width(rows[1]); got > 90 || got < 88 || !strings.HasSuffix(rows[1], "…") {
		t.Errorf("%d cells: %s", got, rows[1])
	}
}

func BenchmarkListOfAThousandAsJSON(b *testing.B) {
	f := &fake{}
	for range 1000 {
		f.sessions = append(f.sessions, full())
	}
	c := client{t: b, service: f}
	b.ReportAllocs()
	for b.Loop() {
		if r := c.run("ls", "--json"); r.status != 0 || r.writes != 1 {
			b.Fatal(r.status)
		}
	}
}
