package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/store/storetest"
)

// admin runs a command of the binary on the machine itself, with the flags that name the stack's store.
func (s *stack) admin(args ...string) answer {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*waitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, built, append(args, s.storeFlags()...)...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.env, s.dir, &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		s.t.Fatalf("hitchpost %v: %v\n%s%s", args, err, out.String(), errs.String())
	}
	return answer{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// storeFlags are those of the stack's flags that every command with a store has.
func (s *stack) storeFlags() []string {
	var out []string
	for i, f := range s.flags[:len(s.flags)-1] {
		if f == "--data-dir" || f == "--database-url" {
			out = append(out, f, s.flags[i+1])
		}
	}
	return out
}

// adminOK is admin for what must succeed.
func (s *stack) adminOK(args ...string) string {
	s.t.Helper()
	a := s.admin(args...)
	if a.code != 0 {
		s.t.Fatalf("hitchpost %v: exit %d\n%s%s", args, a.code, a.out, a.err)
	}
	return a.out
}

// refused fails unless the command ends with the code and one line that says so.
func (s *stack) refused(code int, says string, args ...string) {
	s.t.Helper()
	a := s.admin(args...)
	if a.code != code || !strings.Contains(a.err, says) || !strings.HasPrefix(a.err, "hitchpost: ") ||
		strings.Count(a.err, "\n") != 1 || a.out != "" {
		s.t.Errorf("hitchpost %v: exit %d, want %d with %q\n%s%s", args, a.code, code, says, a.out, a.err)
	}
}

// loseDisk removes the data directory, as a lost disk does. Nothing of the stack runs any more.
func (s *stack) loseDisk() {
	s.t.Helper()
	must(s.t, os.RemoveAll(s.path("data")))
}

// TestRow15DiskLoss takes a backup beside a running service, loses the machine and its disk, and restores.
func TestRow15DiskLoss(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"private cluster": nil, "database URL": {"--database-url"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if flags != nil {
				flags = append(flags, storetest.URL(t))
			}
			s := prepare(t, flags...)
			s.up()
			s.counter("job")
			s.ok("new", "--title", "shell", "--kind", "shell", "--cwd", s.dir)
			s.ssh("new", "--title", "done", "--", "sh", "-c", "exit 3")
			s.becomes("done", "FAILED")
			s.eventually("the screen is kept", func() bool {
				_, err := os.Stat(s.path("data/sessions/" + s.idOf("job") + "/screen.gz"))
				return err == nil
			})
			must(t, os.MkdirAll(s.path("data/presets"), 0o700))
			must(t, writeFile(s.path("data/presets/mine.json"), `{"version":1,"program":"true"}`))
			before := map[string]seen{"job": s.show("job"), "shell": s.show("shell"), "done": s.show("done")}
			key := s.hostKey()
			file := s.path("backup")
			s.adminOK("backup", file)
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the backup has mode %v, %v", info.Mode(), err)
			}
			s.refused(4, "in use by process", "restore", file)
			s.refused(4, "in use by process", "restore", "--force", file)

			s.down(syscall.SIGTERM)
			s.killTmux()
			s.loseDisk()
			if flags != nil { // the database was on that disk too
				s.flags = append(s.flags[:len(s.flags)-1], storetest.Empty(t))
			}
			out := s.adminOK("restore", file)
			if !strings.Contains(out, "3 sessions") || !strings.Contains(out, "1 key") {
				t.Errorf("restore says %q", out)
			}
			s.refused(4, "not empty", "restore", file)
			s.up()
			if got := s.hostKey(); got != key {
				t.Errorf("host key %s, was %s", got, key)
			}
			if own, err := os.ReadFile(s.path("data/presets/mine.json")); err != nil || len(own) == 0 {
				t.Errorf("a preset of the person's own: %q, %v", own, err)
			}
			for handle, was := range before {
				want := "RECOVERABLE"
				if was.State == "FAILED" {
					want = "FAILED"
				}
				now := s.becomes(handle, want)
				if now.ID != was.ID || now.Handle != was.Handle || now.Title != was.Title || now.Cwd != was.Cwd {
					t.Errorf("came back as %+v, was %+v", now, was)
				}
			}
			if text := s.ok("history", "job"); !strings.Contains(text, "row 500") {
				t.Errorf("no evidence of the lost session:\n%s", text)
			}
			s.ok("restart", "job")
			s.becomes("job", "DETACHED")
		})
	}
}

