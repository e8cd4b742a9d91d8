package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/runtime/launch"
)

// TestRow12RebootWhileWriting kills every process of a Hitchpost at once, twenty times, each time at a random moment
// of many changes, and looks for all that was promised. It is no power loss: what the system still held in memory is not
// lost by it.
func TestRow12RebootWhileWriting(t *testing.T) {
	t.Parallel()
	s := prepare(t)
	w := newWriters(s)
	var printed []string
	for round := range 20 {
		s.up()
		w.lostAndFound(printed)
		w.begin()
		calm := time.Duration(rand.IntN(1200)) * time.Millisecond
		if round%2 == 0 {
			w.madeOne()
			calm /= 4
		}
		if round%10 == 8 { // time for a screen to be kept
			calm += 9 * time.Second
		}
		<-time.After(calm)
		printed = w.printedFor(8 * time.Second) // saved every 5 s, later on a busy machine
		s.killAll()
		w.halt()
	}
	s.up()
	byID := w.lostAndFound(printed)
	for id := range byID { // a start that was cut off is over by its lease
		s.eventually("nothing is in between", func() bool {
			state := s.show(id).State
			return state != "STARTING" && state != "STOPPING"
		})
	}
}

// printedFor are the sessions that have printed for so long.
func (w *writers) printedFor(d time.Duration) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ids []string
	for id, p := range w.promised {
		if p.lives && !p.since.IsZero() && time.Since(p.since) > d {
			ids = append(ids, id)
		}
	}
	return ids
}

// TestKilledWhileWriting kills serve alone, and PostgreSQL alone, again and again in the middle of many changes. What
// was promised is there, nothing is torn, and every program goes on or has ended as it should.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	s := prepare(t)
	s.up()
	w := newWriters(s)
	for round := range 8 {
		w.begin()
		w.madeOne()
		<-time.After(time.Duration(rand.IntN(500)) * time.Millisecond)
		if round%2 == 0 {
			s.down(syscall.SIGKILL)
		} else {
			for _, pid := range s.postgresPids() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		w.halt()
		if round%2 == 0 {
			s.up()
		}
		eventually(t, "the database is there", func() bool { return s.ssh("ls").code == 0 }, s.log.String)
		w.whole()
		w.find()
	}
	for id, p := range w.promised {
		if !p.lives {
			if got := s.becomes(id, "FAILED"); got.ExitCode == nil || *got.ExitCode != 3 {
				t.Errorf("a session that ended: %+v", got)
			}
		} else if got := s.show(id); got.State != "DETACHED" && got.State != "RUNNING" {
			t.Errorf("a session that lives: %+v", got)
		}
	}
}

// lostAndFound looks for all that was promised after a reboot, and for what was kept of the sessions that had printed.
func (w *writers) lostAndFound(printed []string) map[string]found {
	w.t.Helper()
	w.whole()
	for _, id := range printed {
		lines := strings.Fields(strings.ReplaceAll(w.ok("history", id), "tick ", ""))
		for i, number := range lines {
			if number != strconv.Itoa(i+1) {
				w.t.Errorf("line %d of what was kept of %s is %s", i+1, id, number)
			}
		}
		if len(lines) < 3 {
			w.t.Errorf("kept of %s: %q", id, lines)
		}
	}
	byID := w.find()
	for id, p := range w.promised {
		s := byID[id]
		switch {
		case p.lives && !p.since.IsZero() && s.State != "RECOVERABLE":
			w.t.Errorf("a session that ran: %+v", s)
		case !p.lives && s.State != "RECOVERABLE" && (s.State != "FAILED" || s.ExitCode == nil || *s.ExitCode != 3):
			w.t.Errorf("a session that was about to end: %+v", s)
		case s.Attached != 0:
			w.t.Errorf("somebody is attached to %+v", s)
		}
		p.since = time.Time{}
	}
	return byID
}

// killAll ends every process of the stack in the same moment, as a power loss does.
func (s *stack) killAll() {
	s.t.Helper()
	roots := []int{s.serve.Process.Pid}
	for _, file := range []string{"data/postgres/data/postmaster.pid", "data/tmux/pid"} {
		text, err := os.ReadFile(s.path(file))
		must(s.t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(string(text), "\n", 2)[0]))
		must(s.t, err)
		roots = append(roots, pid)
	}
	for _, pid := range roots { // from here on nobody is answered, and no process made
		must(s.t, syscall.Kill(pid, syscall.SIGSTOP))
	}
	pids := roots
	for _, pid := range roots {
		pids = append(pids, descendants(pid)...)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			s.t.Errorf("kill %d: %v", pid, err)
		}
	}
	<-s.ended
	s.eventually("every process is gone", func() bool { return !anyAlive(pids) })
}

// anyAlive reports whether one of the processes runs; zombies do not.
func anyAlive(pids []int) bool {
	if !slices.ContainsFunc(pids, func(pid int) bool { return syscall.Kill(pid, 0) == nil }) {
		return false
	}
	out, err := exec.Command("ps", "-A", "-o", "pid=,stat=").Output()
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(out)) {
		var pid int
		var state string
		if n, _ := fmt.Sscan(line, &pid, &state); n == 2 && slices.Contains(pids, pid) && !strings.HasPrefix(state, "Z") {
			return true
		}
	}
	return false
}

// whole fails where a file of the data directory is torn, or left behind by who was killed.
func (s *stack) whole() {
	s.t.Helper()
	for _, path := range s.files() {
		name := filepath.Base(path)
		data, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.EISDIR) {
			continue
		}
		must(s.t, err)
		switch {
		case strings.HasPrefix(name, "."): // at most somebody writes it right now
			s.eventually(path+" is not left behind", func() bool {
				_, err := os.Stat(path)
				return errors.Is(err, os.ErrNotExist)
			})
		case strings.HasSuffix(name, ".gz"):
			var z *gzip.Reader
			if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
				_, err = io.Copy(io.Discard, z)
			}
		case filepath.Dir(path) == s.path("data/exits") && strings.HasSuffix(name, ".json"):
			_, err = launch.ReadRecord(path)
		case strings.HasSuffix(name, ".json"):
			err = json.Unmarshal(data, new(any))
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			s.t.Errorf("%s: %v", path, err)
		}
	}
}
