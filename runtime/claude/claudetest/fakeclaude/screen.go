package main

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// screen is the terminal: lines that went by, and the line that is typed below them.
type screen struct {
	mu        sync.Mutex
	typed     string
	alternate bool
	before    *term.State
}

// raw takes the terminal over.
func (s *screen) raw() error {
	before, err := term.MakeRaw(0)
	if err != nil {
		return err
	}
	s.before = before
	modes := "\x1b[?2004h\x1b[?1004h"
	if s.alternate {
		modes = "\x1b[?1049h\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h" + modes
	}
	fmt.Print(modes)
	return nil
}

// restore gives the terminal back as it was.
func (s *screen) restore() {
	modes := "\r\x1b[K\x1b[?1004l\x1b[?2004l"
	if s.alternate {
		modes += "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?1049l"
	}
	fmt.Print(modes)
	_ = term.Restore(0, s.before)
}

// print adds lines above the one that is typed.
func (s *screen) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Print("\r\x1b[K" + strings.ReplaceAll(text, "\n", "\r\n") + "\r\n")
	s.draw()
}

// edit changes the typed line.
func (s *screen) edit(change func(string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.typed = change(s.typed)
	s.draw()
}

// enter takes the typed line.
func (s *screen) enter() (typed string) {
	s.edit(func(was string) string { typed = was; return "" })
	return typed
}

func (s *screen) draw() { fmt.Print("\r\x1b[K❯ " + strings.ReplaceAll(s.typed, "\n", "⏎")) }

// key is one thing that was typed: text, or one of the names below.
type key struct{ name, text string }

// Names of keys.
const (
	keyEnter     = "enter"
	keyEsc       = "esc"
	keyBackspace = "backspace"
	keyLeft      = "left"
	keyKill      = "ctrl-u"
	keyInterrupt = "ctrl-c"
	keyEnd       = "ctrl-d"
	keySuspend   = "ctrl-z"
)

// burst is the length from which what arrives at once is taken for pasted: an Enter in it is a newline.
const burst = 80

// readKeys sends what is typed, and closes keys when the terminal is gone.
func readKeys(keys chan<- key) {
	defer close(keys)
	buffer := make([]byte, 64<<10)
	pasting := false
	for {
		n, err := os.Stdin.Read(buffer)
		pasting = split(string(buffer[:n]), pasting, keys)
		if err != nil {
			return
		}
	}
}

// split cuts what arrived at once into keys. It returns whether a bracketed paste is still under way.
func split(arrived string, pasting bool, keys chan<- key) bool {
	const begin, end = "\x1b[200~", "\x1b[201~"
	burst := !strings.Contains(arrived, "\x1b") && len(arrived) > burst
	for arrived != "" {
		if pasting {
			text, rest, ended := strings.Cut(arrived, end)
			keys <- key{text: strings.ReplaceAll(text, "\r", "\n")}
			arrived, pasting = strings.TrimPrefix(rest, "\r"), !ended // an Enter that comes with a paste is lost
			continue
		}
		if rest, ok := strings.CutPrefix(arrived, begin); ok {
			arrived, pasting = rest, true
			continue
		}
		size, k := one(arrived)
		if burst && k.name == keyEnter {
			k = key{text: "\n"}
		}
		arrived = arrived[size:]
		if k != (key{}) {
			keys <- k
		}
	}
	return pasting
}

// one is the first key of what arrived, and its length in bytes; a key without a meaning here is empty.
func one(arrived string) (int, key) {
	named := map[byte]string{
		'\r': keyEnter, 0x7f: keyBackspace, 0x15: keyKill, 0x03: keyInterrupt, 0x04: keyEnd, 0x1a: keySuspend,
	}
	switch {
	case arrived[0] != 0x1b:
		if name := named[arrived[0]]; name != "" {
			return 1, key{name: name}
		}
		n := strings.IndexFunc(arrived, func(r rune) bool { return (r < ' ' && r != '\n') || r == 0x7f })
		if n < 0 {
			n = len(arrived)
		}
		if n == 0 {
			return 1, key{}
		}
		return n, key{text: arrived[:n]}
	case len(arrived) == 1:
		return 1, key{name: keyEsc}
	case arrived[1] == '\r':
		return 2, key{text: "\n"}
	case arrived[1] != '[':
		return 2, key{}
	}
	last := strings.IndexFunc(arrived[2:], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
	if last < 0 {
		return len(arrived), key{}
	}
	size := last + 3
	switch arrived[:size] {
	case "\x1b[D":
		return size, key{name: keyLeft}
	case "\x1b[13;2u", "\x1b[27;2;13~":
		return size, key{text: "\n"}
	}
	return size, key{}
}
