package tmux

import (
	"bytes"
	"strings"
	"testing"
)

// hexdump is a program that prints what it is typed, in hex, each read on a line.
const hexdump = `stty raw -echo; %s; printf 'ready\r\n'; while :; do dd bs=64 count=1 2>/dev/null | od -An -tx1 | tr '\n' '\r'; echo; done`

// Shift-Enter arrives distinct from Enter once a program asks for modified keys, and Enter stays one CR.
func TestExtendedKeys(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "keys", sizes[0], sh(hexdump, `printf '\033[>4;2m'`)...)
	sc := attach(t, s, Attach{Session: "keys", Terminal: terminal(sizes[0]), ReplayLines: -1})
	eventually(t, "ready", func() bool { return sc.shows("ready") })
	if !bytes.Contains(sc.bytes(), []byte("\x1b[>4;")) {
		t.Errorf("the terminal was never asked for modified keys: %q", sc.bytes())
	}
	for _, key := range []struct{ typed, want string }{
		{"\r", "0d"},
		{"\x1b[13;2u", "1b 5b 31 33 3b 32 75"},
		{"\x1b[27;2;13~", "1b 5b 31 33 3b 32 75"},
		{"\x1b\r", "1b 0d"},
		{"\n", "0a"},
	} {
		before := strings.Join(sc.text(), "\n")
		write(t, sc.view, key.typed)
		eventually(t, key.want, func() bool {
			fresh := strings.TrimPrefix(strings.Join(sc.text(), "\n"), strings.TrimRight(before, "\n"))
			return strings.TrimSpace(fresh) == key.want
		})
	}
}

// A turn of the wheel is never typed into a program that did not ask for the mouse, not as arrow keys either.
func TestWheelTypesNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for id, begin := range map[string]string{"shell": "true", "fullscreen": `printf '\033[?1049h'`} {
		start(t, s, id, sizes[0], sh(hexdump, begin)...)
		sc := attach(t, s, Attach{Session: id, Terminal: terminal(sizes[0]), ReplayLines: -1})
		eventually(t, "ready", func() bool { return sc.shows("ready") })
		write(t, sc.view, "\x1b[<64;10;10M\x1b[<65;10;10M")
		write(t, sc.view, "z")
		eventually(t, "the key after the wheel", func() bool { return sc.shows(" 7a") })
		if sc.shows("1b 5b 41") || sc.shows("1b 4f 41") || sc.shows("1b 5b 42") || sc.shows("1b 4f 42") {
			t.Errorf("%s: arrow keys were typed: %q", id, sc.text())
		}
	}
}

// Pictures leave no text behind.
func TestPicturesLeaveNoText(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "pictures", sizes[0],
		sh(`printf '\033_Ga=T,f=24,s=1,v=1;AAAA\033\\\033Pq#0;2;0;0;0#0~~\033\\'; printf '%%b' '\033Ptmux;\033\033_Gi=1;AAAA\033\033\\\033\\'; echo after; exec cat`)...)
	waitFor(t, s, "pictures", "after")
	sc := attach(t, s, Attach{Session: "pictures", Terminal: terminal(sizes[0]), ReplayLines: -1})
	eventually(t, "the text after them", func() bool { return sc.shows("after") })
	if got := strings.TrimSpace(strings.Join(sc.text(), "\n")); got != "after" {
		t.Errorf("the screen shows %q", got)
	}
}

// What one session copies, another cannot read.
func TestClipboardStaysInItsSession(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "copies", sizes[0], sh(`printf '\033]52;c;c2VjcmV0\a'; echo copied; exec cat`)...)
	waitFor(t, s, "copies", "copied")
	start(t, s, "reads", sizes[0], sh(hexdump, `printf '\033]52;c;?\a'`)...)
	waitFor(t, s, "reads", "ready")
	if err := typeInto(s, "reads", "z"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, s, "reads", "7a")
	text, err := s.Capture(t.Context(), "reads", Capture{History: true})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("63 32 56")) { // c2V in hex
		t.Errorf("it was read: %s", text)
	}
	if got := raw(t, s, "list-buffers"); got != "" {
		t.Errorf("buffers are kept: %s", got)
	}
}

func typeInto(s *Server, id, text string) error {
	v, err := s.Attach(s.life, Attach{Session: id, Terminal: terminal(sizes[0])})
	if err != nil {
		return err
	}
	defer v.Close()
	_, err = v.Write([]byte(text))
	return err
}

// The terminal of the first view of a client that waited for long gets the same modes as one that did not.
func TestModesReachTheTerminal(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "modes", sizes[0], sh(`printf '\033[?2004h\033[?1003h\033[?1006h'; echo ready; exec cat`)...)
	waitFor(t, s, "modes", "ready")
	for range 3 {
		sc := attach(t, s, Attach{Session: "modes", Terminal: terminal(sizes[0])})
		for _, mode := range []string{"\x1b[?1h", "\x1b[?1004h", "\x1b[>4;", "\x1b[?2004h", "\x1b[?1003h", "\x1b[?1006h"} {
			eventually(t, mode, func() bool { return bytes.Contains(sc.bytes(), []byte(mode)) })
		}
		for _, question := range []string{"\x1b[c", "\x1b[>c", "\x1b[>q"} {
			if bytes.Contains(sc.bytes(), []byte(question)) {
				t.Errorf("the terminal is asked %q", question)
			}
		}
	}
}

func TestTitle(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	evil := "#(touch " + newDir(t) + "/pwned) #{pid} %H\x1b]0;x\a"
	if _, err := s.Start(t.Context(), Start{Session: "titled", Command: sh("exec cat"), Title: evil}); err != nil {
		t.Fatal(err)
	}
	sc := attach(t, s, Attach{Session: "titled", Terminal: terminal(sizes[0])})
	want := "\x1b]0;" + strings.NewReplacer("\x1b", "", "\a", "").Replace(evil) + "\a"
	eventually(t, want, func() bool { return bytes.Contains(sc.bytes(), []byte(want)) })
	if err := s.SetTitle(t.Context(), "titled", "another"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new title", func() bool { return bytes.Contains(sc.bytes(), []byte("\x1b]0;another\a")) })
	if err := s.SetTitle(t.Context(), "nobody", "x"); err != ErrNoSession {
		t.Errorf("SetTitle of no session: %v", err)
	}
}