// TestRow15NewerSessionsAreAdopted restores a backup that knows less than the tmux server that still runs.
func TestRow15NewerSessionsAreAdopted(t *testing.T) {
	t.Parallel()
	s := prepare(t)
	s.up()
	s.counter("older")
	file := s.path("backup")
	s.adminOK("backup", file)
	s.counter("newer")
	older, newer := s.show("older"), s.show("newer")
	pid := s.panePid("newer")
	s.down(syscall.SIGTERM)
	must(t, os.RemoveAll(s.path("data/postgres")))
	s.adminOK("restore", file)
	s.up()
	for _, was := range []seen{older, newer} {
		now := s.becomes(was.Handle, "DETACHED")
		if now.ID != was.ID || now.Title != was.Title || now.Cwd != was.Cwd || !slices.Equal(now.Args, was.Args) {
			t.Errorf("came back as %+v, was %+v", now, was)
		}
	}
	if got := s.panePid("newer"); got != pid {
		t.Errorf("process %s, was %s", got, pid)
	}
	// Its end is recorded as ever, though the files of exits were restored around it.
	s.ok("stop", "newer")
	s.becomes("newer", "STOPPED")
}

// furnish makes a stack with a store of some size, and a backup of it; nothing of it runs.
func furnish(t *testing.T) (s *stack, file string) {
	t.Helper()
	s = prepare(t)
	s.up()
	s.ok("new", "--title", "job", "--", "sh", "-c", "read x")
	s.idOf("job")
	s.down(syscall.SIGTERM)
	s.killTmux()
	for i := range 400 {
		dir := s.path(fmt.Sprintf("data/sessions/0190aaaa-0000-7000-8000-%012d", i))
		must(t, os.MkdirAll(dir, 0o700))
		noise := make([]byte, 2000)
		for j := range noise {
			noise[j] = byte(rand.N(256))
		}
		must(t, os.WriteFile(filepath.Join(dir, "screen.gz"), noise, 0o600))
	}
	file = s.path("backup")
	s.adminOK("backup", file)
	return s, file
}

// A backup that is cut off or changed anywhere is refused before anything is made.
func TestTornBackupIsRefused(t *testing.T) {
	t.Parallel()
	s, file := furnish(t)
	s.loseDisk()
	whole, err := os.ReadFile(file)
	must(t, err)
	torn := s.path("torn")
	spoil := func(what string, data []byte) {
		t.Helper()
		must(t, os.WriteFile(torn, data, 0o600))
		s.refused(1, "is torn or no backup", "restore", torn)
		if _, err := os.Stat(s.path("data")); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%s: something was made: %v", what, err)
		}
	}
	cuts := []int{0, 1, 10, len(whole) - 1, len(whole) - 8}
	for len(cuts) < 50 {
		cuts = append(cuts, rand.N(len(whole)))
	}
	for _, at := range cuts {
		spoil(fmt.Sprintf("cut off at %d of %d", at, len(whole)), whole[:at])
	}
	for range 15 {
		at := 10 + rand.N(len(whole)-10) // the head of gzip has bytes without a meaning
		changed := bytes.Clone(whole)
		changed[at] ^= 1 << rand.N(8)
		spoil(fmt.Sprintf("changed at %d of %d", at, len(whole)), changed)
	}
	spoil("with something after it", append(bytes.Clone(whole), 'x'))
	spoil("twice", append(bytes.Clone(whole), whole...))
	s.refused(3, "cannot be read", "restore", s.path("none"))
	s.adminOK("restore", file)
}

// A restore that is killed at any moment leaves the machine as it was, or says so until another run has finished it.
func TestKilledRestoreIsRepeated(t *testing.T) {
	t.Parallel()
	s, file := furnish(t)
	s.loseDisk()
	s.adminOK("restore", file)
	began := time.Now()
	s.adminOK("restore", "--force", file)
	whole := time.Since(began)
	outcomes := map[string]int{}
	for round := range 10 {
		must(t, os.RemoveAll(s.path("data/sessions")))
		cmd := exec.Command(built, append([]string{"restore", "--force", file}, s.storeFlags()...)...)
		cmd.Env, cmd.Dir = s.env, s.dir
		must(t, cmd.Start())
		ended := make(chan struct{})
		go func() {
			if round%2 == 0 {
				select { // at any time
				case <-ended:
				case <-time.After(rand.N(whole)):
				}
			} else {
				s.half(ended)
			}
			_ = cmd.Process.Kill()
		}()
		err := cmd.Wait()
		close(ended)
		files, _ := filepath.Glob(s.path("data/sessions/*/screen.gz"))
		marked := restoreUnfinished(s.path("data")) != nil
		switch {
		case err == nil && (len(files) != 400 || marked):
			t.Errorf("it succeeded with %d files, marked: %v", len(files), marked)
		case err != nil && !marked && len(files) != 0 && len(files) != 400:
			t.Errorf("killed with %d files and no mark", len(files))
		}
		switch {
		case marked:
			outcomes["marked"]++
			s.refusedServe()
			s.adminOK("restore", file) // without --force: it finishes what was begun
		case err != nil:
			outcomes["before"]++
			s.adminOK("restore", "--force", file)
		default:
			outcomes["whole"]++
		}
		files, _ = filepath.Glob(s.path("data/sessions/*/screen.gz"))
		if len(files) != 400 || restoreUnfinished(s.path("data")) != nil {
			t.Fatalf("after the repetition: %d files, %v", len(files), restoreUnfinished(s.path("data")))
		}
	}
	t.Logf("a restore takes %v; killed: %v", whole, outcomes)
	if outcomes["marked"] == 0 {
		t.Error("it was never killed while the files were moved to their places")
	}
	s.up()
	s.becomes("job", "RECOVERABLE")
}

