package menu

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
)

// plainly sits down in front of a picker that draws nothing.
func plainly(t *testing.T, f *fake, change func(c *Config)) *seat {
	t.Helper()
	return sit(t, f, func(c *Config) {
		c.Environ = append(c.Environ, "HITCHPOST_PLAIN=1")
		if change != nil {
			change(c)
		}
	})
}

func TestPlainListIsText(t *testing.T) {
	t.Parallel()
	f := newFake(append(team(), hostile()...)...)
	s := plainly(t, f, func(c *Config) {
		c.Notice = "web is gone\x1b[2J"
		c.Terminal.Size = hitchpost.Size{Cols: 100, Rows: 50}
	})
	s.see("session:")
	s.hand.press("q<enter>")
	if got, err := s.left(); err != nil || got.Attach != "" {
		t.Errorf("choice %+v, %v", got, err)
	}
	sent := s.glass.sent()
	if i := strings.IndexFunc(sent, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 }); i >= 0 {
		t.Errorf("the text has a control: %q", sent[max(0, i-40):i+1])
	}
	for _, want := range []string{
		"web is gone\ufffd[2J\nhitchpost: ", " 1  checkout-flow  ", "WAITING_FOR_INPUT 47m   permission: Bash  shop-web@checkout-…",
		"RUNNING 2m              ~  devbox  deploy shell\n", "a number or a handle attaches",
	} {
		if !strings.Contains(sent, want) {
			t.Errorf("no %q in\n%s", want, sent)
		}
	}
	for line := range strings.Lines(sent) {
		if width(strings.TrimRight(line, "\n")) > 100 {
			t.Errorf("a line is too long: %q", line)
		}
	}
}

func TestPlainChoices(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"2<enter>": "0190a1b2-0003", "docs<enter>": "0190a1b2-0003", "doqq\x7f\bcs<enter>": "0190a1b2-0003",
		"<up><left>1<enter>": "0190a1b2-0002", "nothing<enter>1<enter>": "0190a1b2-0002", "0<enter>99<enter><enter>2<enter>": "0190a1b2-0003",
		"train<enter>docs<enter>": "0190a1b2-0003", "<ctrl-c>": "", "do\x04": "", "q<enter>": "",
		"\x1b[200~docs\x1b[201~<enter>": "0190a1b2-0003",
	} {
		s := plainly(t, newFake(team()...), nil)
		s.hand.press(keys + "behind it\r")
		got, err := s.left()
		if err != nil || got.Attach != want {
			t.Errorf("%q: choice %+v, %v\n%s", keys, got, err, s.glass.text())
		}
		if rest := s.hand.next(); rest != "behind it\r" {
			t.Errorf("%q: %q came back", keys, rest)
		}
	}
}

func TestPlainSaysWhatCannotBe(t *testing.T) {
	t.Parallel()
	f := newFake(team()...)
	s := plainly(t, f, nil)
	s.see("session:")
	s.hand.press("train<enter>")
	s.see("train has no process, it is RECOVERABLE: start one with `restart train`")
	s.hand.press("trai\x1b[2J\x1bn<enter>")
	s.see(`no session "trai"`)
	f.set(func(f *fake) { f.sessions = nil })
	s.hand.press("1<enter>")
	s.see(`no session "1"`)
	s.hand.hangUp()
	if _, err := s.left(); !errors.Is(err, io.EOF) {
		t.Errorf("a person who is gone gives %v", err)
	}
	s = plainly(t, f, nil)
	s.see("0 sessions")
	why := errors.New("the service stops")
	s.stop(why)
	if _, err := s.left(); !errors.Is(err, why) {
		t.Errorf("a cancelled picker gives %v", err)
	}
}

func TestPlainFaultIsAnError(t *testing.T) {
	t.Parallel()
	b := &book{}
	s := plainly(t, newFake(team()...), func(c *Config) { c.Log = b.log() })
	s.see("session:")
	s.hand.mu.Lock()
	s.hand.broken = true
	s.hand.some.Broadcast()
	s.hand.mu.Unlock()
	_, err := s.left()
	b.told(t, "a fault in the hand", err)
}
