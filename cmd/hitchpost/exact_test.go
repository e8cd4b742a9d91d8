package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/crypto/ssh"
)

// seed keeps n sessions that ran and ended, none of which was ever started; the first ten are of the project few.
func (s *stack) seed(n int) {
	s.t.Helper()
	must(s.t, s.execute(`insert into terminal_sessions (id, handle, title, kind, node_id, project, cwd, state,
			state_reason, state_source, state_since, args, exit_code, created_at, started_at, ended_at, last_output_at)
		select gen_random_uuid(), 'seed-' || i, 'Seed ' || i || ' with a "title"', 'command', node.id,
			case when i > 10 then '' else 'few' end, '/tmp', 'STOPPED', 'exit 0',
			'exit', now(), array['make', 'all'], 0, now() + i * interval '1 microsecond', now(), now(), now()
		from terminal_nodes node, generate_series(1, $1::int) i`, n))
}

// execute runs one statement on the database of a stack that has one of a test.
func (s *stack) execute(statement string, args ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.flags[slices.Index(s.flags, "--database-url")+1])
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement, args...)
	return errors.Join(err, conn.Close(ctx))
}

// dial is a connection of another client than OpenSSH's, that opens channels by hand.
func (s *stack) dial() *ssh.Client {
	s.t.Helper()
	pem, err := os.ReadFile(s.path("home/.ssh/id_ed25519"))
	must(s.t, err)
	key, err := ssh.ParsePrivateKey(pem)
	must(s.t, err)
	conn, err := net.Dial("tcp", s.addr)
	must(s.t, err)
	c, channels, requests, err := ssh.NewClientConn(conn, s.addr, &ssh.ClientConfig{
		User: "raw", Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: ssh.InsecureIgnoreHostKey(),
	})
	must(s.t, err)
	client := ssh.NewClient(c, channels, requests)
	s.t.Cleanup(func() { _ = client.Close() })
	return client
}

// channel runs one command and returns what it wrote and its exit status. It is an error when that did not come before
// the end of the output, or when anything but the close came after it.
func channel(c *ssh.Client, line string) (out []byte, status uint32, err error) {
	ch, requests, err := c.OpenChannel("session", nil)
	if err != nil {
		return nil, 0, err
	}
	if ok, err := ch.SendRequest("exec", true, ssh.Marshal(struct{ Line string }{line})); err != nil || !ok {
		return nil, 0, errors.Join(errors.New("exec was refused"), err)
	}
	out, err = io.ReadAll(ch)
	if err != nil {
		return out, 0, err
	}
	// The library hands on the messages of a channel in the order in which they came.
	if len(requests) != 1 {
		return out, 0, errors.New("the output ended before there was an exit status")
	}
	end := <-requests
	if end.Type != "exit-status" || len(end.Payload) != 4 {
		return out, 0, errors.New("a request " + end.Type + " in place of the exit status")
	}
	if more, open := <-requests; open {
		return out, 0, errors.New("a request " + more.Type + " after the exit status")
	}
	return out, uint32(end.Payload[3]), nil
}

// TestAnswersAreWhole asks for answers many times, among them long ones: all of it comes, then the exit status, the end
// of file and the close, whatever else goes on.
func TestAnswersAreWhole(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.seed(300)
	long, short := s.ok("ls --json"), s.ok("ls --json --project few")
	if n, few := strings.Count(long, `"handle":"seed-`), strings.Count(short, `"handle":"seed-`); n != 300 || few != 10 {
		t.Fatalf("%d and %d sessions", n, few)
	}
	nth := func(i int) (line, want string) { // every fifth is a long one
		if i%5 == 0 {
			return "ls --json", long
		}
		return "ls --json --project few", short
	}
	var all sync.WaitGroup
	all.Go(func() {
		c := s.dial()
		overdue := time.AfterFunc(2*waitLimit, func() { _ = c.Close() })
		defer overdue.Stop()
		for i := range 500 {
			line, want := nth(i)
			if out, status, err := channel(c, line); err != nil || status != 0 || string(out) != want {
				t.Errorf("call %d: exit %d, %d bytes of %d: %v", i, status, len(out), len(want), err)
				return
			}
		}
	})
	for i := range 50 {
		all.Go(func() {
			line, want := nth(i)
			var out, errs bytes.Buffer
			cmd := exec.CommandContext(t.Context(), "ssh", append([]string{"-vvv", "-o", "LogLevel=DEBUG3"}, s.sshArgs(line)...)...)
			cmd.Env, cmd.Stdout, cmd.Stderr = s.env, &out, &errs
			if err := cmd.Run(); err != nil || out.String() != want {
				t.Errorf("%v, %d bytes of %d", err, out.Len(), len(want))
			}
			if got := ending(errs.String()); got != "98 96 97" {
				t.Errorf("the messages at the end came as %s", got)
			}
		})
	}
	all.Wait()
}

// ending are the messages at the end of a channel, by their numbers (RFC 4254 section 9): request, end of file, close.
func ending(log string) string {
	var order []string
	for _, m := range regexp.MustCompile(`receive packet: type (9[678])\b`).FindAllStringSubmatch(log, -1) {
		order = append(order, m[1])
	}
	return strings.Join(order, " ")
}

// call is a command that goes on, its stdin too.
type call struct {
	*ssh.Session
	t         *testing.T
	client    *ssh.Client
	line      string
	out, errs buffer
}

