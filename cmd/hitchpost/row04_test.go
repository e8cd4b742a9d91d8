package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/store/storetest"
)

// guest is somebody with a key of their own.
type guest struct {
	s    *stack
	file string
}

// guest lets a new key in. More words go to the verb that adds it.
func (s *stack) guest(actor string, words ...string) *guest {
	s.t.Helper()
	g := &guest{s, s.path("key-" + actor + fmt.Sprint(time.Now().UnixNano()))}
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", g.file).CombinedOutput()
	if err != nil {
		s.t.Fatalf("ssh-keygen: %v %s", err, out)
	}
	public, err := os.ReadFile(g.file + ".pub")
	must(s.t, err)
	words = append([]string{"key", "add", "--actor", actor}, words...)
	if got := s.sshIn(string(public), append(words, "-")...); got.code != 0 {
		s.t.Fatalf("key add: %+v", got)
	}
	return g
}

// stream is a client with the guest's key and no other.
func (g *guest) stream(args ...string) *stream {
	g.s.t.Helper()
	return g.s.streamAs(g.file, args...)
}

func fingerprint(t *testing.T, key string) string {
	t.Helper()
	out, err := exec.Command("ssh-keygen", "-l", "-f", key).Output()
	must(t, err)
	return strings.Fields(string(out))[1]
}

// shownOut waits until every client has ended with 77 and the reason, and returns how long the slowest took.
func shownOut(t *testing.T, reason string, begin time.Time, clients ...*stream) time.Duration {
	t.Helper()
	for _, c := range clients {
		c.leaves(77)
		if !strings.Contains(string(c.tail), reason) {
			t.Errorf("no reason %q on the screen\n%s", reason, c.screen())
		}
	}
	took := time.Since(begin)
	t.Logf("%s: closed after %v", reason, took)
	return took
}

// TestRow04KeyRevoked takes people the right to be here, in each way there is: a key, all keys of an actor, by the time.
func TestRow04KeyRevoked(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	pid := s.panePid("job")
	stays := s.stream("attach", "job")
	stays.shows("row 500")
	longest := stays.pulse()

	phone := s.guest("phone")
	attached, list := phone.stream("attach", "job"), phone.stream()
	attached.shows("row 500")
	list.shows("job")
	begin := time.Now()
	s.ok("key", "revoke", fingerprint(t, phone.file))
	inTime(t, shownOut(t, "this key was revoked", begin, attached, list))
	refused := phone.stream("attach", "job")
	refused.leaves(77)

	first, second := s.guest("ann"), s.guest("ann", "--role", "viewer")
	attached, list = first.stream("attach", "job"), second.stream("attach", "job")
	attached.shows("row 500")
	list.shows("row 500")
	begin = time.Now()
	s.ok("key", "revoke", "--actor", "ann")
	inTime(t, shownOut(t, "this key was revoked", begin, attached, list))

	brief := s.guest("brief", "--expires", "5s")
	attached, list = brief.stream("attach", "job"), brief.stream()
	attached.shows("row 500")
	list.shows("job")
	took := shownOut(t, "this key has expired", s.expiry("brief"), attached, list)
	if inTime(t, took); took < 0 {
		t.Errorf("shown out %v before it expired", -took)
	}

	if echo := longest(); echo > busy*promisedEcho {
		t.Errorf("somebody else's echo took %v", echo)
	}
	stays.types("\x1d")
	stays.leaves(0)
	if got := s.panePid("job"); got != pid {
		t.Errorf("process %s, was %s", got, pid)
	}
}

// expiry is when the key of an actor expires.
func (s *stack) expiry(actor string) time.Time {
	s.t.Helper()
	var doc struct {
		Keys []struct {
			Actor   string
			Expires time.Time `json:"expires_at"`
		}
	}
	must(s.t, json.Unmarshal([]byte(s.ok("key", "ls", "--json")), &doc))
	for _, k := range doc.Keys {
		if k.Actor == actor {
			return k.Expires
		}
	}
	s.t.Fatalf("no key of %s", actor)
	return time.Time{}
}

// inTime holds that somebody was shown out within a second.
func inTime(t *testing.T, took time.Duration) {
	t.Helper()
	if took > busy*time.Second {
		t.Errorf("shown out after %v", took)
	}
}

// TestRow04NoticeMissed revokes a key without a word to anybody, while the database is about to go away as well: a look
// at the keys that fails cuts nobody and is made again, and the one that succeeds shows out who must go.
func TestRow04NoticeMissed(t *testing.T) {
	t.Parallel()
	cluster := storetest.NewCluster(t)
	s := prepare(t, "--database-url", cluster.URL())
	s.up()
	s.counter("job")
	phone := s.guest("phone")
	attached := phone.stream("attach", "job")
	attached.shows("row 500")
	stays := s.stream("attach", "job")
	stays.shows("row 500")
	longest := stays.pulse()

	cluster.Exec(t, "update terminal_keys set revoked_at = now() where actor = 'phone'")
	must(t, cluster.Suspend())
	begin := time.Now()
	within(t, 45*time.Second, "a look at the keys fails", func() bool {
		return strings.Contains(s.log.String(), `msg="store not read again"`)
	}, s.log.String)
	t.Logf("the keys were looked at after %v", time.Since(begin))
	attached.types("still here\r")
	attached.shows("still here")
	must(t, cluster.Resume())
	begin = time.Now()
	if took := shownOut(t, "this key was revoked", begin, attached); took > 30*time.Second {
		t.Errorf("shown out %v after the database was back", took)
	}
	stays.types("me too\r")
	stays.shows("me too")
	if echo := longest(); echo > busy*promisedEcho {
		t.Errorf("somebody else's echo took %v", echo)
	}
}

// TestRow04NoNotice is the same without an outage: no later than half a minute.
func TestRow04NoNotice(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := prepare(t, "--database-url", url)
	s.up()
	s.counter("job")
	phone := s.guest("phone")
	attached, list := phone.stream("attach", "job"), phone.stream()
	attached.shows("row 500")
	list.shows("job")
	perform(t, pgConn(t, url), "update terminal_keys set revoked_at = now() where actor = 'phone'")
	if took := shownOut(t, "this key was revoked", time.Now(), attached, list); took > 35*time.Second {
		t.Errorf("shown out after %v", took)
	}
}
