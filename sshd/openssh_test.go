package sshd_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"

	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/sshd"
)

func TestOpenSSHCommands(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	key := s.keyFile("alice")
	for _, test := range []struct {
		name, stdin string
		words       []string
		out, err    string
		status      int
	}{
		{"a verb", "", []string{"ls"}, "HANDLE\nweb\n", "", 0},
		{"a status", "", []string{"exit3"}, "", "three\n", 3},
		{"stdin ends", "a\nb\n", []string{"cat"}, "a\nb\n", "", 0},
		{"no command", "", nil, "HANDLE\nweb\n", "", 0},
		{"a script is not run", "exit3\n", nil, "HANDLE\nweb\n", "", 0},
		{"words", "", []string{`words "two words" 'a  b' c\;d '$(x)' "it's" ''`},
			`["two words" "a  b" "c;d" "$(x)" "it's" ""]` + "\n", "", 0},
		{"bad quoting", "", []string{`exit3 "open`}, "", "hitchpost: the command line has an open quote", 2},
		{"bad quoting as JSON", "", []string{`ls --json "open`}, "", `{"error":{"code":"usage","message":"the command line has an open`, 2},
		{"bad quoting behind dashes", "", []string{`new -- x --json "open`}, "", "hitchpost: the command line has an open quote", 2},
		{"bad quoting on a terminal", "", []string{"-tt", `ls "open`}, "", "ends in a backslash: quote it once for your own shell and " +
			"once for this one\r\n", 2},
		{"no such verb", "", []string{"frobnicate"}, "", "unknown verb", 2},
		{"a long argument", "", []string{"words " + strings.Repeat("x", 100_000)}, `["xxx`, "", 0},
		{"a terminal", "", []string{"-tt", "ls"}, "HANDLE\r\nweb\r\n", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			words := append([]string{"alice@127.0.0.1"}, test.words...)
			if len(test.words) > 0 && test.words[0] == "-tt" {
				words = append([]string{"-tt", "alice@127.0.0.1"}, test.words[1:]...)
			}
			cmd := s.openSSH(limited(t), "ssh", key, words...)
			cmd.Stdin = strings.NewReader(test.stdin)
			out, errs, status := run(t, cmd)
			exact := !strings.HasPrefix(test.out, `["xxx`)
			if status != test.status || exact && out != test.out || !strings.HasPrefix(out, test.out) ||
				!strings.Contains(errs, test.err) || test.err == "" && errs != "" {
				t.Errorf("status %d, stdout %.200q, stderr %q", status, out, errs)
			}
		})
	}
}

func TestOpenSSHIsNotKeptByAnOpenStdin(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	cmd := s.openSSH(limited(t), "ssh", s.keyFile("alice"), "alice@127.0.0.1", "ls")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if out, _, status := run(t, cmd); status != 0 || out != "HANDLE\nweb\n" {
		t.Errorf("status %d, stdout %q", status, out)
	}
}

// The tail of a long output must arrive though the reader is slower than the server.
func TestOpenSSHGetsTheTail(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *sshd.Config) { c.Limits.Farewell = 50 * time.Millisecond })
	cmd := s.openSSH(limited(t), "ssh", s.keyFile("alice"), "alice@127.0.0.1", "flood")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Nothing is read until the server is done with the command, except for what does not fit anywhere.
	buf := make([]byte, 1<<20)
	var got bytes.Buffer
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		n, err := out.Read(buf)
		got.Write(buf[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if got.Len() != floodChunks*32<<10+len("the tail") || !bytes.HasSuffix(got.Bytes(), []byte("the tail")) {
		t.Errorf("%d bytes came, the last %q", got.Len(), tail(got.String()[max(0, got.Len()-20):]))
	}
}

// The messages at the end of a channel by their numbers (RFC 4254 section 9): request 98, end of file 96, close 97.
// The client does not tell of data; that none is missing or late other tests show.
func TestTheOrderAtTheEndOfAChannel(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	key := s.keyFile("alice")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		v := <-s.service.made
		v.prints("output")
		v.exits(3)
	}()
	for _, test := range []struct {
		words  []string
		status int
	}{{[]string{"alice@127.0.0.1", "exit3"}, 3}, {[]string{"-tt", "alice@127.0.0.1", "web"}, 3}} {
		_, errs, status := run(t, s.openSSH(limited(t), "ssh", key, append([]string{"-vvv"}, test.words...)...))
		if status != test.status {
			t.Errorf("%v: status %d", test.words, status)
		}
		var order []string
		for _, m := range regexp.MustCompile(`receive packet: type (\d+)`).FindAllStringSubmatch(errs, -1) {
			if n := m[1]; n == "96" || n == "97" || n == "98" {
				order = append(order, n)
			}
		}
		if got := strings.Join(order, " "); got != "98 96 97" {
			t.Errorf("%v: the messages came as %s", test.words, got)
		}
	}
	<-ended
}