// half returns when a restore has its rows ready to be committed and its files not in their places, or has ended.
func (s *stack) half(ended chan struct{}) {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for restoreUnfinished(s.path("data")) == nil {
		select {
		case <-ended:
			return
		case <-look.C:
		}
	}
}

// refusedServe fails unless serve does not start on half a restore.
func (s *stack) refusedServe() {
	s.t.Helper()
	cmd := exec.Command(built, s.flags...)
	cmd.Env, cmd.Dir = s.env, s.dir
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 4 || !strings.Contains(string(out), "was not finished") {
		s.t.Errorf("serve on half a restore: %v\n%s", err, out)
	}
}

// Between the commit of the rows and the last file a restore is half done: serve does not start, and another run
// finishes it without being told to replace anything.
func TestHalfDoneRestoreIsFinished(t *testing.T) {
	t.Parallel()
	s, file := furnish(t)
	key := s.hostKey()
	must(t, writeFile(s.path("data/"+unfinishedMark), "x"))
	must(t, os.RemoveAll(s.path("data/hostkeys")))
	must(t, os.MkdirAll(s.path("data/restore.new/hostkeys"), 0o700))
	must(t, writeFile(s.path("data/restore.new/hostkeys/left"), "x"))
	s.refusedServe()
	s.adminOK("restore", file)
	if got := s.hostKey(); got != key {
		t.Errorf("host key %s, was %s", got, key)
	}
	if _, err := os.Stat(s.path("data/restore.new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
	s.up()
	s.becomes("job", "RECOVERABLE")
}

// What a later hitchpost made is refused with its version, and another node's identity is not taken by the way.
func TestRestoreRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	s, file := furnish(t)
	for what, change := range map[string]func(*manifest){
		"schema version 99": func(m *manifest) { m.Store.Schema = 99 },
		"format 99":         func(m *manifest) { m.Format = 99 },
	} {
		later := s.path("later")
		rewrite(t, file, later, change)
		s.refused(4, what, "restore", "--force", later)
	}
	must(t, os.RemoveAll(s.path("data/postgres")))
	must(t, writeFile(s.path("data/node-id"), "0190aaaa-0000-7000-8000-000000000001\n"))
	s.refused(4, "is another one", "restore", file)
	if left, _ := filepath.Glob(s.path("data/restore*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	s.adminOK("restore", "--force", file)
	s.up()
	s.becomes("job", "RECOVERABLE")
}

func TestBackupRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := prepare(t)
	file := s.path("backup")
	s.refused(3, "nothing to back up", "backup", file)
	if _, err := os.Stat(s.path("data")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a backup made a data directory: %v", err)
	}
	s.up()
	s.refused(1, "cannot be written", "backup", s.path("nowhere/backup"))
	s.refused(2, "not a plain file", "backup", s.dir)
	s.refused(2, "takes one word", "backup")
	s.refused(2, "takes one word", "restore", file, file)
	must(t, writeFile(file, "an older one"))
	s.adminOK("backup", file)
	if left, _ := filepath.Glob(s.path(".backup*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if raw, err := os.ReadFile(file); err != nil || bytes.HasPrefix(raw, []byte("an older")) {
		t.Errorf("the older file is still there: %v", err)
	}
}

// rewrite copies a backup with another manifest.
func rewrite(t *testing.T, from, to string, change func(*manifest)) {
	t.Helper()
	in, err := os.Open(from)
	must(t, err)
	defer func() { _ = in.Close() }()
	out, err := os.Create(to)
	must(t, err)
	a := newArchive(out)
	m, err := readBackup(t.Context(), in, func(h *tar.Header, r io.Reader) error { return a.add(*h, r) })
	must(t, err)
	change(&m)
	_, err = a.finish(m)
	must(t, errors.Join(err, out.Close()))
}
