package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// TestRow09ClientTakesNothing has two clients take no more output from a session that prints without end: one whose
// system stopped it, and one that never opens its window again. Both are cut, and nobody else notices.
func TestRow09ClientTakesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	// Some hundred kilobytes a second on a large terminal: enough to fill every buffer within seconds.
	s.ok("new", "--title", "flood", "--", "sh", "-c",
		`l=$(printf %0190d 7); l="$l $l $l $l $l"; while :; do printf "%s\n" $l $l $l $l; sleep 0.01; done`)
	id := s.idOf("flood")
	other := s.stream("attach", "flood")
	other.shows("0007")
	stopped := s.guest("stopped").stream("attach", "flood")
	stopped.shows("0007")
	status := s.guest("raw").takesNothing("flood")
	s.eventually("all are attached", func() bool { return s.show("flood").Attached == 3 })
	other.gaps()
	before, from := s.rss(), time.Now()
	within(t, waitLimit, "the yardstick is taken", func() bool { return time.Since(from) > 5*time.Second }, other.screen)
	yardstick := other.gaps()

	must(t, stopped.cmd.Process.Signal(syscall.SIGSTOP))
	begin := time.Now()
	most, cut := before, map[string]time.Duration{}
	within(t, 80*time.Second, "both are cut", func() bool {
		most = max(most, s.rss())
		for _, who := range []string{"stopped", "raw"} {
			if cut[who] == 0 && s.cut(who, id) {
				cut[who] = time.Since(begin)
			}
		}
		if cut["stopped"] != 0 {
			_ = stopped.cmd.Process.Signal(syscall.SIGCONT) // its owner is back in time to read why
		}
		return len(cut) == 2
	}, s.log.String)
	gap := other.gaps()
	t.Logf("cut after %v; the other's longest gap %v, %v before; memory of serve %d kB, then %d kB at most",
		cut, gap, yardstick, before, most)
	if gap > yardstick+busy*time.Second {
		t.Errorf("another client had to wait for %v", gap)
	}
	if limit := before + 16<<10; most > limit && !raceEnabled { // buffers for a race detector are not ours
		t.Errorf("serve grew from %d kB to %d kB", before, most)
	}
	stopped.leaves(75)
	if !strings.Contains(string(stopped.tail), "took no output") {
		t.Errorf("no reason on the screen\n%s", stopped.screen())
	}
	select {
	case got := <-status:
		if got != 75 {
			t.Errorf("exit status %d, want 75", got)
		}
	case <-time.After(waitLimit):
		t.Error("no exit status")
	}
	other.interrupted()
}

// cut reports whether the log says that a client was cut off a session.
func (s *stack) cut(actor, session string) bool {
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, "actor="+actor+" ") && strings.Contains(line, "session="+session) &&
			strings.Contains(line, "reason=cut") {
			return true
		}
	}
	return false
}

// rss is the memory of serve, in kB.
func (s *stack) rss() int {
	s.t.Helper()
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(s.serve.Process.Pid)).Output()
	must(s.t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	must(s.t, err)
	return n
}

// takesNothing attaches a client that answers all questions and never reads what it is shown: RFC 4254, section 5.2, has
// it open its window by that. It gives the exit status.
func (g *guest) takesNothing(ref string) <-chan uint32 {
	t := g.s.t
	t.Helper()
	raw, err := os.ReadFile(g.file)
	must(t, err)
	signer, err := ssh.ParsePrivateKey(raw)
	must(t, err)
	conn, err := ssh.Dial("tcp", g.s.addr, &ssh.ClientConfig{
		User: "raw", Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)},
		HostKeyCallback: ssh.InsecureIgnoreHostKey(),
	})
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	ch, requests, err := conn.OpenChannel("session", nil)
	must(t, err)
	status := make(chan uint32, 1)
	go func() {
		for r := range requests {
			var s struct{ Status uint32 }
			if r.Type == "exit-status" && ssh.Unmarshal(r.Payload, &s) == nil {
				status <- s.Status
			}
			if r.WantReply {
				_ = r.Reply(false, nil)
			}
		}
	}()
	pty := struct {
		Term                      string
		Cols, Rows, Width, Height uint32
		Modes                     string
	}{"xterm-256color", 200, 50, 0, 0, ""}
	for name, payload := range map[string][]byte{"pty-req": ssh.Marshal(&pty)} {
		if ok, err := ch.SendRequest(name, true, payload); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if ok, err := ch.SendRequest("exec", true, ssh.Marshal(&struct{ Words string }{"attach " + ref})); !ok || err != nil {
		t.Fatal(ok, err)
	}
	return status
}

// interrupted presses Ctrl-C in the flood of a session, and holds that its end is told within two seconds.
func (x *stream) interrupted() {
	x.t.Helper()
	x.types("\x03")
	took := x.shows("ended (")
	x.t.Logf("interrupted after %v", took)
	if took > busy*2*time.Second {
		x.t.Errorf("interrupted after %v", took)
	}
}

// TestRow09Floods has a program print as fast as it can to a client that takes all, while the keys of the connection are
// exchanged again and again: nothing stops, and Ctrl-C is heard. tmux passes on a screen ten times a second then, so the
// exchanges are made frequent rather than the volume large; what sshd does with a large one, its own tests hold.
func TestRow09Floods(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "flood", "--", "sh", "-c", "echo ready; read x; exec yes "+strings.Repeat("flood-", 30))
	before := s.rss()
	x := s.stream("-v", "-o", "RekeyLimit=16K", "attach", "flood")
	x.shows("ready")
	other := s.stream("attach", "flood")
	other.shows("ready")
	x.types("\r")
	const exchanges = 20
	keys := func() int { return strings.Count(x.errs.String(), "SSH2_MSG_NEWKEYS sent") }
	begin, most := time.Now(), before
	within(t, 90*time.Second, fmt.Sprint(exchanges, " exchanges of keys"), func() bool {
		most = max(most, s.rss())
		return keys() > exchanges
	}, func() string { return fmt.Sprintf("%d bytes, %d exchanges\n", x.bytes.Load(), keys()) + x.screen() })
	took := time.Since(begin)
	t.Logf("%d bytes in %v, %d exchanges of keys; memory of serve %d kB, then %d kB at most",
		x.bytes.Load(), took, keys(), before, most)
	if limit := before + 16<<10; most > limit && !raceEnabled {
		t.Errorf("serve grew from %d kB to %d kB", before, most)
	}
	x.interrupted()
	other.shows("ended (")
}
