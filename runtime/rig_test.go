package runtime_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shirou/gopsutil/v4/process"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime"
	"github.com/hitchpost/hitchpost/runtime/claude"
	"github.com/hitchpost/hitchpost/runtime/launch"
	"github.com/hitchpost/hitchpost/runtime/task"
	"github.com/hitchpost/hitchpost/runtime/tmux"
	"github.com/hitchpost/hitchpost/store"
	"github.com/hitchpost/hitchpost/store/storetest"
)

// wrapperVerb and runnerVerb make this test binary the wrapper or the runner that tmux starts.
const (
	wrapperVerb = "run-session"
	runnerVerb  = "run-task"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == wrapperVerb {
		os.Exit(launch.Run(os.Args[2]))
	}
	if len(os.Args) == 3 && os.Args[1] == runnerVerb {
		os.Exit(task.Run(os.Args[2]))
	}
	if len(os.Args) == 2 && os.Args[1] == runtime.HookVerb {
		_ = claude.Hook(os.Getenv, os.Stdin, time.Now())
		os.Exit(0)
	}
	os.Exit(tested(m))
}

// tested runs the tests, and clears away what they share.
func tested(m *testing.M) int {
	defer func() {
		if dir, err := standIn(); err == nil {
			_ = os.RemoveAll(dir)
		}
	}()
	return storetest.Main(m)
}

const waitLimit = 30 * time.Second

// rig is a service with a database, a tmux server and a data directory of its own.
type rig struct {
	*runtime.Service
	t     testing.TB
	dir   string
	url   string
	store *store.Store
	tmux  *tmux.Server
	node  hitchpost.Node
	space int64 // for ended tasks; 0: any
	stop  func()
}

var admin = hitchpost.Actor{Name: "ada", Role: hitchpost.Admin, Fingerprint: "SHA256:ada"}

func newRig(t testing.TB) *rig {
	t.Helper()
	return newRigOn(t, storetest.URL(t))
}

// newRigOn is newRig on the database at url.
func newRigOn(t testing.TB, url string) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "hp-")
	must(t, err)
	r := &rig{t: t, dir: dir, url: url}
	t.Cleanup(func() { // what tmux started may write down how it ended meanwhile
		eventually(t, func() bool { return os.RemoveAll(dir) == nil }, func() string { return dir + " does not go" })
	})
	t.Cleanup(r.nobodyLeft)
	r.up()
	t.Cleanup(func() {
		r.down()
		r.killTmux()
	})
	return r
}

// up starts the service on what is there.
func (r *rig) up() {
	r.t.Helper()
	ctx := context.Background()
	log := slog.New(slog.NewTextHandler(logTo{r.t}, nil))
	var err error
	r.store, err = store.Open(ctx, r.url, log)
	must(r.t, err)
	r.tmux, err = tmux.Open(ctx, tmux.Config{Dir: filepath.Join(r.dir, "tmux"), Log: log})
	must(r.t, err)
	if r.node.ID == "" {
		r.node, err = r.store.Node(ctx, uuid.NewString(), "here")
		must(r.t, err)
	}
	self, err := os.Executable()
	must(r.t, err)
	r.Service, err = runtime.New(ctx, runtime.Config{
		Store: r.store, Tmux: r.tmux, Node: r.node, DataDir: r.dir, Wrapper: []string{self, wrapperVerb},
		Runner: []string{self, runnerVerb}, TaskSpace: r.space,
		Account: runtime.Account{User: "root", Home: r.dir, Shell: "/bin/sh", Getenv: os.Getenv},
		Log:     log, ReconcileEvery: time.Second, EventRetention: time.Hour, ReplayLines: 1000,
	})
	must(r.t, err)
	running, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- r.Run(running) }()
	<-r.Ready()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("run: %v", err)
		}
		if err := r.tmux.Close(); err != nil {
			r.t.Errorf("close tmux: %v", err)
		}
		r.store.Close()
	})
}

func (r *rig) down() { r.stop() }

// nobodyLeft waits until no process works below the rig's directory: those whose terminal is gone end, and write down how,
// in their own time. One that stays is told of, and killed.
func (r *rig) nobodyLeft() {
	var left []*process.Process
	within := func() bool {
		left = nil
		all, err := process.Processes()
		must(r.t, err)
		for _, p := range all {
			if cwd, err := p.Cwd(); err == nil && strings.HasPrefix(cwd+"/", r.dir+"/") {
				left = append(left, p)
			}
		}
		return len(left) == 0
	}
	for end := time.Now().Add(waitLimit); !within() && time.Now().Before(end); {
		<-time.After(20 * time.Millisecond)
	}
	for _, p := range left {
		line, err := p.Cmdline()
		r.t.Errorf("left behind: process %d: %s %v", p.Pid, line, err)
		_ = p.Kill()
	}
}

// tmuxOf runs a tmux command on the rig's server.
func tmuxOf(r *rig, args ...string) ([]byte, error) {
	return exec.Command("tmux", append([]string{"-S", filepath.Join(r.dir, "tmux", "tmux.sock")}, args...)...).CombinedOutput()
}

// killTmux ends the tmux server as a crash does.
func (r *rig) killTmux() {
	out, err := tmuxOf(r, "display-message", "-p", "#{pid}")
	if err != nil {
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	must(r.t, err)
	must(r.t, syscall.Kill(pid, syscall.SIGKILL))
	eventually(r.t, func() bool { return syscall.Kill(pid, 0) != nil }, func() string { return "the tmux server lives" })
}

func (r *rig) start(title string, args ...string) hitchpost.Session {
	r.t.Helper()
	res, err := r.Start(context.Background(), admin, hitchpost.StartRequest{Title: title, Args: args})
	must(r.t, err)
	return res.Session
}

// becomes waits until the session is in the state, on the board as in the store.
func (r *rig) becomes(id string, want hitchpost.State) hitchpost.Session {
	r.t.Helper()
	var got hitchpost.Session
	eventually(r.t, func() bool {
		var err error
		got, err = r.Show(context.Background(), admin, id)
		return err == nil && got.State == want
	}, func() string { return fmt.Sprintf("want %s, got %+v", want, got) })
	return got
}

func eventually(t testing.TB, ok func() bool, show func() string) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(waitLimit); !ok(); <-tick.C {
		if time.Now().After(limit) {
			t.Fatal("waited in vain: " + show())
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// logTo writes the service's log to the test's.
type logTo struct{ t testing.TB }

func (l logTo) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

func kind(t testing.TB, err error, want hitchpost.ErrorKind) {
	t.Helper()
	if got := hitchpost.KindOf(err); got != want {
		t.Errorf("error %v of kind %q, want %q", err, got, want)
	}
}

func (r *rig) captured(a hitchpost.Actor, ref string, req hitchpost.CaptureRequest) ([]byte, error) {
	c, err := r.Capture(context.Background(), a, ref, req)
	return c.Text, err
}
