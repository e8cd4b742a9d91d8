package main

import "golang.org/x/sys/unix"

const getModes, setModes = unix.TIOCGETA, unix.TIOCSETA

// fread is FREAD of <sys/fcntl.h>: the input side.
const fread = 1

// flush drops what was typed and not yet read.
func (t *userTerminal) flush() { _ = unix.IoctlSetPointerInt(int(t.in.Fd()), unix.TIOCFLUSH, fread) }
