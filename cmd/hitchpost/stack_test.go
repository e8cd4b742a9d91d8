package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/hitchpost/hitchpost/store/storetest"
)

// waitLimit is how long a test waits for what must come. It is long because machines are busy, and costs nothing
// where it comes.
const waitLimit = time.Minute

// built is the binary under test, made once by TestMain.
var built string

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	flag.Parse()
	// The tests mostly wait, for limits that are up to a minute long: more of them than there are processors can do so at
	// once, where nobody says otherwise.
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		if err := flag.Set("test.parallel", strconv.Itoa(3*goruntime.GOMAXPROCS(0))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	dir, err := os.MkdirTemp("", "hp-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	built = filepath.Join(dir, "hitchpost")
	args := []string{"build", "-o", built}
	if raceEnabled {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return storetest.Main(m)
}

// stack is a whole Hitchpost of its own: data directory, database, tmux server, key, port, and the built binary.
type stack struct {
	t     *testing.T
	dir   string // short, and passable for the PostgreSQL account
	env   []string
	addr  string
	flags []string
	ids   map[string]string // by handle

	mu    sync.Mutex
	serve *exec.Cmd
	ended chan struct{}
	log   *buffer
}

// start makes a stack on a shared PostgreSQL and serves. More flags are added to serve.
func start(t *testing.T, flags ...string) *stack {
	t.Helper()
	s := prepare(t, append([]string{"--database-url", storetest.URL(t)}, flags...)...)
	s.up()
	return s
}

// prepare makes a stack that does not serve yet.
func prepare(t *testing.T, flags ...string) *stack {
	t.Helper()
	dir, err := os.MkdirTemp("", "hp-")
	if err != nil {
		t.Fatal(err)
	}
	s := &stack{t: t, dir: dir, addr: freeAddress(t), ids: map[string]string{}}
	must(t, os.Chmod(dir, 0o711))
	must(t, os.MkdirAll(s.path("home/.ssh"), 0o700))
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", s.path("home/.ssh/id_ed25519")).CombinedOutput()
	if err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.path("home"), "SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=xterm-256color",
		"LEAK=of-the-service",
	}
	s.flags = append([]string{"serve", "--listen", s.addr, "--data-dir", s.path("data"), "--reconcile-every", "2s"}, flags...)
	t.Cleanup(s.tearDown)
	return s
}

func (s *stack) path(name string) string { return filepath.Join(s.dir, name) }

// up starts serve and waits until it listens.
func (s *stack) up() {
	s.t.Helper()
	s.log = &buffer{}
	cmd := exec.Command(built, s.flags...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.env, s.dir, s.log, s.log
	must(s.t, cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	s.mu.Lock()
	s.serve, s.ended = cmd, ended
	s.mu.Unlock()
	s.eventually("serve listens", func() bool {
		select {
		case <-ended:
			s.t.Fatalf("serve ended: %v\n%s", cmd.ProcessState, s.log)
		default:
		}
		return strings.Contains(s.log.String(), "msg=listening")
	})
}

// down ends serve with a signal and waits for its end.
func (s *stack) down(sig syscall.Signal) {
	s.t.Helper()
	must(s.t, s.serve.Process.Signal(sig))
	select {
	case <-s.ended:
	case <-time.After(waitLimit):
		s.t.Fatalf("serve did not end after %v\n%s", sig, s.log)
	}
}

// tearDown ends all that the stack started, by pid.
func (s *stack) tearDown() {
	if s.serve != nil {
		select {
		case <-s.ended:
		default:
			_ = s.serve.Process.Signal(syscall.SIGTERM)
			select {
			case <-s.ended:
			case <-time.After(waitLimit):
				_ = s.serve.Process.Kill()
				<-s.ended
				s.t.Errorf("serve did not stop\n%s", s.log)
			}
		}
		if strings.Contains(s.log.String(), "DATA RACE") {
			s.t.Errorf("race in serve:\n%s", s.log)
		}
	}
	s.killTmux()
	if s.t.Failed() {
		s.t.Logf("log of serve:\n%s", s.log)
	}
	_ = os.RemoveAll(s.dir)
}

// tmux runs a tmux command on the product's own server.
func (s *stack) tmux(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", append([]string{"-S", s.path("data/tmux/tmux.sock")}, args...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// killTmux ends the tmux server and every process of its sessions, as a power loss would.
func (s *stack) killTmux() {
	pids := s.tmuxPids()
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, pid := range pids {
		s.eventually(fmt.Sprintf("process %d is gone", pid), func() bool { return !alive(pid) })
	}
}

// tmuxPids is the tmux server and all below it.
func (s *stack) tmuxPids() []int {
	out, err := s.tmux("display-message", "-p", "#{pid}")
	pid, cerr := strconv.Atoi(out)
	if err != nil || cerr != nil {
		return nil
	}
	return append([]int{pid}, descendants(pid)...)
}

// answer is what one command over ssh gave.
type answer struct {
	out, err string
	code     int
}

// sshArgs are the options of every ssh client here: nothing of this machine's own configuration.
func (s *stack) sshArgs(more ...string) []string {
	host, port, _ := net.SplitHostPort(s.addr)
	args := []string{
		"-F", "none", "-p", port, "-i", s.path("home/.ssh/id_ed25519"), "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes",
		"-o", "StrictHostKeyChecking=accept-new", "-o", "UserKnownHostsFile=" + s.path("known_hosts"), "-o", "LogLevel=ERROR",
	}
	for len(more) > 0 && strings.HasPrefix(more[0], "-") {
		if more[0] == "-o" || more[0] == "-l" || more[0] == "-S" || more[0] == "-i" {
			args, more = append(args, more[0], more[1]), more[2:]
			continue
		}
		args, more = append(args, more[0]), more[1:]
	}
	args = append(args, host)
	if len(more) > 1 {
		more = []string{shellquote.Join(more...)} // ssh joins words by blanks, and one word is a line as it is
	}
	return append(args, more...)
}

// ssh runs one command through the OpenSSH client.
func (s *stack) ssh(args ...string) answer {
	s.t.Helper()
	return s.sshIn("", args...)
}

func (s *stack) sshIn(stdin string, args ...string) answer {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ssh", s.sshArgs(args...)...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.env, strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("ssh %v: %v", args, err)
	}
	if ctx.Err() != nil {
		s.t.Fatalf("ssh %v did not end\n%s%s", args, out.String(), errs.String())
	}
	return answer{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// ok is ssh for a command that must succeed; it returns what it printed.
func (s *stack) ok(args ...string) string {
	s.t.Helper()
	a := s.ssh(args...)
	if a.code != 0 {
		s.t.Fatalf("ssh %v: exit %d\n%s%s", args, a.code, a.out, a.err)
	}
	return a.out
}

// eventually waits for a condition.
func (s *stack) eventually(what string, ok func() bool) {
	s.t.Helper()
	eventually(s.t, what, ok, func() string { return "" })
}

func eventually(t *testing.T, what string, ok func() bool, show func() string) {
	t.Helper()
	within(t, waitLimit, what, ok, show)
}

func within(t *testing.T, limit time.Duration, what string, ok func() bool, show func() string) {
	t.Helper()
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s\n%s", what, show())
		}
		<-tick.C
	}
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu     sync.Mutex
	b      bytes.Buffer
	closed bool
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, io.ErrClosedPipe
	}
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func writeFile(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

// descendants lists the processes below pid.
func descendants(pid int) []int {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for line := range strings.Lines(string(out)) {
		var child, parent int
		if n, _ := fmt.Sscan(line, &child, &parent); n == 2 {
			children[parent] = append(children[parent], child)
		}
	}
	var all []int
	for todo := []int{pid}; len(todo) > 0; todo = todo[1:] {
		all = append(all, children[todo[0]]...)
		todo = append(todo, children[todo[0]]...)
	}
	return all
}
