package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The tests of this file run `hitchpost connect` on a real terminal, around the real OpenSSH client.

// connect opens a terminal with `hitchpost connect` in it, and shows its exit status at the end. Terminal modes that
// are not as before are told of.
func (s *stack) connect(cols, rows int, args ...string) *terminal {
	s.t.Helper()
	return s.openScript(cols, rows, nil, connectScript, append([]string{built, "connect"}, s.sshArgs(args...)...)...)
}

const connectScript = `trap : INT; was=$(stty -g); "$@"; code=$?; [ "$(stty -g)" = "$was" ] || echo "other modes"
	echo "left $code"; exec sleep 1000`

// counting is a stack with a client in a session that has counted to 500.
func counting(t *testing.T) (*stack, *terminal) {
	t.Helper()
	s := start(t)
	s.counter("job")
	term := s.connect(80, 24, "job")
	term.sees("row 500")
	return s, term
}

// leaves waits for the end of connect, with the status and with the terminal's modes as they were.
func (x *terminal) leaves(status int) {
	x.t.Helper()
	if code := x.left(); code != status {
		x.t.Errorf("exit status %d, want %d\n%s", code, status, x.screen())
	}
	if strings.Contains(x.screen(), "other modes") {
		x.t.Errorf("the terminal has other modes than before:\n%s", x.screen())
	}
}

// modes are those of the terminal that a session's programs may switch on.
func (x *terminal) modes() string {
	return x.tmux("display-message", "-p", "mouse #{mouse_standard_flag} keys #{keypad_cursor_flag} cursor #{cursor_flag}")
}

func TestConnectServiceKilled(t *testing.T) {
	t.Parallel()
	s, term := counting(t)
	s.becomes("job", "RUNNING")
	s.down(syscall.SIGKILL)
	term.sees("reconnecting")
	for i := range 3 {
		term.line("typed while there is nobody")
		term.sees(fmt.Sprintf("reconnecting for %ds", i+1))
	}
	if text := term.screen(); strings.Count(text, "reconnecting") != 1 || strings.Contains(text, "typed") {
		t.Errorf("more than one line tells of the drop:\n%s", text)
	}
	s.up()
	s.becomes("job", "RUNNING")
	term.line("heard")
	term.sees("row 501 heard")
	if text := term.screen(); strings.Contains(text, "typed while") {
		t.Errorf("keys typed while disconnected arrived:\n%s", text)
	}
	term.keys("C-]")
	term.leaves(0)
}

// TestConnectKilledClient kills ssh in the middle of a session that has changed the terminal's modes.
func TestConnectKilledClient(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	s.ok("new", "--title", "mouse", "--", "sh", "-c", `printf '\033[?1000h\033[?1h\033[?25lready'; exec cat`)
	term := s.connect(80, 24, "mouse")
	term.sees("ready")
	fresh := "mouse 0 keys 0 cursor 1"
	eventually(t, "the program's modes are there", func() bool { return term.modes() == "mouse 1 keys 1 cursor 0" }, term.modes)
	must(t, syscall.Kill(term.ssh(), syscall.SIGKILL))
	eventually(t, "the modes are reset", func() bool { return term.modes() == fresh }, term.modes)
	term.sees("ready")
	term.keys("C-]")
	term.leaves(0)

	term = s.connect(80, 24, "job")
	term.sees("row 500")
	must(t, syscall.Kill(term.ssh(), syscall.SIGKILL))
	term.sees("reconnecting")
	term.seesNot("reconnecting")
	term.sees("row 500")
	wholeHistory(t, term.all(), 500)
	term.keys("C-]")
	term.leaves(0)
}

func TestConnectServiceStopped(t *testing.T) {
	t.Parallel()
	s, term := counting(t)
	for range 2 {
		s.down(syscall.SIGTERM)
		term.sees("stopping")
		term.sees("reconnecting")
		s.up()
		s.becomes("job", "RUNNING")
	}
	term.line("heard")
	term.sees("row 501 heard")
	term.keys("C-]")
	term.leaves(0)
}

func TestConnectKeyRevoked(t *testing.T) {
	t.Parallel()
	s, term := counting(t)
	s.down(syscall.SIGKILL)
	term.sees("reconnecting")
	out, err := exec.Command("ssh-keygen", "-l", "-f", s.path("home/.ssh/id_ed25519.pub")).Output()
	must(t, err)
	cmd := exec.Command(built, "key", "revoke", strings.Fields(string(out))[1], "--data-dir", s.path("data"),
		"--database-url", s.flags[len(s.flags)-1])
	cmd.Env = s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("key revoke: %v\n%s", err, out)
	}
	s.up()
	term.leaves(77)
	if text := term.screen(); strings.Contains(text, "reconnecting") || !strings.Contains(text, "\nhitchpost: this key was revoked") {
		t.Errorf("the reason has no line of its own:\n%s", text)
	}
}

func TestConnectEndsWithTheSession(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ok("new", "--title", "brief", "--", "sh", "-c", "echo ready; read x; exit 3")
	term := s.connect(80, 24, "brief")
	term.sees("ready")
	term.keys("Enter")
	term.sees("ended (exit 3)")
	term.keys("q")
	term.leaves(3)
	term = s.connect(80, 24, "nobody")
	term.leaves(3)
}

