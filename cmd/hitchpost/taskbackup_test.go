package main

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Tasks come back with their logs: ended ones as they were, what ran as LOST.
func TestTasksComeBackFromABackup(t *testing.T) {
	t.Parallel()
	s := prepare(t)
	s.up()
	done := s.ssh("task", "run", "--wait", "--name", "done", "--", "sh", "-c", "echo kept; exit 3")
	running := s.task("sh", "-c", "echo up; exec sleep 1000")
	s.logs(running, "up\n")
	file := s.path("backup")
	if out := s.adminOK("backup", file); done.code != 3 || !strings.Contains(out, "2 tasks") {
		t.Errorf("%+v; backup says %q", done, out)
	}
	s.down(syscall.SIGTERM)
	s.killTmux()
	s.loseDisk()
	s.adminOK("restore", file)
	s.up()
	var list struct{ Tasks []taskDoc }
	must(t, json.Unmarshal([]byte(s.ok("task", "ls", "--json")), &list))
	if len(list.Tasks) != 2 || list.Tasks[0].State != "FAILED" || list.Tasks[0].ExitCode == nil || *list.Tasks[0].ExitCode != 3 {
		t.Fatalf("%+v", list)
	}
	s.logs(list.Tasks[0].ID, "kept\n")
	if got := s.ssh("task", "wait", running); got.code != 1 || !strings.Contains(got.err, "is LOST") {
		t.Errorf("%+v", got)
	}
	s.logs(running, "up\n")
}

// A backup that is behind what goes on is brought back beside it: what runs runs on, with its log whole, what has ended
// since is as it ended, and what the backup does not know is taken in.
func TestOlderBackupLeavesTasksAlone(t *testing.T) {
	t.Parallel()
	s := prepare(t)
	s.up()
	ends, goes := s.path("ends"), s.path("goes")
	must(t, syscall.Mkfifo(ends, 0o600))
	must(t, syscall.Mkfifo(goes, 0o600))
	open := func(gate string) {
		t.Helper()
		f, err := os.OpenFile(gate, os.O_WRONLY, 0) // waits for the reader
		must(t, err)
		must(t, f.Close())
	}
	ended := s.task("sh", "-c", "echo one; cat "+ends+"; echo two; exit 4")
	running := s.task("sh", "-c", "echo one; cat "+goes+"; echo two; exit 5")
	s.logs(ended, "one\n")
	s.logs(running, "one\n")
	file := s.path("backup")
	s.adminOK("backup", file)
	newer := s.task("sh", "-c", "echo newer; exec sleep 1000")
	s.logs(newer, "newer\n")
	open(ends)
	if got := s.ssh("task", "wait", ended); got.code != 4 {
		t.Errorf("%+v", got)
	}
	s.down(syscall.SIGTERM)
	s.adminOK("restore", "--force", file)
	s.up()
	if got := s.ssh("task", "wait", ended); got.code != 4 {
		t.Errorf("the one that ended since: %+v", got)
	}
	s.logs(ended, "one\ntwo\n")
	if doc := s.taskOf(running); doc.State != "RUNNING" {
		t.Errorf("the one that runs: %+v", doc)
	}
	open(goes)
	if got := s.ssh("task", "wait", running); got.code != 5 {
		t.Errorf("the one that runs: %+v", got)
	}
	s.logs(running, "one\ntwo\n")
	s.eventually("the newer one is taken in", func() bool { return s.ssh("task", "show", newer).code == 0 })
	if got := s.ssh("task", "cancel", newer); got.code != 0 {
		t.Errorf("the newer one: %+v", got)
	}
}
