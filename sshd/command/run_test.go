package command_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd/command"
)

// wrongLines are lines that nothing may come of, and what is said to them.
func wrongLines() map[string]string {
	return map[string]string{
		"frobnicate":                      "no verb \"frobnicate\": `ssh host help` lists the verbs; a session of that name",
		"lss":                             "no verb \"lss\": did you mean \"ls\"?",
		"notes":                           "did you mean \"note\"? `ssh host help` lists the verbs; a session of that name",
		"''":                              `no verb ""`,
		"API":                             `no verb "API"`,
		"__complete ls":                   `no verb "__complete"`,
		"completion bash":                 `no verb "completion"`,
		"jobs ls":                         `no verb "jobs"`,
		"node":                            "`node` needs another word: use one of: ls",
		"node add x y":                    `no verb "node add"`,
		"key":                             "`key` needs another word: use one of: ls, add, revoke",
		"key lss":                         `did you mean "key ls"?`,
		"key revoke":                      "`key revoke` needs a FINGERPRINT",
		"ls extra":                        "`ls` does not take \"extra\"",
		"ls --nope":                       "unknown flag: --nope: see `ssh host ls --help`",
		"ls -x":                           "unknown shorthand flag: 'x' in -x",
		"ls --state LIVE":                 `no state "LIVE": use one of: STARTING, RUNNING`,
		"ls --state ''":                   `no state ""`,
		"ls --node":                       "flag needs an argument: --node",
		"show":                            "`show` needs a REF: as in: show api",
		"show a b":                        "`show` does not take \"b\"",
		"attach api":                      "attach needs a terminal: ask for one with ssh -t",
		"new --attach":                    "new --attach needs a terminal",
		"new htop":                        "`new` does not take \"htop\": put the program and its words behind --",
		"new htop -- x":                   "`new` does not take \"htop\"",
		"new --forced":                    "unknown flag: --forced",
		"new --env PATH":                  `"PATH" is no environment variable: give --env NAME=VALUE`,
		"new --env =x":                    `"=x" is no environment variable`,
		"new --env":                       "flag needs an argument: --env",
		"new --if-absent":                 "--if-absent needs a title to look for: give one with --title",
		"restart":                         "`restart` needs a REF or --all",
		"restart --all api":               "`restart --all` does not take \"api\"",
		"restart api --state FAILED":      "--state goes with --all",
		"restart api --conversation":      "flag needs an argument: --conversation",
		"restart api --conversation ''":   `"" is no id of a conversation: give a UUID`,
		"restart api --conversation last": `"last" is no id of a conversation`,
		"restart --all --fresh":           "--fresh and --conversation are for one session: give a REF in place of --all",
		"restart --all --state RUNNING":   "a session that is RUNNING cannot be restarted",
		"stop":                            "`stop` needs a REF",
		"stop api --timeout 10":           "durations are like 90s, 10m, 12h or 90d",
		"stop api --timeout -5s":          "durations are like",
		"stop api --timeout 99999999999d": "durations are like",
		"rename api two words":            "`rename` does not take \"words\": words with blanks need quotes",
		"capture api --lines 0":           "--lines is at least 1",
		"capture api --lines x":           `invalid argument "x" for "--lines" flag: no whole number: see`,
		"key add --actor '' k":            "the actor's name is empty",
		"key add --role root k":           `no role "root": use admin, operator or viewer`,
		"key add --expires 0s k":          "a key that expires at once is of no use",
		"key add what":                    "that is no public key",
		"help nope":                       `no verb "nope"`,
		"help key nope":                   `no verb "key nope"`,
		"whoami --nope":                   "unknown flag",
		"ls \xff":                         "is not UTF-8 text",
		"show a\x00b":                     "is not UTF-8 text",
		"ls 'a\x1b[31m\nb'":               `does not take "a\x1b[31m\nb"`,

		"restart api --conversation {0193a000-0000-7000-8000-00000000000b}":       "is no id of a conversation",
		"restart --all --conversation 0193a000-0000-7000-8000-00000000000b":       "are for one session",
		"restart api --fresh --conversation 0193a000-0000-7000-8000-00000000000b": "--fresh and --conversation do not go together",
	}
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	f := &fake{sessions: []hitchpost.Session{full()}}
	for line, say := range wrongLines() {
		r := client{t: t, service: f}.line(line)
		if r.status != 2 || r.out != "" || !strings.HasPrefix(r.errors, "hitchpost: ") || !strings.Contains(r.errors, say) ||
			strings.Count(r.errors, "\n") != 1 || !strings.HasSuffix(r.errors, "\n") || strings.Contains(r.errors, "\x1b") {
			t.Errorf("%q: status %d, stdout %q\n got %q\nwant %q", line, r.status, r.out, r.errors, say)
		}
	}
	if len(f.asked) > 0 {
		t.Errorf("the service was asked: %v", f.asked)
	}
}