func TestConnectInterruptedWhileWaiting(t *testing.T) {
	t.Parallel()
	s, term := counting(t)
	s.down(syscall.SIGKILL)
	term.sees("reconnecting")
	term.keys("C-c")
	term.leaves(130)
}

// TestConnectTerminated ends connect from outside while a session is open: ssh goes with it.
func TestConnectTerminated(t *testing.T) {
	t.Parallel()
	s, term := counting(t)
	ssh := term.ssh()
	must(t, syscall.Kill(parent(t, ssh), syscall.SIGTERM))
	term.leaves(128 + int(syscall.SIGTERM))
	eventually(t, "ssh is gone", func() bool { return !alive(ssh) }, term.screen)
	s.becomes("job", "DETACHED")
}

// TestConnectStoppedJob stops ssh by its own escape: the shell must get its terminal back, and fg the session.
func TestConnectStoppedJob(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	term := s.openScript(200, 40, []string{"PS1=prompt $?> "}, `exec sh -i`)
	term.sees("prompt 0>")
	words := append([]string{built, "connect"}, s.sshArgs("job")...)
	term.line(strings.Join(words, " "))
	term.sees("row 500")
	term.keys("Enter")
	term.sees("row 501")
	term.text("~")
	term.keys("C-z")
	term.sees("prompt 148>") // 128 and SIGTSTP
	term.line("fg")
	s.becomes("job", "RUNNING")
	term.line("back")
	term.sees("row 502 back")
	term.keys("C-]")
	eventually(t, "the shell is back", func() bool { return strings.HasSuffix(term.screen(), "prompt 0>") }, term.screen)
}

// TestConnectFirstTry: until a session was seen, ssh's own complaint is for the person, and nothing is tried again.
func TestConnectFirstTry(t *testing.T) {
	t.Parallel()
	s := prepare(t)
	term := s.connect(80, 24, "job")
	term.leaves(255)
	if text := term.all(); !strings.Contains(text, "Connection refused") || strings.Contains(text, "reconnecting") {
		t.Errorf("screen:\n%s", text)
	}

	s = start(t)
	other := s.path("other")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	words := s.sshArgs()
	for i, w := range words {
		if w == s.path("home/.ssh/id_ed25519") {
			words[i] = other
		}
	}
	term = s.openScript(80, 24, nil, connectScript, append([]string{built, "connect"}, words...)...)
	term.leaves(255)
	if text := term.all(); !strings.Contains(text, "Permission denied") || strings.Contains(text, "reconnecting") {
		t.Errorf("screen:\n%s", text)
	}
}

func TestConnectRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"host"}, {}, {"-N", "host"}, {"-p"}, {"--frobnicate", "host"}, {"host", "ref", "more"}} {
		cmd := exec.Command(built, append([]string{"connect"}, args...)...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != 2 || out.Len() > 0 || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%v: exit %d, %q %q", args, code, out.String(), errs.String())
		}
	}
}

// TestConnectKeepsTheConfiguration: what the person has ssh send goes on being sent, and options given win.
func TestConnectKeepsTheConfiguration(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	config := s.path("config")
	must(t, os.WriteFile(config, []byte("SetEnv HITCHPOST_CLEAR=always\nSendEnv LANG\nRemoteCommand ls\n"), 0o600))
	words := s.sshArgs("job")
	for i, w := range words {
		if w == "none" && words[i-1] == "-F" {
			words[i] = config
		}
	}
	term := s.openScript(80, 24, nil, "echo mine; "+connectScript, append([]string{built, "connect"}, words...)...)
	term.sees("row 500")
	if strings.Contains(term.all(), "mine") {
		t.Errorf("SetEnv of the configuration was not sent:\n%s", term.all())
	}
	term.keys("C-]")
	term.leaves(0)
}

// TestConnectPickerChosen: a session that was chosen in the picker is found again by who this client is, with no key
// pressed, although another client with the same key has been elsewhere since.
func TestConnectPickerChosen(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.counter("job")
	s.ok("new", "--title", "other", "--", "sh", "-c", "echo elsewhere; exec cat")
	term := s.connect(80, 24)
	term.sees("other")
	term.text("/job")
	term.keys("Enter", "Enter")
	term.sees("row 500")
	s.becomes("job", "RUNNING")
	desk := s.open(80, 24, "attach", "other")
	desk.sees("elsewhere")
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		s.down(sig)
		term.sees("reconnecting")
		term.line("typed while there is nobody")
		s.up()
		s.becomes("job", "RUNNING")
		term.sees("row 500")
		// A server that was started anew has no memory of this terminal; the client says that it comes back.
		wholeHistory(t, term.all(), 500)
	}
	term.line("heard")
	term.sees("row 501 heard")
	term.keys("C-]")
	term.leaves(0)
}

// parent is the parent of a process.
func parent(t *testing.T, pid int) int {
	t.Helper()
	out, err := exec.Command("ps", "-o", "ppid=", "-p", strconv.Itoa(pid)).Output()
	must(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	must(t, err)
	return n
}
