package main

import (
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
)

// userTerminal is the terminal that connect was started on, with its modes as they were then.
type userTerminal struct {
	in, out *os.File
	modes   unix.Termios
}

// openTerminal takes the terminal behind the two streams, or refuses with UsageError where there is none.
func openTerminal(in io.Reader, out io.Writer) (*userTerminal, error) {
	i, iok := in.(*os.File)
	o, ook := out.(*os.File)
	if iok && ook {
		modes, ierr := unix.IoctlGetTermios(int(i.Fd()), getModes)
		_, oerr := unix.IoctlGetTermios(int(o.Fd()), getModes)
		if ierr == nil && oerr == nil {
			return &userTerminal{in: i, out: o, modes: *modes}, nil
		}
	}
	return nil, hitchpost.Errorf(hitchpost.UsageError, "connect needs a terminal").Hinted("in scripts use ssh HOST COMMAND")
}

// restore brings back the modes as they were: an ssh that was killed leaves its own.
func (t *userTerminal) restore() {
	_ = unix.IoctlSetTermios(int(t.in.Fd()), setModes, &t.modes)
}

// quiet shows nothing that is typed, while Ctrl-C and Ctrl-Z keep their meaning.
func (t *userTerminal) quiet() {
	modes := t.modes
	modes.Lflag &^= unix.ECHO | unix.ECHONL
	modes.Lflag |= unix.ISIG | unix.ICANON
	_ = unix.IoctlSetTermios(int(t.in.Fd()), setModes, &modes)
}

// raw tells whether a program has set the terminal to hand on each key, which it was not when connect was started.
func (t *userTerminal) raw() bool {
	now, err := unix.IoctlGetTermios(int(t.in.Fd()), getModes)
	return err == nil && t.modes.Lflag&unix.ICANON != 0 && now.Lflag&unix.ICANON == 0
}

// say writes text as it is.
func (t *userTerminal) say(text string) { _, _ = io.WriteString(t.out, text) }

// line writes text over the line that the cursor is on, as much of it as fits.
func (t *userTerminal) line(text string) {
	width := 80
	if size, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ); err == nil && size.Col > 0 {
		width = int(size.Col)
	}
	// One short of the width: in the last column some terminals go on to the next line.
	runes := []rune(plainText(text))
	t.say("\r" + string(runes[:min(len(runes), max(width-1, 0))]) + "\x1b[K")
}

// plainText is s without anything that could move a cursor or be wider than a column.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' && r != '…' {
			return '?'
		}
		return r
	}, s)
}
