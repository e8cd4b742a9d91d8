package sshd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"TERM": true, "COLORTERM": true, "LANG": true, "LC_ALL": true, "LC_CTYPE": true, "NO_COLOR": true,
		"HITCHPOST_CLIENT": true, "": false, "PATH": false, "LD_PRELOAD": false, "BASH_ENV": false, "LC_": false,
		"HITCHPOST_": false, "LANGUAGE": false, "LC_a": false, "LC_A=B": false, "TMUX": false, "term": false,
	} {
		var e environment
		if got := e.set(name, "x"); got != want {
			t.Errorf("%q is taken: %v", name, got)
		}
	}
	var e environment
	for i := range 100 {
		e.set(fmt.Sprintf("LC_%d", i), strings.Repeat("x", 1000))
	}
	if len(e.list()) != 32 || e.bytes > maxEnvironment {
		t.Errorf("%d variables of %d bytes", len(e.list()), e.bytes)
	}
	if !e.set("LC_0", "short") || e.value("LC_0") != "short" || !e.set("LC_X", "y") {
		t.Error("room that was freed cannot be used")
	}
}

func TestTerminals(t *testing.T) {
	t.Parallel()
	for term, want := range map[string]bool{
		"xterm-256color": true, "xterm-ghostty": true, "tmux-256color": true, "foot": true, "xterm-direct": true,
		"vt100": false, "linux": false, "ansi": false, "xterm-color": false, "xterm-16color": false, "vt100-direct": true,
	} {
		var env environment
		if got := terminalOf(term, hitchpost.Size{}, &env); got.TrueColor != want || got.NoColor {
			t.Errorf("%s: %+v", term, got)
		}
		env.set("COLORTERM", "truecolor")
		env.set("NO_COLOR", "1")
		if got := terminalOf(term, hitchpost.Size{}, &env); !got.TrueColor || !got.NoColor {
			t.Errorf("%s with COLORTERM and NO_COLOR: %+v", term, got)
		}
	}
}

func TestCiphersFollowTheProcessor(t *testing.T) {
	t.Parallel()
	with, without := ciphers(true), ciphers(false)
	if with[0] != ssh.CipherAES128GCM || strings.Contains(strings.Join(with, " "), "chacha20") {
		t.Errorf("with AES: %v", with)
	}
	if without[0] != ssh.CipherChaCha20Poly1305 {
		t.Errorf("without AES: %v", without)
	}
	if k := cryptography(true).KeyExchanges; k[0] != ssh.KeyExchangeMLKEM768X25519 {
		t.Errorf("key exchanges: %v", k)
	}
}

func TestMessagesCannotMoveTheCursor(t *testing.T) {
	t.Parallel()
	code := 3
	end := hitchpost.AttachEnd{
		Reason: hitchpost.EndExited, Session: hitchpost.Session{Handle: "a\x1b[2Jb\u202ec\u009bd\r\ne"},
		Exit: &hitchpost.Exit{Code: &code},
	}
	for _, r := range []hitchpost.EndReason{hitchpost.EndDetached, hitchpost.EndExited, hitchpost.EndLost, hitchpost.EndCut} {
		end.Reason = r
		line := endLine(end)
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e }) {
			t.Errorf("%s: %q", r, line)
		}
	}
}

func TestParseKey(t *testing.T) {
	t.Parallel()
	const good = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBWLcSn4bg9Tg2oUXzZGFQyyZuz5HIMSbXm0vHm8tlYq"
	const weak = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAQQDB"
	k, err := ParseKey("  no-touch-required,no-port-forwarding " + good + " me@\x1b[31mhost  of \u202emine\r\n")
	if err != nil {
		t.Fatal(err)
	}
	if k.AuthorizedKey != good || k.Type != "ssh-ed25519" || !k.TouchOptional || k.Comment != "me@[31mhost of mine" ||
		!strings.HasPrefix(k.Fingerprint, "SHA256:") {
		t.Errorf("got %+v", k)
	}
	if k, err = ParseKey(good); err != nil || k.Comment != "" || k.TouchOptional {
		t.Errorf("got %+v, %v", k, err)
	}
	for line, says := range map[string]string{
		"": "not a public key", "# comment": "not a public key", "ssh-ed25519 AAAA": "not a public key", weak: "not a public key",
		good + "\n" + good: "one line", "-----BEGIN OPENSSH PRIVATE KEY-----": "private key",
		`command="x" ` + good: `option "command"`, "restrict " + good: `option "restrict"`,
		`from="10.0.0.0/8" ` + good: `option "from"`, "cert-authority " + good: "cert-authority",
		strings.Repeat("x", 20_000): "one line",
	} {
		_, err := ParseKey(line)
		if hitchpost.KindOf(err) != hitchpost.UsageError || !strings.Contains(err.Error(), says) {
			t.Errorf("%.40q: %v", line, err)
		}
	}
}

func TestStallWatch(t *testing.T) {
	t.Parallel()
	const limit = 60 * time.Millisecond
	stalled := make(chan struct{}, 1)
	var taken uint64
	moving := newStallWatch(limit, func() (uint64, bool, bool) { taken++; return taken, taken < 20, true }, stalled)
	moving.begin()
	begin := time.Now()
	<-stalled
	if took := time.Since(begin); took < 2*limit {
		t.Errorf("cut after %v though bytes were moving", took)
	}
	moving.stop()

	idle := newStallWatch(limit, func() (uint64, bool, bool) { return 0, false, false }, stalled)
	defer idle.stop()
	for range 30 { // longer than the limit in all, but each write ends
		idle.begin()
		timer := time.NewTimer(limit / 10)
		<-timer.C
		idle.end()
	}
	select {
	case <-stalled:
		t.Error("cut though every write ended")
	default:
	}
	idle.begin()
	<-stalled
}