func errorKinds() []hitchpost.ErrorKind {
	return []hitchpost.ErrorKind{
		hitchpost.FailedError, hitchpost.UsageError, hitchpost.NotFoundError, hitchpost.ConflictError, hitchpost.DeniedError,
		hitchpost.UnconfirmedError, hitchpost.UnavailableError, hitchpost.RevokedError, hitchpost.TimeoutError,
	}
}

func TestExitStatusOfEveryKind(t *testing.T) {
	t.Parallel()
	for kind, want := range map[hitchpost.ErrorKind]int{
		hitchpost.FailedError: 1, hitchpost.UsageError: 2, hitchpost.NotFoundError: 3, hitchpost.ConflictError: 4,
		hitchpost.DeniedError: 5, hitchpost.UnconfirmedError: 6, hitchpost.UnavailableError: 75, hitchpost.RevokedError: 77,
		hitchpost.TimeoutError: 124,
	} {
		f := &fake{err: hitchpost.Errorf(kind, "it broke\x1b[2J\nbadly").Hinted("mend it")}
		for _, line := range []string{"ls", "show x", "new", "restart x", "stop x", "close x", "rename x y", "capture x",
			"history x", "key ls", "key add ssh-ed25519 x", "status", "node ls", "restart --all"} {
			r := client{t: t, service: f}.line(line)
			if r.status != want || r.out != "" || r.errors != "hitchpost: it broke\ufffd[2J; badly: mend it\n" {
				t.Errorf("%s: %q: status %d, stdout %q, stderr %q", kind, line, r.status, r.out, r.errors)
			}
		}
	}
	r := client{t: t, service: &fake{err: errors.New("plain")}}.line("ls")
	if r.status != 1 || r.errors != "hitchpost: plain\n" {
		t.Errorf("%d %q", r.status, r.errors)
	}
}

func TestReasonForTheEndIsTold(t *testing.T) {
	t.Parallel()
	revoked := hitchpost.Errorf(hitchpost.RevokedError, "this key was revoked")
	away := hitchpost.Errorf(hitchpost.UnavailableError, "the database is away")
	for _, err := range []error{context.Canceled, away} { // what was under way fails in ways of its own
		r := client{t: t, service: &fake{err: err}, cause: revoked}.line("ls")
		if r.status != 77 || r.errors != "hitchpost: this key was revoked\n" {
			t.Errorf("%d %q", r.status, r.errors)
		}
	}
	r := client{t: t, service: &fake{err: context.DeadlineExceeded}}.line("ls")
	if r.status != 75 || r.errors != "hitchpost: no answer in time: try again\n" {
		t.Errorf("%d %q", r.status, r.errors)
	}
}

// gone is a client that takes nothing more.
type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestClientThatIsGoneEndsTheVerbQuietly(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"ls", "ls --json", "help", "ls --help", "version", "capture api", "show api --screen --json"} {
		words, err := command.Split(line)
		if err != nil {
			t.Fatal(err)
		}
		var errs strings.Builder
		status := command.Run(t.Context(), command.Invocation{
			Words: words, Service: &fake{sessions: []hitchpost.Session{full()}}, Stdin: untouched{t},
			Stdout: gone{}, Stderr: &errs, Now: time.Now,
		})
		if status != 1 || errs.String() != "" {
			t.Errorf("%s: %d %q", line, status, errs.String())
		}
	}
}