// call starts a command on a connection and waits until it has printed something.
func (s *stack) call(c *ssh.Client, line, first string) *call {
	s.t.Helper()
	session, err := c.NewSession()
	must(s.t, err)
	x := &call{Session: session, t: s.t, client: c, line: line}
	x.Stdout, x.Stderr = &x.out, &x.errs
	_, err = x.StdinPipe()
	must(s.t, err)
	must(s.t, x.Start(line))
	s.eventually(line+" is under way", func() bool { return strings.Contains(x.out.String(), first) })
	return x
}

// ends waits for the end of a command that fails, and for its one line on stderr.
func (x *call) ends(status int, says string) {
	x.t.Helper()
	overdue := time.AfterFunc(waitLimit, func() { _ = x.client.Close() })
	defer overdue.Stop()
	var exit *ssh.ExitError
	if err := x.Wait(); !errors.As(err, &exit) || exit.ExitStatus() != status {
		x.t.Errorf("%s: %v, want exit status %d", x.line, err, status)
	}
	if text := x.errs.String(); !strings.Contains(text, says) || strings.Count(text, "\n") != 1 {
		x.t.Errorf("%s: stderr %q, want %q", x.line, text, says)
	}
}

// TestSignalsOfTheClient sends signals as requests of a channel (RFC 4254 section 6.9): those that end a program end the
// verb, which says so by its status, and what it waited for goes on. A verb that the service ends says why, once.
func TestSignalsOfTheClient(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "job", "--", "cat")
	id := s.task("sh", "-c", "echo up; exec sleep 1000")
	c := s.dial()
	verbs := []struct {
		line, first string
		signal      ssh.Signal
		status      int
		says        string
	}{
		{"wait job", "", ssh.SIGINT, 130, "hitchpost: interrupted by SIGINT\n"},
		{"wait job --json", "", ssh.SIGTERM, 143, `{"error":{"code":"failed","message":"interrupted by SIGTERM","hint":null}}`},
		{"events --follow --json --since 1h", `"event":"started"`, ssh.SIGINT, 130, "interrupted by SIGINT"},
		{"events job --follow", "TIME ", ssh.SIGHUP, 129, "hitchpost: interrupted by SIGHUP\n"},
		{"task wait " + id, "", ssh.SIGTERM, 143, "hitchpost: interrupted by SIGTERM\n"},
		{"task log --follow " + id, "up\n", ssh.SIGINT, 130, "hitchpost: interrupted by SIGINT\n"},
		{"task run --wait -- sh -c 'echo up; exec sleep 1000'", "up\n", ssh.SIGINT, 130, "interrupted by SIGINT; task "},
		{"task run --stdin -- sh -c 'echo up; exec sleep 1000'", "up\n", ssh.SIGTERM, 143, " goes on: `task wait "},
	}
	for _, v := range verbs {
		x := s.call(c, v.line, v.first)
		must(t, x.Signal(ssh.SIGUSR1)) // means nothing
		must(t, x.Signal(v.signal))
		x.ends(v.status, v.says)
	}
	if n := strings.Count(s.ok("task", "ls", "--state", "RUNNING", "--json"), `"id"`); n != 3 {
		t.Errorf("%d tasks run", n)
	}
	if got := s.show("job").State; got != "DETACHED" {
		t.Errorf("the session is %s", got)
	}
	calls := make([]*call, len(verbs))
	for i, v := range verbs {
		calls[i] = s.call(c, v.line, v.first)
	}
	s.settled()
	s.down(syscall.SIGTERM)
	for _, x := range calls {
		x.ends(75, "the service is stopping")
	}
}

// TestStdinArrivesWhole pipes more than any buffer on the way holds through a task, with its end.
func TestStdinArrivesWhole(t *testing.T) {
	t.Parallel()
	s := start(t)
	var text strings.Builder
	for i := range 100_000 {
		text.WriteString(strings.Repeat("é", i%7) + "\n\x00\r\xff")
	}
	got := s.sshIn(text.String(), "task", "run", "--stdin", "--", "cat")
	if got.out != text.String() || got.code != 0 || got.err != "" {
		t.Errorf("exit %d, %d bytes of %d, %q", got.code, len(got.out), text.Len(), got.err)
	}
}

// TestACallEndsWithItsCommand leaves a child of a session behind that holds all that its parent had, and goes on.
func TestACallEndsWithItsCommand(t *testing.T) {
	t.Parallel()
	s := start(t)
	gate, freed := s.path("gate"), s.path("freed")
	must(t, syscall.Mkfifo(gate, 0o600))
	got := s.ssh("new", "--title", "daemon", "--", "sh", "-c",
		"(trap '' HUP; read x < "+gate+"; echo $x > "+freed+") & echo started")
	if got.code != 0 || !strings.Contains(got.err, "daemon ended at once: exit 0 (started)") {
		t.Errorf("%+v", got)
	}
	s.becomes("daemon", "STOPPED")
	var f *os.File
	s.eventually("the child waits", func() (ok bool) {
		f, _ = os.OpenFile(gate, os.O_WRONLY|syscall.O_NONBLOCK, 0) // not without a reader; fifo(7)
		return f != nil
	})
	_, err := f.WriteString("out\n")
	must(t, errors.Join(err, f.Close()))
	s.eventually("the child goes on", func() bool { text, _ := os.ReadFile(freed); return string(text) == "out\n" })
}
