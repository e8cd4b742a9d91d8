package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/hitchpost/hitchpost"
)

func TestSSHCall(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]sshCall{
		"host":                            {host: "host"},
		"host ref":                        {host: "host", ref: "ref"},
		"-v -p 22 host ref":               {options: []string{"-v", "-p", "22"}, host: "host", ref: "ref"},
		"host -p22 ref":                   {options: []string{"-p22"}, host: "host", ref: "ref"},
		"-4vAp 22 -o A=b host":            {options: []string{"-4vAp", "22", "-o", "A=b"}, host: "host"},
		"-J jump,ssh://x:1 -i key u@host": {options: []string{"-J", "jump,ssh://x:1", "-i", "key"}, host: "u@host"},
		"-- host ref":                     {host: "host", ref: "ref"},
		"-F - ssh://u@host:2222":          {options: []string{"-F", "-"}, host: "ssh://u@host:2222"},
		"-L 1:a:2 -e none host -t":        {options: []string{"-L", "1:a:2", "-e", "none", "-t"}, host: "host"},
		"-oProxyCommand=x host":           {options: []string{"-oProxyCommand=x"}, host: "host"},
	} {
		got, err := parseSSHCall(strings.Fields(line))
		if err != nil || got.host != want.host || got.ref != want.ref || !slices.Equal(got.options, want.options) {
			t.Errorf("%s: %+v %v, want %+v", line, got, err, want)
		}
	}
	for _, line := range []string{"", "-p", "-v", "--", "-- -v", "host a b", "-N host", "-vN host", "-z host", "-W a:1 host", "--port 22 host"} {
		if got, err := parseSSHCall(strings.Fields(line)); hitchpost.KindOf(err) != hitchpost.UsageError {
			t.Errorf("%q is taken: %+v %v", line, got, err)
		}
	}
}

func TestSSHCallArguments(t *testing.T) {
	t.Parallel()
	call := sshCall{options: []string{"-o", "ServerAliveInterval=5"}, host: "host", ref: "it's"}
	args := call.arguments(true, true)
	if args[0] != "-t" || args[1] != "-o" || args[2] != "ServerAliveInterval=5" {
		t.Errorf("options given do not come first: %q", args)
	}
	// The last word is what the server splits.
	if tail := args[len(args)-4:]; !slices.Equal(tail, []string{"--", "host", "attach", `it\'s`}) {
		t.Errorf("tail %q", tail)
	}
	last := sshCall{host: "host", ref: "last"}
	if first, then := last.arguments(false, false), last.arguments(false, true); first[len(first)-1] != "last" || then[len(then)-1] != "host" {
		t.Errorf("last: %q, then %q", first, then)
	}
	args = sshCall{host: "host"}.arguments(false, false)
	if slices.Contains(args, "ServerAliveInterval=15") || args[len(args)-1] != "host" {
		t.Errorf("arguments %q", args)
	}
}

func TestKeepAliveOfTheConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, want := range map[string]bool{
		"":                                     false,
		"BatchMode yes\n":                      false,
		"ServerAliveInterval 60\n":             true,
		"Host other\n ServerAliveInterval 5\n": false,
		"Host host\n ServerAliveInterval 5\n":  true,
		"Frobnicate yes\n":                     false,
	} {
		config := dir + "/config"
		must(t, os.WriteFile(config, []byte(text), 0o600))
		if got := hasKeepAlive(t.Context(), "ssh", sshCall{options: []string{"-F", config}, host: "host"}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if !hasKeepAlive(t.Context(), "ssh", sshCall{options: []string{"-F", "none", "-o", "ServerAliveInterval=7"}, host: "host"}) {
		t.Error("an option given is not seen")
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		end    sshEnd
		been   bool
		status int
		over   bool
	}{
		{sshEnd{status: 0}, true, 0, true},
		{sshEnd{status: 3}, true, 3, true},
		{sshEnd{status: 75}, false, 0, false},
		{sshEnd{status: 75}, true, 0, false},
		{sshEnd{status: 77}, true, 77, true},
		{sshEnd{status: 130}, true, 130, true},
		{sshEnd{status: 255}, false, 255, true},
		{sshEnd{status: 255}, true, 255, false},
		{sshEnd{status: 255, asked: syscall.SIGTERM}, true, 143, true},
		{sshEnd{status: 0, asked: syscall.SIGINT}, false, 130, true},
	} {
		if status, over := verdict(c.end, c.been); over != c.over || over && status != c.status {
			t.Errorf("%+v, been %v: %d %v", c.end, c.been, status, over)
		}
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	different := map[time.Duration]bool{}
	for range 200 {
		var b backoff
		for i := range 10 {
			most := min(time.Second<<min(i, 8), longestWait)
			d := b.next()
			if d < most/2 || d < shortestWait || d > most {
				t.Fatalf("try %d waits %v", i, d)
			}
			different[d] = true
		}
	}
	if len(different) < 1000 {
		t.Errorf("only %d different waits", len(different))
	}
}

func TestAsleep(t *testing.T) {
	t.Parallel()
	begin := moment{wall: time.Unix(1000, 0), awake: time.Hour, boot: 5 * time.Hour}
	for name, c := range map[string]struct {
		wall, awake, boot, slept time.Duration
		line                     string
	}{
		"a second":            {time.Second, time.Second, time.Second, 0, "for 1s, lost at"},
		"a machine asleep":    {time.Hour, time.Second, time.Hour, time.Hour - time.Second, "for 1h0m0s, lost at"},
		"a stopped process":   {30 * time.Second, 30 * time.Second, 30 * time.Second, 0, "for 30s, lost at"},
		"a clock set forward": {8 * time.Hour, 2 * time.Second, 2 * time.Second, 0, "for 2s, lost at"},
		"a clock set back":    {-2 * time.Hour, 2 * time.Second, 2 * time.Second, 0, "for 2s, lost at"},
	} {
		now := moment{begin.wall.Add(c.wall), begin.awake + c.awake, begin.boot + c.boot}
		if got := asleep(begin, now); got != c.slept {
			t.Errorf("%s: slept %v", name, got)
		}
		if line := reconnectingLine(begin, now, ""); !strings.Contains(line, c.line) {
			t.Errorf("%s: %s", name, line)
		}
	}
	read := clock(time.Now())
	if from, to := read(), read(); passed(from, to) < 0 || asleep(from, to).Abs() > time.Minute {
		t.Errorf("between %+v and %+v", from, to)
	}
}

// sleeper is a clock whose machine can be put to sleep.
type sleeper struct{ slept chan time.Duration }

func (s sleeper) clock() func() moment {
	real, total := clock(time.Now()), time.Duration(0)
	return func() moment {
		select {
		case d := <-s.slept:
			total += d
		default:
		}
		now := real()
		return moment{now.wall.Add(total), now.awake, now.boot + total}
	}
}

// onTerminal is a reconnector on a terminal of its own, and what it shows.
func onTerminal(t *testing.T, call sshCall, now func() moment) (*reconnector, *buffer) {
	t.Helper()
	ptmx, tty, err := pty.Open()
	must(t, err)
	term, err := openTerminal(tty, tty)
	must(t, err)
	shown, done := &buffer{}, make(chan struct{})
	go func() {
		defer close(done)
		var buf [4096]byte
		for {
			n, err := ptmx.Read(buf[:])
			_, _ = shown.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = tty.Close(); _ = ptmx.Close(); <-done })
	return &reconnector{
		path: "ssh", call: call, id: "test-" + t.Name(), term: term, errs: tty, signals: make(chan os.Signal, 1), now: now,
	}, shown
}

func TestWaitEndsWhenTheMachineWakes(t *testing.T) {
	t.Parallel()
	s := sleeper{make(chan time.Duration, 1)}
	c, shown := onTerminal(t, sshCall{}, s.clock())
	woken := make(chan error, 1)
	go func() {
		woke, err := c.wait(t.Context(), time.Hour, "why")
		if !woke && err == nil {
			err = errors.New("the whole time was waited for")
		}
		woken <- err
	}()
	eventually(t, "the line is shown", func() bool { return strings.Contains(shown.String(), "reconnecting for") }, shown.String)
	s.slept <- time.Hour
	select {
	case err := <-woken:
		must(t, err)
	case <-time.After(waitLimit):
		t.Fatal("a machine that woke goes on waiting")
	}
	woke, err := c.wait(t.Context(), time.Millisecond, "")
	if woke || err != nil {
		t.Errorf("a wait without a sleep: %v %v", woke, err)
	}
}

// TestConnectAfterSleep puts the machine to sleep with a session open: the server has freed the client since, and ssh
// would find out much later.
func TestConnectAfterSleep(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	call, err := parseSSHCall(s.sshArgs("job"))
	must(t, err)
	machine := sleeper{make(chan time.Duration, 1)}
	c, shown := onTerminal(t, call, machine.clock())
	over := make(chan error, 1)
	go func() { over <- c.stay(t.Context()) }()
	s.becomes("job", "RUNNING")
	for range 2 {
		times := strings.Count(shown.String(), "row 500")
		eventually(t, "the session is open", c.term.raw, shown.String)
		machine.slept <- time.Hour
		eventually(t, "the session is there again", func() bool { return strings.Count(shown.String(), "row 500") > times }, shown.String)
	}
	c.signals <- syscall.SIGTERM
	select {
	case err := <-over:
		if err != exitStatus(143) {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(waitLimit):
		t.Fatalf("it goes on\n%s", shown)
	}
}