func TestRequestsReachTheServiceAsTyped(t *testing.T) {
	t.Parallel()
	key := func(role hitchpost.Role, actor string, expires time.Time) hitchpost.Key {
		return hitchpost.Key{
			Fingerprint: "SHA256:k", Type: "ssh-ed25519", AuthorizedKey: "ssh-ed25519 k", Actor: actor, Role: role,
			ExpiresAt: expires,
		}
	}
	for line, want := range map[string]any{
		"":                                  hitchpost.ListRequest{},
		"ls":                                hitchpost.ListRequest{},
		"ls --all --node n --project 'p q'": hitchpost.ListRequest{All: true, Node: "n", Project: "p q"},
		"ls --state=running,FAILED": hitchpost.ListRequest{
			States: []hitchpost.State{hitchpost.Running, hitchpost.Failed},
		},
		"new": hitchpost.StartRequest{Args: []string{}, Watch: time.Second},
		`new --title "it's #(x)" --kind command --cwd /d --project p --node n --note hi --check 'make test' ` +
			`--restart-command 'a b' -- sh -c 'echo "$x"' '' --json`: hitchpost.StartRequest{
			Title: "it's #(x)", Kind: hitchpost.Command, Cwd: "/d", Project: "p", Node: "n", Note: "hi", Check: "make test",
			RestartCommand: "a b", Args: []string{"sh", "-c", `echo "$x"`, "", "--json"}, Watch: time.Second,
		},
		"new --if-absent --title a --env A=1 --env 'B=x=y, z' --env C=": hitchpost.StartRequest{
			Title: "a", Env: []string{"A=1", "B=x=y, z", "C="}, IfAbsent: true, Args: []string{}, Watch: time.Second,
		},
		"new -- -- x":         hitchpost.StartRequest{Args: []string{"--", "x"}, Watch: time.Second},
		"restart api":         hitchpost.RestartRequest{Watch: time.Second},
		"restart --force api": hitchpost.RestartRequest{Watch: time.Second, Force: true},
		"restart --fresh api": hitchpost.RestartRequest{Watch: time.Second, Fresh: true},
		"restart api --conversation 0193A000-0000-7000-8000-00000000000B": hitchpost.RestartRequest{
			Watch: time.Second, Conversation: "0193a000-0000-7000-8000-00000000000b",
		},
		"new --kind claude -- --model opus 'fix it'": hitchpost.StartRequest{
			Kind: hitchpost.Claude, Args: []string{"--model", "opus", "fix it"}, Watch: time.Second,
		},
		"new --preset codex -- --model o3": hitchpost.StartRequest{
			Preset: "codex", Args: []string{"--model", "o3"}, Watch: time.Second,
		},
		"stop api":                              hitchpost.StopRequest{},
		"stop --signal INT --timeout 1m30s api": hitchpost.StopRequest{Signal: "INT", Timeout: 90 * time.Second},
		"stop api --timeout 0s":                 hitchpost.StopRequest{Timeout: 1},
		"stop api --timeout 2d":                 hitchpost.StopRequest{Timeout: 48 * time.Hour},
		"close api":                             "close",
		"rename api '  new  title '":            "  new  title ",
		"rename -- api --json":                  "--json",
		"capture api --lines 5 --ansi":          hitchpost.CaptureRequest{Lines: 5, ANSI: true},
		"history api":                           hitchpost.CaptureRequest{History: true},
		"key add ssh-ed25519 k":                 key("", "", time.Time{}), // as before where it was revoked
		"key add --actor bob --role VIEWER --expires 12h 'ssh-ed25519 k'": key(hitchpost.Viewer, "bob", now.Add(12*time.Hour)),
	} {
		f := &fake{sessions: []hitchpost.Session{full()}}
		r := client{t: t, service: f}.line(line)
		if r.status != 0 || r.errors != "" || len(f.asked) != 1 {
			t.Errorf("%q: status %d, stderr %q, asked %v", line, r.status, r.errors, f.asked)
			continue
		}
		if diff := cmp.Diff(want, f.asked[0]); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", line, diff)
		}
	}
}

func TestAttachGetsTheTerminal(t *testing.T) {
	t.Parallel()
	terminal := hitchpost.Terminal{Name: "xterm", Size: hitchpost.Size{Cols: 100, Rows: 30}}
	want := func(ref string, readOnly, noReplay bool) *hitchpost.AttachRequest {
		return &hitchpost.AttachRequest{Ref: ref, Terminal: terminal, ReadOnly: readOnly, NoReplay: noReplay}
	}
	id := full().ID
	for line, want := range map[string]*hitchpost.AttachRequest{
		"attach api":                         want("api", false, false),
		"attach --read-only api --no-replay": want("api", true, true),
		"api":                                want("api", false, false),
		"last --read-only":                   want("last", true, false),
		"new --attach":                       want(id, false, false),
	} {
		f := &fake{sessions: []hitchpost.Session{full()}}
		r := client{t: t, service: f, terminal: &terminal}.line(line)
		if diff := cmp.Diff(want, r.attached); diff != "" || r.status != 42 || r.out != "" || r.errors != "" {
			t.Errorf("%q: %+v\n%s", line, r, diff)
		}
		if line == "new --attach" && f.asked[0].(hitchpost.StartRequest).Size != terminal.Size {
			t.Errorf("started with %+v", f.asked[0])
		}
	}
	for _, line := range []string{"foo bar", "api -- x", "-x", "''"} {
		if r := (client{t: t, service: &fake{}, terminal: &terminal}).line(line); r.status != 2 || r.attached != nil {
			t.Errorf("%q: %+v", line, r)
		}
	}
	for _, name := range []string{"", "dumb"} {
		for _, line := range []string{"attach api", "api", "new --attach"} {
			f := &fake{sessions: []hitchpost.Session{full()}}
			r := client{t: t, service: f, terminal: &hitchpost.Terminal{Name: name}}.line(line)
			if r.status != 2 || r.attached != nil || len(f.asked) > 0 || !strings.Contains(r.errors, "TERM") {
				t.Errorf("%q with TERM %q: %+v", line, name, r)
			}
		}
	}
}

