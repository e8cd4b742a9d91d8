package command_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	shellquote "github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd/command"
	"github.com/hitchpost/hitchpost/sshd/command/commandtest"
)

// FuzzSplit takes any line apart: there is an error or there are words, and words that are quoted give themselves.
func FuzzSplit(f *testing.F) {
	for _, line := range []string{
		"", " ls  --json ", `a 'b c' "d e" f\ g`, `'`, `"`, `\`, `"\$\x\""`, "a\nb\\\nc", "\xff '\u00e4'", "$(x) `y` ~ * #", "\x00",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := command.Split(line)
		if err != nil {
			if words != nil || hitchpost.KindOf(err) != hitchpost.UsageError {
				t.Errorf("%q: %q, %v", line, words, err)
			}
			return
		}
		again, err := command.Split(shellquote.Join(words...))
		if err != nil || !slices.Equal(again, words) {
			t.Errorf("%q: %q became %q, %v", line, words, again, err)
		}
	})
}

// FuzzRun drives any line through.
func FuzzRun(f *testing.F) {
	for _, line := range []string{
		"ls --json", "new --title 'a b' -- sh -c x", "key add -", "help key add", "--json", "restart --all",
		"stop x --timeout 1h", "capture x --lines=-1", "-h", "__complete ''", "ls --help", "help help",
		"key --json ls", "\x00", "'", "help --schema events --follow", "send api - --key F5", "task run --stdin -- cat",
	} {
		f.Add(line, true)
		f.Add(line, false)
	}
	f.Fuzz(func(t *testing.T, line string, terminal bool) {
		words, err := command.Split(line)
		if err != nil {
			return
		}
		runSoundly(t, words, terminal)
	})
}

// FuzzVerbs drives each verb with its own flags and with odd words, as the bytes of choice say: the first chooses the
// verb, and each other one a word.
func FuzzVerbs(f *testing.F) {
	var verbs [][]string
	var flags [][]string
	commandtest.Verbs(command.Tree(), func(path string, cmd *cobra.Command) {
		own := []string{"--json", "--help"}
		cmd.Flags().VisitAll(func(flag *pflag.Flag) { own = append(own, "--"+flag.Name, "--"+flag.Name+"=") })
		verbs, flags = append(verbs, strings.Fields(path)), append(flags, own)
	})
	odd := []string{
		"api", "odd", "x", "", "-", "--", "---", "-x", "-h", "1", "-1", "0", "0s", "10m", "90d", "99999999999999999999d", "1e9", "all",
		"last", "LAST", "SHA256:one", "ssh-ed25519", "RUNNING", "running,failed", ",", "viewer", "root", "A=B", "=", "Enter", "C-c",
		"true", "false", "--json=false", "--json=1", "--all", "--", "a b", "\u00e9\u65e5", "\x1b[31m", "\u009b", "\u202e", "a\nb", "\r", "\xff", "\x00", "%s%d",
		"#{pid}", "$(id)", "2026-01-31T08:00:00Z", "--schema", "--follow", strings.Repeat("x", 5000),
	}
	for i := range verbs {
		f.Add([]byte{byte(i), 0, 1, 2, 3}, false)
		f.Add([]byte{byte(i), 200, 130, 7, 66}, true)
	}
	f.Fuzz(func(t *testing.T, choice []byte, terminal bool) {
		if len(choice) == 0 || len(choice) > 12 {
			return
		}
		n := int(choice[0]) % len(verbs)
		words := slices.Clone(verbs[n])
		from := append(slices.Clone(flags[n]), odd...)
		for _, b := range choice[1:] {
			words = append(words, from[int(b)%len(from)])
		}
		runSoundly(t, words, terminal)
	})
}

// runSoundly runs any words, and checks what holds whatever they are.
func runSoundly(t *testing.T, words []string, terminal bool) {
	t.Helper()
	f := peopled()
	f.tasks.fed = make(chan string, 1)
	c := client{t: t, service: f, stdin: "ssh-ed25519 k"}
	if terminal {
		c.terminal = &hitchpost.Terminal{Name: "xterm", Size: hitchpost.Size{Cols: 80, Rows: 24}}
	}
	r := c.run(words...)
	// These go on after they have printed: what was printed is good, and something is to be told all the same.
	goesOn := slices.Contains(words, "events") && r.status == 75
	switch {
	case r.attached != nil:
		if r.status != 42 || r.out != "" || r.errors != "" {
			t.Errorf("%q: attached and %.300q", words, fmt.Sprint(r))
		}
	case r.status == 0 && r.errors != "":
		t.Errorf("%q: done, and %.300q", words, r.errors)
	case r.status == 0 || goesOn:
	case r.out != "":
		t.Errorf("%q: exit %d and stdout %.300q", words, r.status, r.out)
	case !oneLine(r.errors, "hitchpost: ") && !oneLine(r.errors, `{"error":{"code":"`):
		t.Errorf("%q: exit %d and stderr %.300q", words, r.status, r.errors)
	}
}
