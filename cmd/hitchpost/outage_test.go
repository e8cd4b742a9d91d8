package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/store/storetest"
)

// TestRow04KeyRevoked revokes the key of somebody who is attached, and of somebody who looks at the list.
func TestRow04KeyRevoked(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	pid := s.panePid("job")
	phone := s.path("phone")
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", phone).CombinedOutput()
	if err != nil {
		t.Fatalf("ssh-keygen: %v %s", err, out)
	}
	public, err := os.ReadFile(phone + ".pub")
	must(t, err)
	if got := s.sshIn(string(public), "key", "add", "--actor", "phone", "--role", "operator", "-"); got.code != 0 {
		t.Fatalf("key add: %+v", got)
	}
	own := s.path("home/.ssh/id_ed25519")
	must(t, os.Rename(own, own+".away")) // so that the terminals have only the phone's key
	attached, list := s.open(80, 24, "-o", "IdentityFile="+phone, "attach", "job"), s.open(80, 24, "-o", "IdentityFile="+phone)
	attached.sees("row 500")
	list.sees("job")
	must(t, os.Rename(own+".away", own))
	s.ok("key", "revoke", fingerprint(t, phone))
	for name, term := range map[string]*terminal{"attached": attached, "list": list} {
		if code := term.left(); code != 77 {
			t.Errorf("%s: exit status %d, want 77\n%s", name, code, term.screen())
		}
		if !strings.Contains(term.all(), "revoked") {
			t.Errorf("%s: no reason on the screen\n%s", name, term.all())
		}
	}
	if got := s.panePid("job"); got != pid {
		t.Errorf("process %s, was %s", got, pid)
	}
}

func fingerprint(t *testing.T, key string) string {
	t.Helper()
	out, err := exec.Command("ssh-keygen", "-l", "-f", key).Output()
	must(t, err)
	return strings.Fields(string(out))[1]
}

// TestRow08PostgreSQLAway takes PostgreSQL away in the two ways in which it goes: it ends, and it hangs.
func TestRow08PostgreSQLAway(t *testing.T) {
	t.Parallel()
	for name, outage := range map[string]func(*testing.T, *storetest.Cluster) (back func()){
		"ended": func(t *testing.T, c *storetest.Cluster) func() {
			t.Helper()
			must(t, c.Kill())
			return func() { must(t, c.Ensure(context.Background())) }
		},
		"hung": func(t *testing.T, c *storetest.Cluster) func() {
			t.Helper()
			must(t, c.Suspend())
			return func() { must(t, c.Resume()) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := storetest.NewCluster(t)
			s := prepare(t, "--database-url", cluster.URL())
			s.up()
			s.counter("job")
			s.ok("new", "--title", "brief", "--", "sh", "-c", "read x; exit 3")
			brief := s.idOf("brief")
			open := s.open(80, 24, "attach", "job")
			open.sees("row 500")
			back := outage(t, cluster)

			open.line("meanwhile")
			open.sees("row 501 meanwhile")
			again := s.open(80, 24, "attach", "job")
			again.sees("row 501 meanwhile")
			again.line("too")
			open.sees("row 502 too")
			begin := time.Now()
			if got := s.ssh("ls"); got.code != 75 || got.out != "" {
				t.Errorf("ls: exit %d, %q, %q", got.code, got.out, got.err)
			}
			if took := time.Since(begin); took > 15*time.Second { // 5 s on a calm machine
				t.Errorf("ls took %v", took)
			}
			list := s.open(100, 24)
			list.sees("job")
			list.sees("database")
			_, err := s.tmux("send-keys", "-t", "=hp-"+brief+":", "Enter")
			must(t, err)
			again.keys("C-]")
			if code := again.left(); code != 0 {
				t.Errorf("detach: exit status %d", code)
			}

			back()
			eventually(t, "ls answers", func() bool { return s.ssh("ls").code == 0 }, s.log.String)
			if got := s.becomes("brief", "FAILED"); got.ExitCode == nil || *got.ExitCode != 3 {
				t.Errorf("exit code %v, want 3", got.ExitCode)
			}
			s.eventually("who is attached is known again", func() bool { got := s.show("job"); return got.State == "RUNNING" && got.Attached == 1 })
			list.seesNot("database")
			open.keys("C-]")
			s.becomes("job", "DETACHED")
		})
	}
}

// TestRow09ClientTakesNothing stops a client whose session prints without end: it is cut, for taking nothing or for not
// answering, whichever is seen first, and another client of the same session goes on meanwhile.
func TestRow09ClientTakesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "flood", "--", "sh", "-c", "while :; do date +%s; done")
	stuck := s.open(80, 24, "attach", "flood")
	s.becomes("flood", "RUNNING")
	eventually(t, "the flood is seen", func() bool { return strings.Count(stuck.screen(), "\n") > 10 }, stuck.screen)
	must(t, syscall.Kill(stuck.ssh(), syscall.SIGSTOP))
	other := s.open(80, 24, "attach", "flood")
	s.eventually("both are attached", func() bool { return s.show("flood").Attached == 2 })
	within(t, 90*time.Second, "the stuck client is cut", func() bool {
		now := time.Now().Unix()
		shown := strings.Fields(other.screen())
		if len(shown) > 0 && now-newest(shown) > 10 { // 1 s on a calm machine
			t.Errorf("the other client shows what is %d s old", now-newest(shown))
		}
		return s.show("flood").Attached == 1
	}, s.log.String)
	if log := s.log.String(); !strings.Contains(log, "reason=cut") && !strings.Contains(log, "client does not answer") {
		t.Errorf("the log does not tell why")
	}
	other.keys("C-c") // interrupts within seconds
	other.sees("ended (")
}

// newest is the largest number among words.
func newest(words []string) int64 {
	var most int64
	for _, w := range words {
		var n int64
		for _, r := range w {
			if r < '0' || r > '9' {
				n = 0
				break
			}
			n = 10*n + int64(r-'0')
		}
		most = max(most, n)
	}
	return most
}