func TestEarlyEndIsReported(t *testing.T) {
	t.Parallel()
	code := func(n int) *hitchpost.Exit { return &hitchpost.Exit{Code: &n, At: now} }
	tests := []struct {
		exit   *hitchpost.Exit
		lines  []string
		status int
		say    string
	}{
		{code(7), []string{"boom\x1b[31m", "", "  more"}, 1, "api ended at once: exit 7 (boom\ufffd[31m / more)"},
		{&hitchpost.Exit{Signal: "SEGV"}, nil, 1, "api ended at once: killed by SIGSEGV"},
		{&hitchpost.Exit{}, nil, 1, "api ended at once: ended in a way nobody saw"},
		{code(0), []string{"done"}, 0, "api ended at once: exit 0 (done)"},
	}
	for _, test := range tests {
		for _, line := range []string{"new", "restart api"} {
			f := &fake{sessions: []hitchpost.Session{full()}, early: test.exit, lines: test.lines}
			r := client{t: t, service: f}.line(line)
			if r.status != test.status || !strings.HasPrefix(r.errors, "hitchpost: "+test.say) ||
				strings.Count(r.errors, "\n") != 1 || (r.out == "") != (test.status != 0) {
				t.Errorf("%s: %+v", line, r)
			}
			r = client{t: t, service: f}.line(line + " --json")
			if r.status != test.status || (r.out == "") != (test.status != 0) || (r.errors == "") != (test.status == 0) {
				t.Errorf("%s --json: %+v", line, r)
			}
		}
	}
}

func TestStdinIsReadWhereItIsAskedFor(t *testing.T) {
	t.Parallel()
	f := &fake{sessions: []hitchpost.Session{full()}}
	c := client{t: t, service: f, stdin: "# my key\n\nssh-ed25519 k ann's\r\n"}
	for _, line := range []string{"key add -", "key add"} {
		if r := c.line(line); r.status != 0 || !strings.HasPrefix(r.out, "SHA256:k  ann  operator  yes") {
			t.Errorf("%s: %+v", line, r)
		}
	}
	c.stdin = "line one\nline two\n"
	if r := c.line("new --note -"); r.status != 0 || f.asked[2].(hitchpost.StartRequest).Note != c.stdin {
		t.Errorf("%+v, %+v", r, f.asked[2])
	}
	c.stdin = strings.Repeat("x", 64<<10)
	if r := c.line("new --note -"); r.status != 0 || len(f.asked[3].(hitchpost.StartRequest).Note) != 64<<10 {
		t.Errorf("%+v", r)
	}
	asked := len(f.asked)
	for _, test := range []struct{ line, stdin, say string }{
		{"new --note -", strings.Repeat("x", 64<<10+1), "longer than 65536 bytes"},
		{"new --note -", "a\x00", "not UTF-8 text"},
		{"new --note -", "\xff", "not UTF-8 text"},
		{"key add -", strings.Repeat("x", 64<<10+1), "longer than 65536 bytes"},
		{"key add -", "\n# none\n", "no key was given"},
		{"key add -", "ssh-ed25519 a\nssh-ed25519 b\n", "2 keys were given"},
	} {
		c.stdin = test.stdin
		if r := c.line(test.line); r.status != 2 || r.out != "" || !strings.Contains(r.errors, test.say) {
			t.Errorf("%s: %+v", test.line, r)
		}
	}
	if len(f.asked) != asked {
		t.Errorf("the service was asked: %v", f.asked[asked:])
	}
}

func TestSplitLikeAShell(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		``:                                {},
		`  ls   --json `:                  {"ls", "--json"},
		`a 'b c' "d e" f\ g`:              {"a", "b c", "d e", "f g"},
		`'' "" x''y`:                      {"", "", "xy"},
		`'$(x)' "$(x) $y" $z * ~ #c`:      {"$(x)", "$(x) $y", "$z", "*", "~", "#c"},
		`"\"two words\"" 'it'\''s' "a\b"`: {`"two words"`, "it's", `a\b`},
		"a\nb\tc;d|e&f>g":                 {"a", "b", "c;d|e&f>g"},
		"\xff 'ä😀'":                       {"\xff", "ä😀"},
		strings.Repeat("x", 100<<10):      {strings.Repeat("x", 100<<10)},
	} {
		if got, err := command.Split(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%.50q: %.100q, %v", line, got, err)
		}
	}
	for _, line := range []string{`'`, `"`, `a 'b`, `a "b\"`, `a\`, `new -- "x`} {
		if got, err := command.Split(line); hitchpost.KindOf(err) != hitchpost.UsageError || got != nil {
			t.Errorf("%q: %q, %v", line, got, err)
		}
	}
}
