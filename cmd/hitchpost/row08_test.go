package main

import (
	"encoding/json"
	"sync"
	"testing"
	"time"
)

// TestRow08PostgreSQLAway takes PostgreSQL away in each way in which it goes.
func TestRow08PostgreSQLAway(t *testing.T) {
	t.Parallel()
	for name, o := range outages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, begin := o.prepare(t)
			s := prepare(t, "--database-url", url)
			s.up()
			s.outage(o, begin)
		})
	}
}

// calm and busy are what a promise of so much time is held to: machines that run many tests at once are slow, and the
// figures that a calm one gives stand in the log of the test.
const (
	promisedFailure = 5 * time.Second
	promisedEcho    = time.Second
	busy            = 4 // times as much
)

// outage holds row 8 of the table through one outage.
func (s *stack) outage(o outage, begin func() (end func())) {
	t := s.t
	t.Helper()
	s.counter("job")
	s.ok("new", "--title", "brief", "--", "sh", "-c", "read x; exit 3")
	s.ok("new", "--title", "done", "--", "sh", "-c", "read x; exit 4")
	brief, done := s.idOf("brief"), s.idOf("done")
	s.endOf(done)
	s.becomes("done", "FAILED")
	open := s.stream("attach", "job")
	open.shows("row 500")
	longest := open.pulse()

	end := begin()
	away := time.Now()
	s.commandsFail(o)
	again := s.stream("attach", "job") // a login, and an attach
	took := again.shows("row 500")
	again.types("too\r")
	open.shows("too")
	list := s.open(100, 24)
	list.sees("job")
	list.sees("database")
	s.endOf(brief)
	again.types("\x1d") // Ctrl-]
	again.leaves(0)
	if got := s.databaseOK(); got {
		t.Errorf("status says that the database is well")
	}
	within(t, 2*o.lasts+time.Second, "the outage has lasted", func() bool { return time.Since(away) >= o.lasts }, s.log.String)

	end()
	back := time.Now()
	eventually(t, "commands succeed", func() bool { return s.ssh("ls").code == 0 && s.databaseOK() }, s.log.String)
	well := time.Now()
	if got := s.becomes("brief", "FAILED"); got.ExitCode == nil || *got.ExitCode != 3 {
		t.Errorf("exit code %v, want 3", got.ExitCode)
	}
	s.eventually("who is attached is known", func() bool {
		got := s.show("job")
		return got.State == "RUNNING" && got.Attached == 1
	})
	caught := time.Now()
	list.seesNot("database")
	echo := longest()
	open.types("\x1d")
	open.leaves(0)
	s.becomes("job", "DETACHED")
	if got := s.show("done"); got.Handle != "done" || got.State != "FAILED" || got.Restarts != 0 {
		t.Errorf("what was refused was done all the same: %+v", got)
	}
	t.Logf("%s: login and attach %v, longest echo %v; back after %v, caught up %v later",
		t.Name(), took, echo, well.Sub(back), caught.Sub(well))
	if echo > busy*promisedEcho {
		t.Errorf("an echo took %v", echo)
	}
	if caught.Sub(well) > busy*5*time.Second { // a period is 2 s here
		t.Errorf("what was missed was caught up after %v", caught.Sub(well))
	}
}

// commandsFail runs every kind of command at once: each is over in time, and fails with 75 where it must.
func (s *stack) commandsFail(o outage) {
	t := s.t
	t.Helper()
	// All at once is what many scripts do, and one after the other would take the whole outage.
	writes := [][]string{
		{"new", "--title", "x", "--", "cat"}, {"new", "--if-absent", "--title", "y", "--", "cat"},
		{"new", "--if-absent", "--title", "z", "--", "cat"}, {"restart", "done"}, {"stop", "brief"}, {"close", "done"},
		{"rename", "done", "other"}, {"key", "revoke", "--actor", "nobody"}, {"note", "job", "--set", "x"},
		{"task", "run", "--session", "job", "--", "true"},
	}
	reads := [][]string{{"ls"}, {"show", "job"}, {"key", "ls"}, {"restart", "--all"}, {"note", "job"}, {"events", "job"}}
	var mu sync.Mutex
	var longest time.Duration
	var slowest []string
	var wg sync.WaitGroup
	for i, words := range append(writes, reads...) {
		wg.Go(func() {
			begin := time.Now()
			got := s.ssh(words...)
			took := time.Since(begin)
			mayWork := i >= len(writes) && o.reads || words[0] == "key" && o.keys
			if !mayWork && (got.code != 75 || got.out != "") {
				t.Errorf("%v: exit %d, %q, %q", words, got.code, got.out, got.err)
			}
			mu.Lock()
			defer mu.Unlock()
			if took > longest {
				longest, slowest = took, words
			}
		})
	}
	wg.Wait()
	t.Logf("%s: the slowest of %d commands at once, %v, took %v", t.Name(), len(writes)+len(reads), slowest, longest)
	if longest > busy*promisedFailure {
		t.Errorf("%v took %v", slowest, longest)
	}
}

// endOf presses Enter in a session, behind the product's back: its program ends by that.
func (s *stack) endOf(id string) {
	s.t.Helper()
	_, err := s.tmux("send-keys", "-t", "=hp-"+id+":", "Enter")
	must(s.t, err)
}

// databaseOK is what status says of the database.
func (s *stack) databaseOK() bool {
	s.t.Helper()
	var doc struct{ Database struct{ OK bool } }
	must(s.t, json.Unmarshal([]byte(s.ok("status", "--json")), &doc))
	return doc.Database.OK
}

// TestRow08PostgreSQLRestarted restarts it under a service that is in use: no command waits long or fails for anything
// but that, and all goes on once it answers.
func TestRow08PostgreSQLRestarted(t *testing.T) {
	t.Parallel()
	cluster, url := apart(t)
	s := prepare(t, "--database-url", url)
	s.up()
	s.counter("job")
	s.ok("new", "--title", "brief", "--", "sh", "-c", "read x; exit 3")
	brief := s.idOf("brief")
	open := s.stream("attach", "job")
	open.shows("row 500")
	longest := open.pulse()
	over, failed := make(chan struct{}), make(chan int, 1)
	go func() {
		n := 0
		defer func() { failed <- n }()
		for {
			begin := time.Now()
			got := s.ssh("ls")
			if took := time.Since(begin); got.code != 0 && got.code != 75 || took > busy*promisedFailure {
				t.Errorf("ls: exit %d after %v, %q", got.code, took, got.err)
			}
			if got.code != 0 {
				n++
			}
			select {
			case <-over:
				return
			default:
			}
		}
	}()
	for range 3 {
		restart(t, cluster)
		s.eventually("it is well", s.databaseOK)
	}
	close(over)
	n := <-failed
	begin := time.Now()
	s.endOf(brief)
	if got := s.becomes("brief", "FAILED"); got.ExitCode == nil || *got.ExitCode != 3 {
		t.Errorf("exit code %v, want 3", got.ExitCode)
	}
	s.eventually("who is attached is known", func() bool { return s.show("job").Attached == 1 })
	echo := longest()
	t.Logf("%d commands failed for it; caught up after %v; longest echo %v", n, time.Since(begin), echo)
	if echo > busy*promisedEcho {
		t.Errorf("an echo took %v", echo)
	}
}