func TestOpenSSHAttachAndDetach(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	cmd := s.openSSH(limited(t), "ssh", s.keyFile("alice"), "-tt", "-o", "ServerAliveInterval=1",
		"-o", "ServerAliveCountMax=2", "-o", "EscapeChar=none", "-o", "SetEnv=COLORTERM=truecolor LC_X=1 FOO=2",
		"alice@127.0.0.1", "attach", "web")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out logBook
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	v := <-s.service.made
	v.prints("quiet now")
	until(t, "the output", func() bool { return strings.Contains(out.String(), "quiet now") })
	// The client asks twice whether the server is there, and would leave without an answer.
	select {
	case <-v.Done():
		t.Fatalf("the client left: %s", out.String())
	case <-time.After(3500 * time.Millisecond):
	}
	io.WriteString(in, "typed\x1d")
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, out.String())
	}
	if v.input() != "typed" || !strings.Contains(out.String(), "detached from web") {
		t.Errorf("typed %q, screen %q", v.input(), out.String())
	}
	if terminal := s.service.requests[0].Terminal; !terminal.TrueColor || terminal.Name != "xterm-256color" {
		t.Errorf("terminal %+v", terminal)
	}
}

func TestOpenSSHForwardingIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	key := s.keyFile("alice")
	_, port, _ := net.SplitHostPort(s.addr)
	_, errs, status := run(t, s.openSSH(limited(t), "ssh", key, "-v", "-W", "127.0.0.1:"+port, "alice@127.0.0.1"))
	if status == 0 || !strings.Contains(errs, "administratively prohibited") {
		t.Errorf("-W: status %d, stderr %q", status, tail(errs))
	}
	_, errs, status = run(t, s.openSSH(limited(t), "ssh", key, "-N", "-o", "ExitOnForwardFailure=yes",
		"-R", "0:127.0.0.1:"+port, "alice@127.0.0.1"))
	if status != 255 || !strings.Contains(errs, "remote port forwarding failed") {
		t.Errorf("-R: status %d, stderr %q", status, errs)
	}
	out, errs, status := run(t, s.openSSH(limited(t), "ssh", key, "-A", "-X", "alice@127.0.0.1", "whoami"))
	if status != 0 || out != "alice alice\n" {
		t.Errorf("-A -X: status %d, stdout %q, stderr %q", status, out, errs)
	}
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for program, words := range map[string][]string{
		"sftp": {"alice@127.0.0.1"}, "scp": {file, "alice@127.0.0.1:"},
	} {
		_, errs, status := run(t, s.openSSH(limited(t), program, key, words...))
		if status == 0 || !strings.Contains(errs, "subsystem request failed") {
			t.Errorf("%s: status %d, stderr %q", program, status, errs)
		}
	}
}

func TestOpenSSHSharesAConnection(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	key := s.keyFile("alice")
	dir, err := os.MkdirTemp("", "hp") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "c")
	ctx, cancel := context.WithCancel(limited(t))
	master := s.openSSH(ctx, "ssh", key, "-M", "-N", "-S", socket, "alice@127.0.0.1")
	if err := master.Start(); err != nil {
		t.Fatal(err)
	}
	defer master.Wait()
	defer cancel()
	until(t, "the master to listen", func() bool { _, err := os.Stat(socket); return err == nil })
	attached := s.openSSH(limited(t), "ssh", key, "-S", socket, "-tt", "alice@127.0.0.1", "web")
	in, err := attached.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out logBook
	attached.Stdout = &out
	if err := attached.Start(); err != nil {
		t.Fatal(err)
	}
	v := <-s.service.made
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			var out bytes.Buffer
			cmd := s.openSSH(limited(t), "ssh", key, "-S", socket, "alice@127.0.0.1", "ls")
			cmd.Stdout = &out
			if err := cmd.Run(); err != nil || out.String() != "HANDLE\nweb\n" {
				t.Errorf("%v, stdout %q", err, out.String())
			}
		})
	}
	all.Wait()
	v.prints("alive")
	until(t, "the attached one to go on", func() bool { return strings.Contains(out.String(), "alive") })
	io.WriteString(in, "\x1d")
	if err := attached.Wait(); err != nil {
		t.Error(err)
	}
}

// VS Code and others pipe a script into a shell without a terminal.
func TestABootstrapScriptIsNotRun(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	cmd := s.openSSH(limited(t), "ssh", s.keyFile("alice"), "-T", "alice@127.0.0.1", "bash")
	cmd.Stdin = strings.NewReader("uname -rsv\nexit3\n")
	out, errs, status := run(t, cmd)
	if status != 2 || out != "" || !strings.Contains(errs, "unknown verb") {
		t.Errorf("status %d, stdout %q, stderr %q", status, out, errs)
	}
}

// The real client's host key and the server's own are one, and the client is shown only algorithms that are good.
func TestWhatTheServerOffers(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	_, errs, status := run(t, s.openSSH(limited(t), "ssh", s.keyFile("alice"), "-vvv", "alice@127.0.0.1", "ls"))
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	_, offer, ok := strings.Cut(errs, "peer server KEXINIT proposal")
	if !ok {
		t.Fatal(errs)
	}
	offer, _, _ = strings.Cut(offer, "kex: algorithm")
	for _, bad := range []string{"sha1", "ssh-rsa,", "-cbc", "3des", "arcfour", "-96", "group1-"} {
		if strings.Contains(offer, bad) {
			t.Errorf("the server offers %s: %s", bad, offer)
		}
	}
	if !strings.Contains(errs, "remote software version Hitchpost_1.2.3") {
		t.Error("the version line is another")
	}
	if !strings.Contains(errs, "KEX algorithms: mlkem768x25519-sha256,") {
		t.Error("the post-quantum key exchange is not the first")
	}
	if sigs, _, _ := strings.Cut(errs[strings.Index(errs, "server-sig-algs=")+1:], ">"); strings.Contains(sigs, "ssh-rsa,") {
		t.Errorf("SHA-1 signatures are offered: %s", sigs)
	}
}
