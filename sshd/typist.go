package sshd

import (
	"io"
	"sync"
	"unicode/utf8"
)

// maxTyped is how much a person may type ahead of a command that does not read.
const maxTyped = 4096

// typist is the least that a line discipline does for a command that runs with a terminal: keys are echoed, Enter is
// LF, Ctrl-D at the start of a line ends the input, Ctrl-C interrupts.
type typist struct {
	screen    io.Writer
	interrupt func()

	mu      sync.Mutex
	changed sync.Cond
	line    []byte // typed, not yet read
	raw     []byte // what was typed, as long as nothing has been read
	read    bool
	echo    []byte // typed, not yet shown; at most about maxTyped
	over    bool
}

func newTypist(screen io.Writer, interrupt func()) *typist {
	t := &typist{screen: screen, interrupt: interrupt}
	t.changed.L = &t.mu
	return t
}

// take is the sink of the input.
func (t *typist) take(p []byte) (int, bool) {
	const ctrlC, ctrlD, erase, rubout = 0x03, 0x04, '\b', 0x7f
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.changed.Broadcast()
	if !t.read && len(t.raw)+len(p) <= maxTyped {
		t.raw = append(t.raw, p...)
	}
	for _, c := range p {
		switch {
		case c == ctrlC:
			t.interrupt()
		case c == ctrlD:
			t.over = t.over || len(t.line) == 0 || t.line[len(t.line)-1] == '\n'
		case c == erase || c == rubout:
			if n := len(t.line); n > 0 && t.line[n-1] >= ' ' {
				_, size := utf8.DecodeLastRune(t.line)
				t.line = t.line[:n-size]
				t.shown('\b', ' ', '\b')
			}
		case len(t.line) >= maxTyped:
		case c == '\r' || c == '\n':
			t.line = append(t.line, '\n')
			t.shown('\n')
		case c >= ' ':
			t.line = append(t.line, c)
			t.shown(c)
		}
	}
	return len(p), !t.over
}

// shown puts text in the echo. What a terminal does not take does not wait without end.
func (t *typist) shown(text ...byte) {
	if len(t.echo) < maxTyped {
		t.echo = append(t.echo, text...)
	}
}

// show echoes what is typed until the end.
func (t *typist) show() {
	for {
		t.mu.Lock()
		for len(t.echo) == 0 && !t.over {
			t.changed.Wait()
		}
		p, over := t.echo, t.over
		t.echo = nil
		t.mu.Unlock()
		if _, err := t.screen.Write(p); err != nil || over {
			return
		}
	}
}

// Read gives whole lines as they are typed.
func (t *typist) Read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		whole := len(t.line)
		if !t.over {
			for whole > 0 && t.line[whole-1] != '\n' {
				whole--
			}
		}
		switch {
		case whole > 0:
			t.read, t.raw = true, nil
			n := copy(p, t.line[:whole])
			t.line = t.line[n:]
			return n, nil
		case t.over:
			return 0, io.EOF
		}
		t.changed.Wait()
	}
}

// end ends the input.
func (t *typist) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.changed.Broadcast()
}

// ahead is what was typed to a command that reads nothing: it is for what comes after.
func (t *typist) ahead() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.raw
}
